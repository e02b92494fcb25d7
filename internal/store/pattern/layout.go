package pattern

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

func midnight(d cohort.Day) time.Time {
	y, m, day := d.Date()
	return time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
}

func parseDate(layout, text string) (cohort.Day, bool) {
	t, err := time.Parse(layout, text)
	if err != nil {
		return 0, false
	}
	return cohort.DayOfDate(t.Date()), true
}

// The days on which layouts are tried: two years, one of them with a leap day.
var (
	firstTried = cohort.DayOfDate(2024, time.January, 1)
	lastTried  = cohort.DayOfDate(2025, time.December, 31)
)

// checkLayout says what is wrong with a layout of days, or of months.
func checkLayout(layout string, months bool) error {
	day := time.Date(2024, time.March, 5, 0, 0, 0, 0, time.UTC)
	late := time.Date(2024, time.March, 5, 23, 58, 59, 987_654_321, time.FixedZone("late", 5*60*60+30*60))
	same := func(t time.Time) bool { return t.Format(layout) == day.Format(layout) }
	shown := fault.Show("{date:" + layout + "}")
	switch {
	case !same(late):
		return fmt.Errorf("the layout of %s has a time of day or a zone; give one of a date only, such as 2006-01-02", shown)
	case same(day.AddDate(1, 0, 0)):
		return fmt.Errorf("the layout of %s has no year; write it as 2006, as in 2006-01-02", shown)
	case same(day.AddDate(0, 1, 0)):
		return fmt.Errorf("the layout of %s has no month; write it as 01, as in 2006-01-02", shown)
	case months && !same(day.AddDate(0, 0, 1)):
		return fmt.Errorf("the layout of %s has a day, but a user's own bitmap holds a month; give one of a month, such as 200601", shown)
	case !months && same(day.AddDate(0, 0, 1)):
		return fmt.Errorf("the layout of %s has no day; write it as 02, as in 2006-01-02", shown)
	}
	for d := firstTried; d <= lastTried; d++ {
		written := midnight(d).Format(layout)
		want := d
		if y, m, _ := d.Date(); months {
			want = cohort.DayOfDate(y, m, 1)
		}
		if back, ok := parseDate(layout, written); !ok || back != want {
			return fmt.Errorf("the layout of %s writes %s as %s, which cannot be read back; separate the parts, as in 2006-1-2", shown, d, fault.Show(written))
		}
	}
	return nil
}

// class is what a character of a key may be: itself, or one of several.
type class rune

const (
	anyDigit class = -1 - iota
	anyLetter
	anyByte
)

func classOf(c byte) class {
	switch {
	case '0' <= c && c <= '9':
		return anyDigit
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return anyLetter
	}
	return class(c)
}

// meets reports whether a character can be of both classes.
func (a class) meets(b class) bool {
	if a < b {
		a, b = b, a
	}
	switch {
	case a == b, b == anyByte:
		return true
	case a >= 0:
		return classOf(byte(a)) == b
	}
	return false
}

// dateForms are the forms in which a layout writes dates, one class a
// character, each once.
func dateForms(layout string) [][]class {
	seen := map[string]bool{}
	var forms [][]class
	for d := firstTried; d <= lastTried; d++ {
		form := []class{}
		for _, c := range []byte(midnight(d).Format(layout)) {
			form = append(form, classOf(c))
		}
		if name := fmt.Sprint(form); !seen[name] {
			seen[name] = true
			forms = append(forms, form)
		}
	}
	return forms
}

// expressions are the forms of dates as regular expressions.
func expressions(layout string) []string {
	var all []string
	for _, form := range dateForms(layout) {
		var b strings.Builder
		var exact []byte // what may be a part of a character must not stand alone
		flush := func() {
			b.WriteString(regexp.QuoteMeta(string(exact)))
			exact = nil
		}
		for _, c := range form {
			switch c {
			case anyDigit:
				flush()
				b.WriteString("[0-9]")
			case anyLetter:
				flush()
				b.WriteString("[A-Za-z]")
			default:
				exact = append(exact, byte(c))
			}
		}
		flush()
		all = append(all, b.String())
	}
	return all
}

// atom is a character of a key, or any number of them.
type atom struct {
	class  class
	repeat bool
}

// Overlap reports whether some key may be of both patterns.
func Overlap(a, b Pattern) bool {
	for _, x := range a.atoms() {
		for _, y := range b.atoms() {
			if overlap(x, y) {
				return true
			}
		}
	}
	return false
}

// StartingWith returns the pattern of all keys that start with a text. It only
// serves Overlap.
func StartingWith(text string) Pattern {
	return Pattern{text: text + "*", pieces: []piece{{literal, text}, {user, ""}}}
}

// atoms are the forms of a pattern's keys.
func (p Pattern) atoms() [][]atom {
	all := [][]atom{nil}
	for _, x := range p.pieces {
		var next [][]atom
		for _, form := range x.atoms() {
			for _, start := range all {
				next = append(next, slices.Concat(start, form))
			}
		}
		all = next
	}
	return all
}

func (x piece) atoms() [][]atom {
	var one []atom
	switch x.kind {
	case segment:
		return [][]atom{{{anyDigit, false}, {anyDigit, true}}}
	case user:
		return [][]atom{{{anyByte, false}, {anyByte, true}}}
	case date:
		var all [][]atom
		for _, form := range dateForms(x.text) {
			var atoms []atom
			for _, c := range form {
				atoms = append(atoms, atom{c, false})
			}
			all = append(all, atoms)
		}
		return all
	}
	for _, c := range []byte(x.text) {
		one = append(one, atom{class(c), false})
	}
	return [][]atom{one}
}

// overlap reports whether some text is of both forms. It goes through the pairs
// of places in the two forms that a text can lead to.
func overlap(a, b []atom) bool {
	type places struct{ i, j int }
	seen := map[places]bool{}
	todo := []places{{}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		i, j := at.i, at.j
		if i == len(a) && j == len(b) {
			return true
		}
		if i < len(a) && a[i].repeat {
			todo = append(todo, places{i + 1, j})
		}
		if j < len(b) && b[j].repeat {
			todo = append(todo, places{i, j + 1})
		}
		if i < len(a) && j < len(b) && a[i].class.meets(b[j].class) {
			todo = append(todo, places{after(a, i), after(b, j)})
		}
	}
	return false
}

// after is the place after a character was read at i.
func after(form []atom, i int) int {
	if form[i].repeat {
		return i
	}
	return i + 1
}

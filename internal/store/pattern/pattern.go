// Package pattern reads the names of keys that other programs give their
// bitmaps: text with a date, a segment's number or a user's ID in it.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// Pattern is the form of the keys of one metric. The zero Pattern is none.
type Pattern struct {
	text   string
	pieces []piece
	form   *regexp.Regexp // of the keys, without those for each user
}

// piece is a part of a key: literal text or a placeholder.
type piece struct {
	kind kind
	text string // the literal, or the layout of a date
}

type kind uint8

const (
	literal kind = iota
	date
	segment
	user
)

// placeholders are the names that may stand in braces.
var placeholders = map[string]kind{"date": date, "segment": segment, "user": user}

// maxLength is the longest pattern, in bytes: names of keys are short.
const maxLength = 1000

// Parse reads a pattern such as dau:{date:2006-01-02}, in which {date:LAYOUT}
// takes a layout of Go's package time, {segment} and {user} stand for
// themselves, and {{ and }} are literal braces. The error says what is wrong
// and what would be accepted.
func Parse(text string) (Pattern, error) {
	p := Pattern{text: text}
	if !utf8.ValidString(text) || len(text) > maxLength {
		return Pattern{}, fmt.Errorf("%s is not a key; give UTF-8 of at most %d bytes", fault.Show(text), maxLength)
	}
	if err := p.split(text); err != nil {
		return Pattern{}, err
	}
	if err := p.check(); err != nil {
		return Pattern{}, err
	}
	if !p.HasUser() {
		p.form = regexp.MustCompile(p.expression())
	}
	return p, nil
}

// split cuts the text into pieces.
func (p *Pattern) split(text string) error {
	for text != "" {
		at := strings.IndexAny(text, "{}")
		switch {
		case at < 0:
			p.literal(text)
			return nil
		case strings.HasPrefix(text[at:], "{{"), strings.HasPrefix(text[at:], "}}"):
			p.literal(text[:at+1])
			text = text[at+2:]
		case text[at] == '}':
			return fmt.Errorf("%s has a } without a {; write }} for a brace of the key", fault.Show(p.text))
		default:
			p.literal(text[:at])
			end := strings.IndexByte(text[at:], '}')
			if end < 0 {
				return fmt.Errorf("%s has a { without a }; write {{ for a brace of the key", fault.Show(p.text))
			}
			if err := p.placeholder(text[at+1 : at+end]); err != nil {
				return err
			}
			text = text[at+end+1:]
		}
	}
	return nil
}

func (p *Pattern) literal(text string) {
	if last := len(p.pieces) - 1; last >= 0 && p.pieces[last].kind == literal {
		p.pieces[last].text += text
	} else if text != "" {
		p.pieces = append(p.pieces, piece{literal, text})
	}
}

func (p *Pattern) placeholder(inside string) error {
	name, layout, hasLayout := strings.Cut(inside, ":")
	k, known := placeholders[name]
	switch {
	case !known:
		return fmt.Errorf("unknown placeholder %s; give {date:LAYOUT}, {segment} or {user}, and {{ for a brace of the key", fault.Show("{"+inside+"}"))
	case p.has(k):
		return fmt.Errorf("{%s} stands twice in %s; give it once", name, fault.Show(p.text))
	case k == date && layout == "":
		return errors.New("{date} needs a layout, such as {date:2006-01-02}")
	case k != date && hasLayout:
		return fmt.Errorf("{%s} takes nothing after its name; got %s", name, fault.Show("{"+inside+"}"))
	}
	p.pieces = append(p.pieces, piece{k, layout})
	return nil
}

// check makes the checks that need the whole pattern.
func (p *Pattern) check() error {
	if len(p.pieces) == 0 {
		return errors.New("an empty key; give the name of a key, or a pattern such as dau:{date:2006-01-02}")
	}
	for i, x := range p.pieces {
		if x.kind == date {
			if err := checkLayout(x.text, p.HasUser()); err != nil {
				return err
			}
		}
		if x.kind == segment && p.HasUser() {
			return errors.New("{segment} and {user} in one pattern; a user's own bitmap has no segments")
		}
		if !p.parted(i) {
			return fmt.Errorf("two placeholders of %s have nothing between them that is not a digit, so that nobody can tell where one ends; put text between them", fault.Show(p.text))
		}
	}
	return nil
}

// parted reports whether the placeholder i, if it is one, can be told from the
// one before it.
func (p *Pattern) parted(i int) bool {
	if i == 0 || p.pieces[i].kind == literal {
		return true
	}
	before := p.pieces[i-1]
	if before.kind == literal && i > 1 {
		return strings.Trim(before.text, "0123456789") != ""
	}
	return before.kind == literal
}

func (p Pattern) has(k kind) bool {
	for _, x := range p.pieces {
		if x.kind == k {
			return true
		}
	}
	return false
}

// IsZero reports whether there is no pattern.
func (p Pattern) IsZero() bool { return p.text == "" }

// Equal reports whether two patterns are the same.
func (p Pattern) Equal(q Pattern) bool { return p.text == q.text }

// HasDate reports whether there is a key for each day, or month with HasUser.
func (p Pattern) HasDate() bool { return p.has(date) }

// HasSegment reports whether a bitmap is cut into several keys.
func (p Pattern) HasSegment() bool { return p.has(segment) }

// HasUser reports whether there is a key for each user.
func (p Pattern) HasUser() bool { return p.has(user) }

// String returns the text that Parse read.
func (p Pattern) String() string { return p.text }

// Key returns the key of a day and a segment, which matter only where the
// pattern has them.
func (p Pattern) Key(d cohort.Day, number int) string { return p.fill(d, number, "") }

// UserKey returns the key of a user in the month that holds a day.
func (p Pattern) UserKey(id string, d cohort.Day) string { return p.fill(d, 0, id) }

func (p Pattern) fill(d cohort.Day, number int, id string) string {
	var key []byte
	for _, x := range p.pieces {
		switch x.kind {
		case literal:
			key = append(key, x.text...)
		case date:
			key = midnight(d).AppendFormat(key, x.text)
		case segment:
			key = strconv.AppendInt(key, int64(number), 10)
		case user:
			key = append(key, id...)
		}
	}
	return string(key)
}

// Match reads the day and the segment of a key; ok is false for a key of
// another form, also one whose date does not exist. Keys of users have none.
func (p Pattern) Match(key string) (d cohort.Day, number int, ok bool) {
	if p.form == nil {
		return 0, 0, false
	}
	found := p.form.FindStringSubmatch(key)
	if found == nil {
		return 0, 0, false
	}
	for _, x := range p.pieces {
		switch x.kind {
		case date:
			if d, ok = parseDate(x.text, found[1]); !ok {
				return 0, 0, false
			}
			found = found[1:]
		case segment:
			number, _ = strconv.Atoi(found[1]) // what is too large is not written back
			found = found[1:]
		}
	}
	// A date may be written in several ways that a layout reads, such as 01 for 1.
	return d, number, p.Key(d, number) == key
}

// expression is a regular expression for the keys.
func (p Pattern) expression() string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, x := range p.pieces {
		switch x.kind {
		case literal:
			b.WriteString(regexp.QuoteMeta(x.text))
		case date:
			b.WriteString("(" + strings.Join(expressions(x.text), "|") + ")")
		default:
			b.WriteString(`(0|[1-9][0-9]*)`)
		}
	}
	b.WriteString(`\z`)
	return b.String()
}

// globSpecial is what SCAN's patterns give a meaning.
const globSpecial = `*?[]\^-`

// Glob returns the pattern for SCAN that matches all keys, and perhaps others.
func (p Pattern) Glob() string {
	var b strings.Builder
	for _, x := range p.pieces {
		if x.kind != literal {
			b.WriteByte('*')
			continue
		}
		for i := range len(x.text) {
			if strings.IndexByte(globSpecial, x.text[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(x.text[i])
		}
	}
	return b.String()
}

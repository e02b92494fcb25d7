// Package text turns message keys, numbers and dates into what a reader of a
// language sees. Every visible string of a page comes from the catalogues
// embedded here, one YAML file for each language.
package text

import (
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// Printer writes for one language. It is safe for use by many goroutines.
type Printer struct {
	tag      language.Tag
	messages messages
	numbers  *message.Printer
}

// Language is one of the languages that a reader can choose.
type Language struct {
	// Code is the BCP 47 tag, e.g. en.
	Code string
	// Name is what the language calls itself.
	Name string
}

// Languages returns the languages there are catalogues for, the default first.
func Languages() []Language {
	all := make([]Language, len(printers))
	for i, p := range printers {
		all[i] = Language{p.Code(), p.T("language.name")}
	}
	return all
}

// For returns the printer that suits a reader best. Each preference is a tag
// or a whole Accept-Language header; earlier ones win, empty ones and those
// that cannot be read are passed over.
func For(preferences ...string) *Printer {
	for _, preference := range preferences {
		tags, _, err := language.ParseAcceptLanguage(preference)
		if err != nil || len(tags) == 0 {
			continue
		}
		if _, i, confidence := matcher.Match(tags...); confidence != language.No {
			return printers[i]
		}
	}
	return printers[0]
}

// Code returns the language's BCP 47 tag, for <html lang>.
func (p *Printer) Code() string { return p.tag.String() }

// T returns the message of a key. Pairs are placeholder names and values:
// T("k", "day", "Monday") puts Monday where the message says {day}. A key
// that no catalogue holds is returned itself, so that the page still works.
func (p *Printer) T(key string, pairs ...string) string {
	return fill(p.messages.find(key, "other"), pairs)
}

// Count returns the message of a key in the plural form for n, with n itself,
// grouped, at {n}.
func (p *Printer) Count(key string, n int64, pairs ...string) string {
	size := n
	if size < 0 {
		size = -max(n, -math.MaxInt64)
	}
	form := plural.Cardinal.MatchPlural(p.tag, int(size), 0, 0, 0, 0)
	return fill(p.messages.find(key, formNames[form]), append([]string{"n", p.N(n)}, pairs...))
}

var formNames = map[plural.Form]string{
	plural.Other: "other", plural.Zero: "zero", plural.One: "one",
	plural.Two: "two", plural.Few: "few", plural.Many: "many",
}

// fill replaces {name} by its value for each pair.
func fill(format string, pairs []string) string {
	if len(pairs) == 0 {
		return format
	}
	braced := slices.Clone(pairs)
	for i := 0; i < len(braced); i += 2 {
		braced[i] = "{" + braced[i] + "}"
	}
	return strings.NewReplacer(braced...).Replace(format)
}

// N returns a whole number, grouped.
func (p *Printer) N(n int64) string { return p.numbers.Sprint(number.Decimal(n)) }

// Short returns a number with the decimals that it has, one at most.
func (p *Printer) Short(n float64) string {
	return p.numbers.Sprint(number.Decimal(n, number.MaxFractionDigits(1)))
}

// Percent returns a rate of 0 to 1 as per cent with one decimal.
func (p *Printer) Percent(rate float64) string {
	return p.numbers.Sprint(number.Percent(rate, number.Scale(1)))
}

// Decimal returns a number with two decimals.
func (p *Printer) Decimal(n float64) string {
	return p.numbers.Sprint(number.Decimal(n, number.Scale(2)))
}

// Bytes returns a size in bytes with a decimal unit, e.g. 1.5 GB.
func (p *Printer) Bytes(n int64) string {
	size, unit := float64(n), 0
	for size >= kilo && unit < len(byteUnits)-1 {
		size, unit = size/kilo, unit+1
	}
	scale := 1
	if unit == 0 || size >= 100 {
		scale = 0
	}
	return p.numbers.Sprint(number.Decimal(size, number.Scale(scale))) + "\u00a0" + byteUnits[unit]
}

const kilo = 1000

// byteUnits are written alike in all languages.
var byteUnits = []string{"B", "kB", "MB", "GB", "TB", "PB"}

// WholePercent returns a rate of 0 to 1 as whole per cent.
func (p *Printer) WholePercent(rate float64) string {
	return p.numbers.Sprint(number.Percent(rate, number.Scale(0)))
}

// Signed returns a relative change as per cent with one decimal and always a
// sign; the minus is a real one, as wide as the plus.
func (p *Printer) Signed(change float64) string {
	rounded := math.Round(change*1000) / 1000
	switch {
	case rounded > 0:
		return "+" + p.Percent(rounded)
	case rounded < 0:
		return "−" + p.Percent(-rounded)
	default:
		return "±" + p.Percent(0)
	}
}

// Points returns a difference of two rates in percentage points, signed.
func (p *Printer) Points(difference float64) string {
	rounded := math.Round(difference*1000) / 10
	size := p.numbers.Sprint(number.Decimal(math.Abs(rounded), number.Scale(1)))
	switch {
	case rounded > 0:
		return "+" + size
	case rounded < 0:
		return "−" + size
	default:
		return "±" + size
	}
}

const isoDate = "2006-01-02"

// Date returns a day given as YYYY-MM-DD with the year, e.g. 2 Mar 2026.
func (p *Printer) Date(day string) string { return p.date(day, "date.full") }

// LongDate returns a day given as YYYY-MM-DD with its weekday, e.g. Mon, 2 Mar 2026.
func (p *Printer) LongDate(day string) string { return p.date(day, "date.long") }

// WeekdayDate returns a day given as YYYY-MM-DD with its weekday and without
// the year, e.g. Mon, 2 Mar.
func (p *Printer) WeekdayDate(day string) string { return p.date(day, "date.weekday") }

// Month returns the month of a day given as YYYY-MM-DD, with the year.
func (p *Printer) Month(day string) string { return p.date(day, "date.month") }

// Range returns two days given as YYYY-MM-DD, both ends in, or one when they
// are the same, with the year once when it is one year.
func (p *Printer) Range(from, to string) string {
	switch {
	case from == to:
		return p.Date(from)
	case from[:len("2006")] == to[:len("2006")]:
		return p.T("date.range_in_year", "from", p.Date(from), "to", p.Date(to),
			"from_short", p.date(from, "date.short"), "to_short", p.date(to, "date.short"))
	default:
		return p.T("date.range", "from", p.Date(from), "to", p.Date(to))
	}
}

// MonthName returns the name of a month without a year.
func (p *Printer) MonthName(m time.Month) string { return p.list("date.months", int(m)-1) }

// ShortMonth returns the short name of a month without a year.
func (p *Printer) ShortMonth(m time.Month) string { return p.list("date.months_short", int(m)-1) }

// Weekday returns the short name of a weekday.
func (p *Printer) Weekday(d time.Weekday) string { return p.list("date.weekdays", int(d)) }

// Time returns an instant given in RFC 3339 as its date and time of day, in
// the zone it is written in.
func (p *Printer) Time(instant string) string {
	t, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return instant
	}
	return p.T("date.time", "date", p.Date(t.Format(isoDate)), "time", t.Format("15:04:05"))
}

// date fills a date format; what is not a date is shown as it is.
func (p *Printer) date(day, key string) string {
	t, err := time.Parse(isoDate, day)
	if err != nil {
		return day
	}
	return p.T(key,
		"year", t.Format("2006"), "day", t.Format("2"),
		"month", p.list("date.months_short", int(t.Month())-1),
		"month_long", p.MonthName(t.Month()),
		"weekday", p.Weekday(t.Weekday()))
}

// list returns item i of a message that is a list separated by blanks.
func (p *Printer) list(key string, i int) string {
	items := strings.Fields(p.T(key))
	if i < 0 || i >= len(items) {
		return ""
	}
	return items[i]
}

package cohort

import (
	"strings"
	"time"

	"bitboard/internal/fault"
)

// Granularity is the length of a period.
type Granularity uint8

// The granularities, the default first.
const (
	Daily Granularity = iota
	Weekly
	Monthly
)

var granularityNames = []string{"day", "week", "month"}

// ParseGranularity reads day, week or month.
func ParseGranularity(field, s string) (Granularity, error) {
	i, err := choose(field, s, granularityNames)
	return Granularity(i), err
}

// String returns day, week or month.
func (g Granularity) String() string { return granularityNames[g] }

// Calendar says where periods begin. It is pure arithmetic on civil days.
type Calendar struct {
	// WeekStart is the first day of a week.
	WeekStart time.Weekday
}

// Start returns the first day of the period that holds d.
func (c Calendar) Start(g Granularity, d Day) Day {
	switch g {
	case Weekly:
		return d - Day((int(d.Weekday())-int(c.WeekStart)+7)%7)
	case Monthly:
		y, m, _ := d.Date()
		return DayOfDate(y, m, 1)
	default:
		return d
	}
}

// Add returns the start of the period n periods after the one that starts at start.
func (c Calendar) Add(g Granularity, start Day, n int) Day {
	switch g {
	case Weekly:
		return start + Day(7*n)
	case Monthly:
		y, m, _ := start.Date()
		return DayOfDate(y, m+time.Month(n), 1)
	default:
		return start + Day(n)
	}
}

// Period returns the days of the period that starts at start.
func (c Calendar) Period(g Granularity, start Day) Range {
	return Range{start, c.Add(g, start, 1) - 1}
}

// Periods returns the starts of the periods that have a day in r and begin on
// or before asOf, in order.
func (c Calendar) Periods(g Granularity, r Range, asOf Day) []Day {
	if r.Len() == 0 {
		return nil
	}
	var starts []Day
	for p := c.Start(g, r.From); p <= r.To && p <= asOf; p = c.Add(g, p, 1) {
		starts = append(starts, p)
	}
	return starts
}

// Complete reports whether the period's last day is before asOf.
func (r Range) Complete(asOf Day) bool { return r.To < asOf }

// choose finds s among names; the empty string is the first of them.
func choose(field, s string, names []string) (int, error) {
	if s == "" {
		return 0, nil
	}
	for i, n := range names {
		if s == n {
			return i, nil
		}
	}
	return 0, fault.Invalid("bad_value", field, "%s is not a value of %s; give one of %s", fault.Show(s), field, oneOf(names)).
		Say("wrong.choice", "given", fault.Show(s), "names", strings.Join(names, ", "))
}

// oneOf joins names as "a, b or c".
func oneOf(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

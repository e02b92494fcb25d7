package views

import (
	"strconv"
	"time"
)

// ShownYear is a year with the state of each of its days, 1 January first.
type ShownYear struct {
	Year int
	Days []DayState
}

// DayState is what a day of a calendar has to say.
type DayState uint8

// The states of a day.
const (
	// DayOff is a day without the metric.
	DayOff DayState = iota
	// DayOn is a day with it.
	DayOn
	// DayNoData is a day without the metric of which nobody can tell whether
	// that is right: nothing was stored, or not all of it.
	DayNoData
	// DayFuture is a day after today.
	DayFuture
	// DayBefore is a day before anything of the metric was stored.
	DayBefore
)

var (
	dayClasses = [...]string{DayOff: "day off", DayOn: "day on", DayNoData: "day unknown", DayFuture: "day future", DayBefore: "day before"}
	dayTexts   = [...]string{DayOff: "users.day.off", DayOn: "users.day.on", DayNoData: "value.no_data", DayFuture: "value.not_yet", DayBefore: "users.day.before"}
	dayKinds   = []DayState{DayOn, DayOff, DayNoData, DayBefore, DayFuture}
)

const (
	daysInWeek = 7
	isoDate    = "2006-01-02"
)

// gridDay is a cell of a year; a number of 0 is a blank before the first or after
// the last day.
type gridDay struct {
	number int
	date   string
	state  DayState
	today  bool
}

// gridMonth is a month above the weeks that begin in it.
type gridMonth struct {
	month time.Month
	weeks int
}

// yearGrid is a year with a week in each column and a weekday in each row.
type yearGrid struct {
	months []gridMonth
	rows   [daysInWeek][]gridDay
}

// column returns a weekday's place in a week, from 0.
func (u UserYear) column(d time.Weekday) int {
	if u.SundayFirst {
		return int(d)
	}
	return (int(d) + daysInWeek - 1) % daysInWeek
}

// weekday returns the weekday at a place in a week.
func (u UserYear) weekday(at int) time.Weekday {
	if u.SundayFirst {
		return time.Weekday(at)
	}
	return time.Weekday((at + 1) % daysInWeek)
}

// grid lays a year out in weeks.
func (u UserYear) grid(p Page, y ShownYear) yearGrid {
	var g yearGrid
	first := time.Date(y.Year, time.January, 1, 0, 0, 0, 0, time.UTC)
	for at := range u.column(first.Weekday()) {
		g.rows[at] = append(g.rows[at], gridDay{})
	}
	for d := first; d.Year() == y.Year; d = d.AddDate(0, 0, 1) {
		at := u.column(d.Weekday())
		g.rows[at] = append(g.rows[at], y.day(p, d))
		if at == 0 || d.Equal(first) { // a new column
			if n := len(g.months); n > 0 && g.months[n-1].month == d.Month() {
				g.months[n-1].weeks++
			} else {
				g.months = append(g.months, gridMonth{d.Month(), 1})
			}
		}
	}
	for at := range g.rows {
		if len(g.rows[at]) < len(g.rows[0]) {
			g.rows[at] = append(g.rows[at], gridDay{})
		}
	}
	return g
}

// day is a day of the year; one that Days does not hold is in the future.
func (y ShownYear) day(p Page, d time.Time) gridDay {
	date, state := d.Format(isoDate), DayFuture
	if i := d.YearDay() - 1; i < len(y.Days) {
		state = y.Days[i]
	}
	return gridDay{d.Day(), date, state, date == p.AsOf}
}

func (d gridDay) class() string {
	if d.number == 0 {
		return "day blank"
	}
	if d.today {
		return dayClasses[d.state] + " today"
	}
	return dayClasses[d.state]
}

// label is a day and its state in words.
func (d gridDay) label(p Page) string {
	return p.Text.T("users.day", "day", p.Text.Date(d.date), "state", p.Text.T(dayTexts[d.state]))
}

// total returns the number of days of the year with the metric.
func (y ShownYear) total() int64 {
	n := int64(0)
	for _, d := range y.Days {
		if d == DayOn {
			n++
		}
	}
	return n
}

// listedMonth is a month with its days in words.
type listedMonth struct {
	title string
	days  []string
	open  bool
}

// monthsOpen is how many months show their days at once: this one and the last.
const monthsOpen = 2

// months returns the months of the shown years that have begun, the latest first,
// with the days that have the metric.
func (u UserYear) months(p Page) []listedMonth {
	var months []listedMonth
	for _, y := range u.Shown {
		for m := time.December; m >= time.January; m-- {
			first := time.Date(y.Year, m, 1, 0, 0, 0, 0, time.UTC)
			if first.Format(isoDate) > p.AsOf {
				continue
			}
			month := listedMonth{title: p.Text.Month(first.Format(isoDate)), open: len(months) < monthsOpen}
			for d := first; d.Month() == m; d = d.AddDate(0, 0, 1) {
				if y.day(p, d).state == DayOn {
					month.days = append(month.days, d.Format(isoDate))
				}
			}
			months = append(months, month)
		}
	}
	return months
}

func (g gridMonth) span() string { return strconv.Itoa(g.weeks) }

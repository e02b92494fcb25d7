package views

import (
	"fmt"
	"strings"
	"time"

	"bitboard/views/ui"
)

// UsersPage is one user's year.
type UsersPage struct {
	Page
	// ID is what was searched for, as it was given; empty at first.
	ID string
	// Metric is the chosen metric, kept by the search.
	Metric string
	// Problem is what is wrong with what was given, or nil.
	Problem *Problem
	// Unknown helps with an ID that nobody has; nil otherwise.
	Unknown *UnknownUser
	// Several is the answer to several IDs; nil otherwise.
	Several *SeveralUsers
	// Error says why there is no calendar although the user is known.
	Error string
	// User is the answer, nil when nothing was asked or nobody was found.
	User *UserYear
}

// UnknownUser is what helps somebody who gave an ID that nobody has.
type UnknownUser struct {
	// Shown is the ID with its invisible characters made visible.
	Shown string
	// Similar are users whose IDs differ in what is often changed.
	Similar []Member
}

// SeveralUsers is a line for each of several users.
type SeveralUsers struct {
	// Title is the metric's.
	Title string
	// Days is how many days, up to today, count as lately.
	Days int64
	Rows []UserRow
}

// UserRow is one of several users.
type UserRow struct {
	ID, URL string
	Unknown bool
	// Lately, Current and Total are numbers of days.
	Lately, Current, Total int64
	// FirstDay and LastDay are empty when there is none.
	FirstDay, LastDay string
}

// found is how many of the users are known.
func (s SeveralUsers) found() int64 {
	n := int64(0)
	for _, r := range s.Rows {
		if !r.Unknown {
			n++
		}
	}
	return n
}

// UserGroups is the flags and the saved cohorts, and which of them hold a user.
type UserGroups struct {
	Flags, Cohorts []UserGroup
	Error          string
}

// UserGroup is a flag or a saved cohort.
type UserGroup struct {
	Title, URL string
	Holds      bool
	// Problem says why that cannot be said; empty otherwise.
	Problem string
}

// UserGap is a run of days on which a user did not come.
type UserGap struct {
	From, To string
	Days     int64
	// NoData is how many of the days have no data at all.
	NoData int64
}

// UserYear is one metric of one user in one year, with the totals of all years.
type UserYear struct {
	// ID is the user's own ID, byte for byte.
	ID string
	// Metrics are links to the same year of each daily metric.
	Metrics []ui.Choice
	// Title is the chosen metric's title.
	Title string
	// Year is the year shown.
	Year int
	// Years are links to the years that can be shown.
	Years []ui.Choice
	// SundayFirst says that weeks begin on Sunday, not on Monday.
	SundayFirst bool
	// Days holds the state of each day of the year, 1 January first.
	Days []DayState
	// Total, Current and Longest are numbers of days, over all history.
	Total, Current, Longest int64
	// LongestFrom and LongestTo are the days of the longest run, the latest if
	// there are several; empty when history is.
	LongestFrom, LongestTo string
	// FirstDay and LastDay are the ends of history; empty when it is empty.
	FirstDay, LastDay string
	// Gaps are the longest absences over all history, the longest first.
	Gaps []UserGap
	// Groups is what holds the user.
	Groups UserGroups
	// Download is the URL of the year's days as a file.
	Download string
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
)

// calendarMonth is a month laid out in weeks.
type calendarMonth struct {
	name  string
	on    int64
	weeks [][]calendarDay
}

// calendarDay is one cell; a number of 0 is a blank before the first or after
// the last day of the month.
type calendarDay struct {
	number int
	state  DayState
	date   string
	today  bool
}

const (
	daysInWeek = 7
	isoDate    = "2006-01-02"
)

// months lays the year out, without the months that haven't begun. Days that
// Days does not hold are in the future.
func (u UserYear) months(p Page) []calendarMonth {
	months := make([]calendarMonth, 0, 12)
	for m := time.January; m <= time.December; m++ {
		month := calendarMonth{name: p.Text.MonthName(m)}
		first := time.Date(u.Year, m, 1, 0, 0, 0, 0, time.UTC)
		if m > time.January && first.Format(isoDate) > p.AsOf {
			break
		}
		week := make([]calendarDay, u.column(first.Weekday()), daysInWeek)
		for d := first; d.Month() == m; d = d.AddDate(0, 0, 1) {
			day := u.day(p, d)
			if day.state == DayOn {
				month.on++
			}
			if week = append(week, day); len(week) == daysInWeek {
				month.weeks, week = append(month.weeks, week), make([]calendarDay, 0, daysInWeek)
			}
		}
		if len(week) > 0 {
			month.weeks = append(month.weeks, append(week, make([]calendarDay, daysInWeek-len(week))...))
		}
		months = append(months, month)
	}
	return months
}

func (u UserYear) day(p Page, d time.Time) calendarDay {
	date := d.Format(isoDate)
	state := DayFuture
	if i := d.YearDay() - 1; i < len(u.Days) {
		state = u.Days[i]
	}
	return calendarDay{number: d.Day(), state: state, date: date, today: date == p.AsOf}
}

// column returns a weekday's place in a week, from 0.
func (u UserYear) column(d time.Weekday) int {
	if u.SundayFirst {
		return int(d)
	}
	return (int(d) + daysInWeek - 1) % daysInWeek
}

// weekdays returns the weekdays in the order of the columns.
func (u UserYear) weekdays() []time.Weekday {
	days := make([]time.Weekday, daysInWeek)
	for d := time.Sunday; d <= time.Saturday; d++ {
		days[u.column(d)] = d
	}
	return days
}

// class returns a day's classes.
func (d calendarDay) class() string {
	if d.number == 0 {
		return "day blank"
	}
	class := [...]string{"day off", "day on", "day unknown", "day future"}[d.state]
	if d.today {
		class += " today"
	}
	return class
}

// label returns a day's state in words.
func (d calendarDay) label(p Page) string {
	switch d.state {
	case DayOn:
		return p.Text.T("users.day.on")
	case DayNoData:
		return p.Text.T("value.no_data")
	case DayFuture:
		return p.Text.T("value.not_yet")
	default:
		return p.Text.T("users.day.off")
	}
}

// yearTotal returns the number of days of the year with the metric.
func (u UserYear) yearTotal() int64 {
	n := int64(0)
	for _, d := range u.Days {
		if d == DayOn {
			n++
		}
	}
	return n
}

// longest writes the longest run with its days, as they stand in a file.
func (u UserYear) longest(p Page) string {
	text := p.Text.Count("users.days", u.Longest)
	if u.LongestFrom == "" {
		return text
	}
	return text + ", " + p.Text.T("date.range", "from", u.LongestFrom, "to", u.LongestTo)
}

// asText returns the year for a ticket or a mail: the totals, then a line for
// each month that has a day.
func (u UserYear) asText(p Page) string {
	var b strings.Builder
	line := func(label, value string) { fmt.Fprintf(&b, "%s: %s\n", label, value) }
	line(p.Text.T("users.id"), u.ID)
	line(p.Text.T("form.metric"), u.Title)
	line(p.Text.T("definition.as_of"), p.AsOf+" "+p.Zone)
	line(p.Text.T("users.current"), p.Text.Count("users.days", u.Current))
	line(p.Text.T("users.longest"), u.longest(p))
	line(p.Text.T("users.total"), p.Text.Count("users.days", u.Total))
	if u.FirstDay != "" {
		line(p.Text.T("users.first"), u.FirstDay)
		line(p.Text.T("users.last"), u.LastDay)
	}
	b.WriteString("\n")
	line(fmt.Sprint(u.Year), p.Text.Count("users.days", u.yearTotal()))
	for i, m := range u.months(p) {
		if m.on > 0 {
			line(fmt.Sprintf("%04d-%02d", u.Year, i+1), m.numbers())
		}
	}
	return b.String()
}

// numbers returns the days with the metric, separated by blanks.
func (m calendarMonth) numbers() string {
	var on []string
	for _, week := range m.weeks {
		for _, d := range week {
			if d.number > 0 && d.state == DayOn {
				on = append(on, fmt.Sprint(d.number))
			}
		}
	}
	return strings.Join(on, " ")
}

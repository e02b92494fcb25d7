package views

import "time"

// calendarMonth is a month laid out in weeks.
type calendarMonth struct {
	name  string
	on    int64
	weeks [][]gridDay
}

// monthsOf lays a year out, without the months that haven't begun. Days that
// Days does not hold are in the future.
func (u UserYear) monthsOf(p Page, y ShownYear) []calendarMonth {
	months := make([]calendarMonth, 0, 12)
	for m := time.January; m <= time.December; m++ {
		month := calendarMonth{name: p.Text.MonthName(m)}
		first := time.Date(y.Year, m, 1, 0, 0, 0, 0, time.UTC)
		if m > time.January && first.Format(isoDate) > p.AsOf {
			break
		}
		week := make([]gridDay, u.column(first.Weekday()), daysInWeek)
		for d := first; d.Month() == m; d = d.AddDate(0, 0, 1) {
			day := y.day(p, d)
			if day.state == DayOn {
				month.on++
			}
			if week = append(week, day); len(week) == daysInWeek {
				month.weeks, week = append(month.weeks, week), make([]gridDay, 0, daysInWeek)
			}
		}
		if len(week) > 0 {
			month.weeks = append(month.weeks, append(week, make([]gridDay, daysInWeek-len(week))...))
		}
		months = append(months, month)
	}
	return months
}

// weekdays returns the weekdays in the order of the columns.
func (u UserYear) weekdays() []time.Weekday {
	days := make([]time.Weekday, daysInWeek)
	for d := time.Sunday; d <= time.Saturday; d++ {
		days[u.column(d)] = d
	}
	return days
}

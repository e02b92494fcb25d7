package views

import "bitboard/views/ui"

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

// UserYear is one metric of one user in one year, or several, with the totals of all years.
type UserYear struct {
	// ID is the user's own ID, byte for byte.
	ID string
	// Metrics are links to the same year of each daily metric.
	Metrics []ui.Choice
	// Title is the chosen metric's title.
	Title string
	// Shown are the years shown, the latest first.
	Shown []ShownYear
	// Years are links to the years that can be shown.
	Years []ui.Choice
	// SundayFirst says that weeks begin on Sunday, not on Monday.
	SundayFirst bool
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
	// Recent is the last months, the earliest first, for a ticket.
	Recent []TicketMonth
	// TextURL is the same as plain text, and Download the URL of the shown days as
	// a file.
	TextURL, Download string
}

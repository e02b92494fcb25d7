package views

import (
	"fmt"
	"strings"
)

// TicketMonth is a month as a ticket is told it.
type TicketMonth struct {
	// First is the month's first day.
	First string
	// Days are the days with the metric, and NoData those of which nobody can tell.
	Days, NoData []int
}

// AsText returns what the page says as plain text: of one user all, of several a
// line for each.
func (u UsersPage) AsText() string {
	switch {
	case u.User != nil:
		return u.User.AsText(u.Page)
	case u.Several != nil:
		var b strings.Builder
		for _, r := range u.Several.Rows {
			fmt.Fprintf(&b, "%s: %s\n", r.ID, r.text(u.Page))
		}
		return b.String()
	case u.Unknown != nil:
		return u.Unknown.Shown + ": " + u.Text.T("users.unknown.title") + "\n"
	}
	return ""
}

func (r UserRow) text(p Page) string {
	if r.Unknown {
		return p.Text.T("users.unknown.title")
	}
	text := p.Text.Count("users.days", r.Total)
	if r.FirstDay != "" {
		text += ", " + p.Text.T("date.range", "from", r.FirstDay, "to", r.LastDay)
	}
	return text
}

// AsText returns what there is to be said of a user's days for a ticket or a mail:
// the totals, then a line for each of the last months. Days are written as in files.
func (u UserYear) AsText(p Page) string {
	var b strings.Builder
	line := func(label, value string) { fmt.Fprintf(&b, "%s: %s\n", label, value) }
	line(p.Text.T("users.id"), u.ID)
	line(p.Text.T("form.metric"), u.Title)
	line(p.Text.T("definition.as_of"), p.AsOf)
	line(p.Text.T("definition.zone"), p.Zone)
	line(p.Text.T("users.current"), p.Text.Count("users.days", u.Current))
	line(p.Text.T("users.longest"), u.longest(p))
	line(p.Text.T("users.total"), p.Text.Count("users.days", u.Total))
	if u.FirstDay != "" {
		line(p.Text.T("users.first"), u.FirstDay)
		line(p.Text.T("users.last"), u.LastDay)
	}
	b.WriteString("\n")
	for _, m := range u.Recent {
		line(strings.TrimSuffix(m.First, "-01"), m.text(p))
	}
	return b.String()
}

// longest writes the longest run with its days, as they stand in a file.
func (u UserYear) longest(p Page) string {
	text := p.Text.Count("users.days", u.Longest)
	if u.LongestFrom == "" {
		return text
	}
	return text + ", " + p.Text.T("date.range", "from", u.LongestFrom, "to", u.LongestTo)
}

func (m TicketMonth) text(p Page) string {
	text := p.Text.Count("users.days", int64(len(m.Days)))
	if len(m.Days) > 0 {
		text += " (" + numbers(m.Days) + ")"
	}
	if len(m.NoData) > 0 {
		text += "; " + p.Text.T("value.no_data") + " (" + numbers(m.NoData) + ")"
	}
	return text
}

// numbers writes days, separated by blanks.
func numbers(days []int) string { return strings.Trim(fmt.Sprint(days), "[]") }

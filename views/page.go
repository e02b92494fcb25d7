// Package views holds the pages, each a templ component over a plain struct
// of texts, numbers and URLs. Days are YYYY-MM-DD, instants RFC 3339; the
// components put them into the reader's language.
package views

import (
	"net/url"
	"strings"

	"bitboard/views/text"
	"bitboard/views/ui"
)

// Page is what every page shows around its own content.
type Page struct {
	// Text writes for the reader's language.
	Text *text.Printer
	// Theme is light or dark, or empty to follow the reader's system.
	Theme string
	// URL is this page's own path and query, where a change of theme or
	// language comes back to.
	URL string
	// Zone is the workspace's IANA time zone.
	Zone string
	// AsOf is the day taken as today.
	AsOf string
	// TodayURL is this page as of today, when the reader chose another day;
	// links and forms then keep that day. It is empty otherwise.
	TodayURL string
	// ComputedAt is when the page's oldest answer was computed; empty when
	// the page answers nothing.
	ComputedAt string
	// Version is the program's.
	Version string
	// Reload makes a browser without scripts load the page again in a moment.
	Reload bool
	// Notices are messages about the whole page, e.g. that the store is away.
	Notices []Notice
}

// Notice is a message about the whole page.
type Notice struct {
	// Kind is info, warning or error.
	Kind string
	// Title says what happened in a few words.
	Title string
	// Message says what it means and what to do.
	Message string
	// URL and Link are where to do it, and the words for that; both may be empty.
	URL, Link string
}

// basis returns what an answer about the days from..to rests on.
func (p Page) basis(from, to, expr string) ui.Basis {
	b := ui.Basis{From: from, To: to, Zone: p.Zone, AsOf: p.AsOf, ComputedAt: p.ComputedAt, Expr: expr}
	if expr != "" {
		b.How = "/how?" + url.Values{"expr": {expr}, "as_of": {p.AsOf}}.Encode()
	}
	return b
}

// dayName returns a day with its weekday; one of the present year goes without
// the year.
func (p Page) dayName(day string) string {
	if year, _, ok := strings.Cut(p.AsOf, "-"); ok && strings.HasPrefix(day, year+"-") {
		return p.Text.WeekdayDate(day)
	}
	return p.Text.LongDate(day)
}

// NoPosition marks a Problem about a whole field.
const NoPosition = -1

// Problem says what is wrong with a form that was sent.
type Problem struct {
	// Field is the parameter at fault.
	Field string
	// Position is the 0-based character where it goes wrong, or NoPosition.
	Position int
	// Message says what was given and what would be accepted.
	Message string
}

// of returns the message if the problem is about a field, else "".
func (p *Problem) of(field string) string {
	if p == nil || p.Field != field {
		return ""
	}
	return p.Message
}

// navItem is a page in the main navigation.
type navItem struct{ key, label, url string }

func navigation(p Page) []navItem {
	items := []navItem{
		{"overview", p.Text.T("nav.overview"), "/"},
		{"retention", p.Text.T("nav.retention"), "/retention"},
		{"engagement", p.Text.T("nav.engagement"), "/engagement"},
		{"online", p.Text.T("nav.online"), "/online"},
		{"cohorts", p.Text.T("nav.cohorts"), "/cohorts"},
		{"users", p.Text.T("nav.users"), "/users"},
		{"jobs", p.Text.T("nav.jobs"), "/jobs"},
	}
	if p.TodayURL != "" {
		for i := range items {
			items[i].url += "?as_of=" + p.AsOf
		}
	}
	return items
}

// themes are the choices of theme; the empty one follows the system.
func themes(p Page) []ui.Choice {
	return []ui.Choice{
		{Value: "", Label: p.Text.T("theme.system"), Current: p.Theme == ""},
		{Value: "light", Label: p.Text.T("theme.light"), Current: p.Theme == "light"},
		{Value: "dark", Label: p.Text.T("theme.dark"), Current: p.Theme == "dark"},
	}
}

// languages are the choices of language.
func languages(p Page) []ui.Choice {
	var choices []ui.Choice
	for _, l := range text.Languages() {
		choices = append(choices, ui.Choice{Value: l.Code, Label: l.Name, Current: l.Code == p.Text.Code()})
	}
	return choices
}

package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/views"
	"bitboard/views/text"
	"bitboard/views/ui"
)

// rangeParams choose a range and have no field in a form that says what is
// wrong with them.
var rangeParams = []string{"range", "complete", compareParam}

// rangePick is the range of a page: a preset by its name, or days.
type rangePick struct {
	granularity cohort.Granularity
	last        cohort.Day // that a range may hold
	days        cohort.Range
	preset      cohort.Preset // that the days are; empty when they are none's
	named       bool          // the preset moves on with today
	complete    bool          // no period that isn't over
}

// pickRange reads the range of a page that is about so many periods when it is
// asked for none, and puts it in from and to. Dates win over a name: a form
// sends both, and dates that were changed in it are what is meant.
func (p *params) pickRange(g cohort.Granularity, periods int) rangePick {
	calendar := p.server.workspace.Calendar
	pick := rangePick{granularity: g, complete: p.choice("complete", "0", "1") == "1"}
	pick.last = calendar.LastDay(g, pick.complete, p.today)
	preset, err := cohort.ParsePreset("range", p.text("range"))
	p.fail(err)
	dated := p.text("from") != "" || p.text("to") != ""
	first := calendar.Add(g, calendar.Start(g, pick.last), -periods+1)
	pick.days = cohort.Range{From: max(cohort.MinDay, first), To: pick.last}
	switch {
	case dated:
		p.defaults("from", pick.days.From.String(), "to", pick.days.To.String())
		pick.days = p.days().EndBy(pick.last)
	case preset != "":
		pick.days = calendar.Preset(preset, p.today, pick.last)
	}
	if !dated || p.err == nil {
		p.values.Set("from", pick.days.From.String())
		p.values.Set("to", pick.days.To.String())
	}
	pick.preset = pick.presetOf(calendar, preset, p.today)
	pick.named = pick.preset != "" && (!dated || preset == pick.preset)
	return pick
}

// presetOf is the preset that the days are, preferably the one asked for.
func (r rangePick) presetOf(calendar cohort.Calendar, asked cohort.Preset, today cohort.Day) cohort.Preset {
	for _, preset := range append([]cohort.Preset{asked}, cohort.Presets()...) {
		if preset != "" && calendar.Preset(preset, today, r.last) == r.days {
			return preset
		}
	}
	return ""
}

// renamed is the address of a page whose form sent a preset together with the
// dates that it stands for, without the dates: it moves on with today. It is
// empty when the address needs no change.
func (r rangePick) renamed(u *url.URL) string {
	q := u.Query()
	if !r.named || q.Get("range") == "" || q.Get("from") == "" && q.Get("to") == "" {
		return ""
	}
	return withParams(u, "from", "", "to", "")
}

// moved sends the browser to an address.
func moved(c echo.Context, to string) error { return c.Redirect(http.StatusSeeOther, to) }

// picker is the range as the page shows it, with links to others.
func (p *params) picker(u *url.URL, r rangePick) views.RangePicker {
	calendar := p.server.workspace.Calendar
	v := views.RangePicker{
		Complete:    r.complete,
		CompleteURL: withParams(u, "complete", map[bool]string{false: "1", true: ""}[r.complete]),
	}
	if r.named {
		v.Named = string(r.preset)
	}
	for _, preset := range cohort.Presets() {
		v.Presets = append(v.Presets, ui.Choice{
			Label: presetName(p.printer, preset), URL: withParams(u, "range", string(preset), "from", "", "to", ""), Current: preset == r.preset,
		})
	}
	if problem := p.problem(); problem != nil {
		if slices.Contains(rangeParams, problem.Field) {
			v.Problem = problem.Message
		}
		return v
	}
	v.From, v.To = r.days.From.String(), r.days.To.String()
	at := func(days cohort.Range, ok bool) string {
		if !ok {
			return ""
		}
		return withParams(u, "range", "", "from", days.From.String(), "to", days.To.String())
	}
	v.BeforeURL = at(calendar.Before(r.days, r.preset))
	v.AfterURL = at(calendar.After(r.days, r.preset, r.last))
	return v
}

func presetName(t *text.Printer, preset cohort.Preset) string {
	switch preset {
	case cohort.Yesterday:
		return t.T("range.yesterday")
	case cohort.Last7Days:
		return t.T("range.7d")
	case cohort.Last28Days:
		return t.T("range.28d")
	case cohort.Last90Days:
		return t.T("range.90d")
	case cohort.ThisMonth:
		return t.T("range.this_month")
	case cohort.LastMonth:
		return t.T("range.last_month")
	default:
		return t.T("range.this_quarter")
	}
}

package views

import (
	"cmp"

	"bitboard/views/ui"
)

// OverviewPage is how the product does: the head numbers, active users and
// next-day retention over a range of days.
type OverviewPage struct {
	Page
	// Empty says that no metric holds any day yet; the page then says how to
	// import, and needs nothing else.
	Empty bool
	// DAU, WAU and MAU are the users active on the range's last complete day,
	// and in the 7 and 28 days that end with it.
	DAU, WAU, MAU CountFact
	// Stickiness is the last complete day's users as a share of its month's,
	// NextDay the next-day retention of the day before it.
	Stickiness, NextDay RateFact
	// Range is the days that the page is about, Form all of the question.
	Range RangePicker
	Form  OverviewForm
	// Active is the panel of DAU, WAU and MAU for each day.
	Active ActivePanel
	// Return is the panel of next-day retention for each day.
	Return ReturnPanel
	// Lifecycle is the panel of who comes, comes back and stays away.
	Lifecycle LifecyclePanel
}

// OverviewForm holds the chosen values, also those that are wrong.
type OverviewForm struct {
	// Metrics are the daily metrics.
	Metrics []ui.Choice
	// From and To are the range as it was given.
	From, To string
	// Filter is a set expression; only its members are counted.
	Filter string
	// Ready are expressions that are offered for it.
	Ready []ui.Choice
	// Problem is what is wrong with it, or nil.
	Problem *Problem
}

// CountFact is a head number that counts people.
type CountFact struct {
	// Error says why there is no number; empty when there is one.
	Error string
	// Number is the count and the list of these people.
	Number ui.Number
	// From and To are the days counted.
	From, To string
	// Expr is the set expression of the people counted.
	Expr string
	// Suspect says why the number may be too low: missing, missing_segment,
	// half_replaced, low, evicted, or empty when nothing is known.
	Suspect string
	// Before is the same number of a week before, on BeforeDay; nil when
	// history does not reach back so far.
	Before    *int64
	BeforeDay string
	// BeforeSuspect is Suspect of a single day before: a change from a number
	// that is too low would mislead.
	BeforeSuspect string
	// Trend are the last weeks' numbers, oldest first, for the small line.
	Trend []int64
}

// RateFact is a head number that is a share of people.
type RateFact struct {
	// Error says why there is no number; empty when there is one.
	Error string
	// Day is the day whose users are asked about, From and To the days read.
	Day, From, To string
	// Of are the users asked about, Kept those who did what is asked.
	Of, Kept ui.Number
	// Rate is Kept / Of, nil when Of is 0 and when a day is missing.
	Rate *float64
	// Suspect says why the rate may be wrong, as in CountFact.
	Suspect string
	// Expr is the set expression of the kept.
	Expr string
	// Before is the rate of a week before, on BeforeDay; nil when there is none.
	Before    *float64
	BeforeDay string
}

// ActivePanel is active users by day, as a chart and as a table.
type ActivePanel struct {
	Report
	// Against says which earlier days these are compared with; empty for none.
	Against string
	// Rows are the days in order.
	Rows []ActiveRow
}

// ActiveRow is a day's active users.
type ActiveRow struct {
	Day           string
	DAU, WAU, MAU ui.Number
	// Complete is false for a day that isn't over.
	Complete bool
	// Suspect says why the numbers may be too low, as in CountFact.
	Suspect string
	// Earlier is the day that this one is compared with; nil for none.
	Earlier *EarlierActive
}

// EarlierActive is the active users of an earlier day.
type EarlierActive struct {
	Day string
	// BeforeData says that the data begin later.
	BeforeData bool
	// DAU, WAU and MAU are nil when nothing is known of them.
	DAU, WAU, MAU *ui.Number
	// Suspect says why the numbers may be too low, as in CountFact.
	Suspect string
}

// comparedNumber is a number of a row, and the one that it is compared with.
type comparedNumber struct {
	now    ui.Number
	before *ui.Number
	// change is relative to before; nil when it would say nothing.
	change *float64
}

// numbers are the row's numbers; a day that is suspect or isn't over says nothing of a change.
func (r ActiveRow) numbers() []comparedNumber {
	all := []comparedNumber{{now: r.DAU}, {now: r.WAU}, {now: r.MAU}}
	if r.Earlier == nil {
		return all
	}
	for i, before := range []*ui.Number{r.Earlier.DAU, r.Earlier.WAU, r.Earlier.MAU} {
		all[i].before = before
		doubtful := i == 0 && cmp.Or(r.Suspect, r.Earlier.Suspect) != ""
		if before == nil || !r.Complete || doubtful {
			continue
		}
		if relative, ok := change(all[i].now.Count, &before.Count); ok {
			all[i].change = &relative
		}
	}
	return all
}

// names are the numbers' names.
func (o OverviewPage) names() []string {
	return []string{o.Text.T("overview.dau"), o.Text.T("overview.wau"), o.Text.T("overview.mau")}
}

// ReturnPanel is next-day retention by day, as a chart and as a table.
type ReturnPanel struct {
	Report
	// Rows are the days in order.
	Rows []ReturnRow
}

// ReturnRow is the next-day retention of a day.
type ReturnRow struct {
	Day string
	// Of are the day's users, Kept those of them who came back the day after.
	Of, Kept ui.Number
	// Rate is Kept / Of, nil when Of is 0 and when one of the days is missing.
	Rate *float64
	// Complete is false while the day after isn't over.
	Complete bool
	// Suspect says why the numbers may be too low, as in CountFact.
	Suspect string
}

// change returns how a count moved against the one before, relative to it;
// ok is false when there is nothing to compare with.
func change(now int64, before *int64) (relative float64, ok bool) {
	if before == nil || *before == 0 {
		return 0, false
	}
	return float64(now-*before) / float64(*before), true
}

// withoutChange says why there is no change in percent: a week before there
// was nobody, or nothing is known of it.
func (p Page) withoutChange(f CountFact) string {
	if f.Before == nil {
		return p.Text.T("overview.no_before")
	}
	return p.Text.T("overview.against", "before", p.Text.N(*f.Before), "day", p.Text.LongDate(f.BeforeDay))
}

// unknown reports whether nothing was stored for the one day counted.
func (f CountFact) unknown() bool { return f.Suspect == "missing" && f.From == f.To }

// direction is the class of a change: up, down or flat.
func direction(difference float64) string {
	switch {
	case difference > 0:
		return "up"
	case difference < 0:
		return "down"
	default:
		return "flat"
	}
}

func (o OverviewPage) active() reportView {
	v := reportView{
		Report: o.Active.Report, id: "active", title: o.Text.T("active.title"), empty: len(o.Active.Rows) == 0,
		charts:     []ui.Chart{{ID: "active-chart", Label: o.Text.T("active.chart"), Options: o.Active.Options, Format: "count", Axis: "day"}},
		note:       o.Active.Against,
		definition: o.Text.T("active.definition"), basis: o.basis(o.Form.From, o.Form.To, ""),
	}
	if o.Active.Against != "" {
		v.definition += " " + o.Text.T("against.definition")
	}
	return v
}

func (o OverviewPage) comeBack() reportView {
	return reportView{
		Report: o.Return.Report, id: "return", title: o.Text.T("return.title"), empty: len(o.Return.Rows) == 0,
		charts:     []ui.Chart{{ID: "return-chart", Label: o.Text.T("return.chart"), Options: o.Return.Options, Format: "percent", Axis: "day"}},
		definition: o.Text.T("overview.next_day.definition"), basis: o.basis(o.Form.From, o.Form.To, ""),
	}
}

package views

import (
	"encoding/json"
	"strconv"

	"bitboard/views/ui"
)

// EngagementPage is how often people come and whether they stay: lifecycle,
// stickiness, the ratio of daily to monthly users, and recency.
type EngagementPage struct {
	Page
	// Range is the days asked about, Form all of the question.
	Range RangePicker
	Form  EngagementForm
	// Lifecycle, Stickiness, Ratio and Recency are the panels.
	Lifecycle  LifecyclePanel
	Stickiness StickinessPanel
	Ratio      RatioPanel
	Recency    RecencyPanel
}

// EngagementForm holds the chosen values, also those that are wrong.
type EngagementForm struct {
	// Metrics are the daily metrics.
	Metrics []ui.Choice
	// Granularity is day, week or month.
	Granularity string
	// From and To are the range as it was given.
	From, To string
	// Filter is a set expression; only its members are counted.
	Filter string
	// Ready are expressions that are offered for it.
	Ready []ui.Choice
	// Windows are the lengths of a month in the ratio.
	Windows []ui.Choice
	// Problem is what is wrong with it, or nil.
	Problem *Problem
}

// LifecyclePanel is how the users of each period divide.
type LifecyclePanel struct {
	Report
	// Pulse are the options of the second chart.
	Pulse json.RawMessage
	// Rows are the periods in order.
	Rows []LifecycleRow
}

// LifecycleRow is one period.
type LifecycleRow struct {
	// Day is the period's first day.
	Day                                  string
	New, Returning, Resurrected, Dormant ui.Number
	// Pulse is (new + resurrected) / dormant, nil when nobody is dormant and
	// when the day or the one before is missing.
	Pulse *float64
	// Complete is false for a period that isn't over.
	Complete bool
	// Suspect says why the numbers may be wrong, as in CountFact.
	Suspect string
}

// StickinessPanel is in how many periods of the range people came.
type StickinessPanel struct {
	Report
	// AtLeast are the options of the second chart.
	AtLeast json.RawMessage
	// Rows are the numbers of periods, from 1.
	Rows []StickinessRow
	// Open says that the last period isn't over.
	Open bool
	// Unlinked says that some numbers are of people whom no expression of a
	// bearable length names.
	Unlinked bool
}

// StickinessRow is the people active in a number of periods.
type StickinessRow struct {
	Periods          int
	Exactly, AtLeast ui.Number
}

// RatioPanel is daily users as a share of monthly ones, by day.
type RatioPanel struct {
	Report
	// Window is the days of a month.
	Window int
	// Against says which earlier days these are compared with; empty for none.
	Against string
	// Rows are the days in order.
	Rows []RatioRow
}

// RatioRow is one day.
type RatioRow struct {
	Day      string
	DAU, MAU ui.Number
	// Ratio is DAU / MAU, nil when MAU is 0 and when the day is missing.
	Ratio *float64
	// Complete is false for a day that isn't over.
	Complete bool
	// Suspect says why the numbers may be too low, as in CountFact.
	Suspect string
	// Earlier is the day that this one is compared with; nil for none.
	Earlier *EarlierRatio
}

// EarlierRatio is the ratio of an earlier day.
type EarlierRatio struct {
	Day string
	// BeforeData says that the data begin later.
	BeforeData bool
	// Ratio is nil when MAU was 0 and when nothing is known of it.
	Ratio *float64
	// Suspect says why the ratio may be wrong, as in CountFact.
	Suspect string
}

// change is by how much the ratio has changed; nil when that would say nothing.
func (r RatioRow) change() *float64 {
	if !r.Complete || r.Ratio == nil || r.Earlier.Ratio == nil {
		return nil
	}
	return new(*r.Ratio - *r.Earlier.Ratio)
}

// RecencyPanel is how long ago people last came.
type RecencyPanel struct {
	Report
	// Rows are groups of days since then, the latest first.
	Rows []RecencyRow
}

// RecencyRow is the people of one group.
type RecencyRow struct {
	// Days is the group, e.g. 8-14 or 61+.
	Days  string
	Users ui.Number
	// Share is their share of all who ever came, nil when nobody did.
	Share *float64
}

// lifecycle is the panel's view; granularity is that of its periods.
func (p Page) lifecycle(panel LifecyclePanel, granularity string, basis ui.Basis) reportView {
	t := p.Text
	return reportView{
		Report: panel.Report, id: "lifecycle", title: t.T("lifecycle.title"), empty: len(panel.Rows) == 0,
		charts: []ui.Chart{
			{ID: "lifecycle-chart", Title: t.T("lifecycle.users"), Label: t.T("lifecycle.chart"), Options: panel.Options, Format: "count", Axis: granularity},
			{ID: "pulse-chart", Title: t.T("lifecycle.pulse"), Label: t.T("lifecycle.pulse.chart"), Options: panel.Pulse, Format: "number", Axis: granularity},
		},
		definition: t.T("lifecycle.definition") + " " + t.T("lifecycle.pulse.definition"), basis: basis,
	}
}

func (e EngagementPage) stickiness() reportView {
	t := e.Text
	v := reportView{
		Report: e.Stickiness.Report, id: "stickiness", title: e.stickinessTitle(), empty: len(e.Stickiness.Rows) == 0,
		charts: []ui.Chart{
			{ID: "stickiness-chart", Title: t.T("stickiness.exactly"), Label: t.T("stickiness.chart"), Options: e.Stickiness.Options, Format: "count", Axis: "text"},
			{ID: "at-least-chart", Title: t.T("stickiness.at_least"), Label: t.T("stickiness.at_least.chart"), Options: e.Stickiness.AtLeast, Format: "count", Axis: "text"},
		},
		definition: t.T("stickiness.definition"), basis: e.basis(e.Form.From, e.Form.To, ""),
	}
	if e.Stickiness.Open {
		v.note = t.T("stickiness.open")
	}
	if e.Stickiness.Unlinked {
		v.definition += " " + t.T("stickiness.unlinked")
	}
	return v
}

func (e EngagementPage) ratio() reportView {
	t := e.Text
	window := strconv.Itoa(e.Ratio.Window)
	v := reportView{
		Report: e.Ratio.Report, id: "ratio", title: t.T("ratio.title"), empty: len(e.Ratio.Rows) == 0,
		charts:     []ui.Chart{{ID: "ratio-chart", Label: t.T("ratio.chart"), Options: e.Ratio.Options, Format: "percent", Axis: "day"}},
		note:       e.Ratio.Against,
		definition: t.T("ratio.definition", "n", window), basis: e.basis(e.Form.From, e.Form.To, ""),
	}
	if e.Ratio.Against != "" {
		v.definition += " " + t.T("against.definition")
	}
	return v
}

func (e EngagementPage) recency() reportView {
	t := e.Text
	return reportView{
		Report: e.Recency.Report, id: "recency", title: t.T("recency.title"), empty: len(e.Recency.Rows) == 0,
		charts:     []ui.Chart{{ID: "recency-chart", Label: t.T("recency.chart"), Options: e.Recency.Options, Format: "count", Axis: "text"}},
		definition: t.T("recency.definition"), basis: e.basis("", "", ""),
	}
}

// stickinessTitle names the periods that are counted.
func (e EngagementPage) stickinessTitle() string {
	switch e.Form.Granularity {
	case "month":
		return e.Text.T("stickiness.title.month")
	case "week":
		return e.Text.T("stickiness.title.week")
	default:
		return e.Text.T("stickiness.title.day")
	}
}

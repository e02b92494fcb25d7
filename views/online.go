package views

import "bitboard/views/ui"

// OnlinePage is the page of who is there at the moment.
type OnlinePage struct {
	Page
	Form OnlineForm
	// Live is the URL of the live numbers, and Refresh that of the page as asked;
	// both are empty when there is no metric of the kind.
	Live, Refresh string
	Now           OnlineNow
	Today         OnlineToday
	Beats         BeatsPanel
}

// OnlineForm holds the chosen values.
type OnlineForm struct {
	// Metrics and Minutes are the choices, the current one marked.
	Metrics, Minutes []ui.Choice
	// Problem is what is wrong with it, or nil.
	Problem *Problem
}

// OnlineNow is who is there.
type OnlineNow struct {
	// Error says why there is nothing; empty when there is.
	Error string
	// Online is how many are there by what was said, Recent how many had a
	// heartbeat in the last Minutes.
	Online, Recent int64
	Minutes        int
	// Segments is both by segment, ascending.
	Segments []OnlineSegment
}

// OnlineSegment is who is there of the users First to Last, by offset.
type OnlineSegment struct{ First, Last, Online, Recent int64 }

// OnlineToday is how many were there on the day.
type OnlineToday struct {
	Error  string
	Number ui.Number
	Expr   string
}

// BeatsPanel is how many had a heartbeat in each of the last minutes.
type BeatsPanel struct {
	Report
	Rows []BeatRow
	// Any is false when nobody had one.
	Any bool
}

// BeatRow is one minute, as hours and minutes in the workspace's zone.
type BeatRow struct {
	At    string
	Users int64
	// Complete is false for the minute that isn't over.
	Complete bool
}

// metric is the name of the metric shown.
func (o OnlinePage) metric() string {
	for _, m := range o.Form.Metrics {
		if m.Current {
			return m.Value
		}
	}
	return ""
}

func (o OnlinePage) beats() reportView {
	return reportView{
		Report: o.Beats.Report, id: "beats", title: o.Text.T("online.beats.title"),
		charts:     []ui.Chart{{ID: "beats-chart", Label: o.Text.T("online.beats.chart"), Options: o.Beats.Options, Format: "count", Axis: "text"}},
		definition: o.Text.T("online.beats.definition"), basis: o.basis("", "", ""),
	}
}

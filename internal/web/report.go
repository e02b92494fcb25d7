package web

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/labstack/echo/v4"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/internal/job"
	"bitboard/views"
	"bitboard/views/text"
	"bitboard/views/ui"
)

// reporter is what the panels of a page ask with, each on its own.
type reporter struct {
	*server
	echo   echo.Context
	ctx    context.Context
	params *params
	text   *text.Printer
}

// newReporter returns the reporter of a page; cancel ends its questions.
func (s *server) newReporter(c echo.Context, p *params) (r reporter, cancel context.CancelFunc) {
	ctx, cancel := c.Request().Context(), context.CancelFunc(func() {})
	if job.RunOf(ctx) == nil { // who sees how far a job is can cancel it
		ctx, cancel = context.WithTimeout(ctx, panelTimeout)
	}
	return reporter{server: s, echo: c, ctx: ctx, params: p, text: printer(c)}, cancel
}

// failed is a panel that has nothing but its error.
func (r reporter) failed(err error) views.Report {
	return views.Report{Error: r.panelError(r.echo, err)}
}

// words puts a suspicion about a period into the reader's language.
func (r reporter) words(s cohort.Suspicion, g cohort.Granularity) string {
	if g == cohort.Daily {
		return ui.Suspect(r.text, string(s))
	}
	return ui.SuspectWithin(r.text, string(s))
}

// suspects are a metric's suspect periods in a range.
func (r reporter) suspects(metric string, g cohort.Granularity, days cohort.Range) (map[cohort.Day]cohort.Suspicion, error) {
	days.From = max(days.From, cohort.MinDay, days.To-cohort.MaxRangeDays+1)
	q := cohort.ActiveQuestion{Metric: metric, Range: days, Granularity: g, Window: 1, AsOf: r.params.today}
	a, err := r.Query.Active(r.ctx, q, r.params.opts)
	found := map[cohort.Day]cohort.Suspicion{}
	for _, pt := range a.Value {
		if pt.Suspect != "" {
			found[pt.Date] = pt.Suspect
		}
	}
	return found, err
}

// mark adds a reason that is not among the marks yet.
func mark(marks []string, s cohort.Suspicion) []string {
	if s == "" || slices.Contains(marks, string(s)) {
		return marks
	}
	return append(marks, string(s))
}

// drawn is the options of a chart, or an error that the panel shows.
func (r reporter) drawn(panel *views.Report, draw func([]string, ...chart.Series) (json.RawMessage, error), axis []string, series ...chart.Series) json.RawMessage {
	options, err := draw(axis, series...)
	if err != nil && panel.Error == "" {
		panel.Error = r.panelError(r.echo, err)
	}
	return options
}

// known is a day's rate, or nil when the day is missing: then it says nothing.
func known(rate *float64, s cohort.Suspicion) *float64 {
	if s == cohort.Missing {
		return nil
	}
	return rate
}

// rated is the point of a rate that may be undefined.
func rated(rate *float64, complete bool, suspect string) chart.Point {
	p := chart.Point{Known: rate != nil, Complete: complete, Suspect: suspect}
	if rate != nil {
		p.Value = *rate
	}
	return p
}

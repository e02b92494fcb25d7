package web

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/labstack/echo/v4"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
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
	ctx, cancel := context.WithTimeout(c.Request().Context(), panelTimeout)
	return reporter{server: s, echo: c, ctx: ctx, params: p, text: printer(c)}, cancel
}

// failed is a panel that has nothing but its error.
func (r reporter) failed(err error) views.Report {
	return views.Report{Error: r.panelError(r.echo, err)}
}

// words puts a suspicion into the reader's language.
func (r reporter) words(s cohort.Suspicion) string { return ui.Suspect(r.text, string(s)) }

// marksOf are the reasons among points, each once, in order of appearance.
func marksOf(points []cohort.Point) []string {
	var marks []string
	for _, p := range points {
		if p.Suspect != "" && !slices.Contains(marks, string(p.Suspect)) {
			marks = append(marks, string(p.Suspect))
		}
	}
	return marks
}

// drawn is the options of a chart, or an error that the panel shows.
func (r reporter) drawn(panel *views.Report, draw func([]string, ...chart.Series) (json.RawMessage, error), axis []string, series ...chart.Series) json.RawMessage {
	options, err := draw(axis, series...)
	if err != nil && panel.Error == "" {
		panel.Error = r.panelError(r.echo, err)
	}
	return options
}

// rated is the point of a rate that may be undefined.
func rated(rate *float64, complete bool, suspect string) chart.Point {
	p := chart.Point{Known: rate != nil, Complete: complete, Suspect: suspect}
	if rate != nil {
		p.Value = *rate
	}
	return p
}

// Package chart turns answers into the options of a chart, as JSON for the
// page's chart script. It sets what is drawn; colours, fonts and formatters
// are the script's, which knows the reader's theme and language.
package chart

import (
	"encoding/json"
	"fmt"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"bitboard/internal/cohort"
)

// Point is one value of a series.
type Point struct {
	// Value is a count, or a rate.
	Value float64
	// Known is false where there is no value: the line has a gap.
	Known bool
	// Complete is false while the period isn't over: what is drawn is dashed.
	Complete bool
	// Suspect says in the reader's language why the value may be too low;
	// empty when nothing speaks against it.
	Suspect string
}

// Series is one line, or one part of each bar: a point for each place on the
// axis, in order.
type Series struct {
	// Name stands in the legend and the tooltip, in the reader's language.
	Name   string
	Points []Point
	// Thin draws a line that others stand out from.
	Thin bool
	// Earlier are the days that the points of a line are really about, when the
	// axis names later ones that they are compared with; nil otherwise. Such lines
	// follow those that they are compared with, in the same order.
	Earlier []cohort.Day
}

// Counts returns an answer's points as a series of the same length, with a gap
// where a whole point is missing. Words puts a suspicion into the reader's language.
func Counts(name string, points []cohort.Point, words func(cohort.Suspicion) string) Series {
	s := Series{Name: name, Points: make([]Point, len(points))}
	for i, p := range points {
		s.Points[i] = Point{Value: float64(p.Count), Known: p.Suspect != cohort.Missing, Complete: p.Complete, Suspect: words(p.Suspect)}
	}
	return s
}

// Dates returns the axis of dates, which the script puts into the reader's words.
func Dates(days []cohort.Day) []string {
	axis := make([]string, len(days))
	for i, d := range days {
		axis[i] = d.String()
	}
	return axis
}

// suspectSymbol is also how the script knows the series of suspect points.
const suspectSymbol = "triangle"

// frame is what all charts have in common.
func frame() []charts.GlobalOpts {
	return []charts.GlobalOpts{
		charts.WithXAxisOpts(opts.XAxis{Type: "category"}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value"}),
		// Hidden: the script makes one of buttons, which a keyboard reaches.
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithGridOpts(opts.Grid{Left: "4", Right: "28", Top: "12", Bottom: "4", ContainLabel: opts.Bool(true)}),
	}
}

// fits reports series that do not have a point for each place on the axis.
func fits(axis []string, series []Series) error {
	for _, s := range series {
		if len(s.Points) != len(axis) || s.Earlier != nil && len(s.Earlier) != len(axis) {
			return fmt.Errorf("chart series %q has %d points for %d places", s.Name, len(s.Points), len(axis))
		}
	}
	return nil
}

// drawing is a chart of the library.
type drawing interface {
	Validate()
	JSON() map[string]any
}

// marshal returns a chart's options without what the library adds for pages of its own.
func marshal(d drawing) (json.RawMessage, error) {
	d.Validate()
	options := d.JSON()
	for _, unused := range []string{"title", "toolbox", "color"} {
		delete(options, unused)
	}
	// The stock tooltip writes style attributes, which a strict policy
	// refuses. The script replaces this by one built of elements.
	options["tooltip"] = map[string]any{"show": true, "trigger": "axis", "confine": true, "renderMode": "richText"}
	b, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("write chart options: %w", err)
	}
	return b, nil
}

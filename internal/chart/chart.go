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
	// Value is a count, or a rate of 0 to 1.
	Value float64
	// Known is false where there is no value: the line has a gap.
	Known bool
	// Complete is false while the period isn't over: the line is dashed.
	Complete bool
	// Suspect marks a value that may be too low because data are missing.
	Suspect bool
}

// Series is one line: a point for each date of the axis, in order.
type Series struct {
	// Name stands in the legend and the tooltip, in the reader's language.
	Name   string
	Points []Point
}

// Counts returns an answer's points as a series of the same length.
func Counts(name string, points []cohort.Point) Series {
	s := Series{Name: name, Points: make([]Point, len(points))}
	for i, p := range points {
		s.Points[i] = Point{Value: float64(p.Count), Known: true, Complete: p.Complete, Suspect: p.Suspect != ""}
	}
	return s
}

// Lines returns the options of a line chart over dates. A series' complete
// points are a solid line; its incomplete ones follow as a second, dashed
// series that starts at the last complete point; its suspect points follow as
// a third, of triangles without a line. All three have the same name, so that
// they are shown and hidden together. The same input gives the same bytes, safe
// inside a script element.
func Lines(dates []cohort.Day, series ...Series) (json.RawMessage, error) {
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "category"}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value"}),
		// Hidden: the script makes one of buttons, which a keyboard reaches.
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithGridOpts(opts.Grid{Left: "4", Right: "28", Top: "12", Bottom: "4", ContainLabel: opts.Bool(true)}),
	)
	line.SetXAxis(dates)
	for _, s := range series {
		if len(s.Points) != len(dates) {
			return nil, fmt.Errorf("chart series %q has %d points for %d dates", s.Name, len(s.Points), len(dates))
		}
		addLine(line, s)
	}
	return marshal(line)
}

// suspectSymbol is also how the script knows the series of suspect points.
const suspectSymbol = "triangle"

// addLine adds a series, with its dashed tail and its suspect points when it has them.
func addLine(line *charts.Line, s Series) {
	line.AddSeries(s.Name, solid(s.Points))
	if data, found := tail(s.Points); found {
		line.AddSeries(s.Name, data, charts.WithLineStyleOpts(opts.LineStyle{Type: "dashed"}))
	}
	if data, found := suspects(s.Points); found {
		line.AddSeries(s.Name, data, charts.WithLineChartOpts(opts.LineChart{Symbol: suspectSymbol}))
	}
}

// solid returns the complete points, with gaps for the others.
func solid(points []Point) []opts.LineData {
	data := make([]opts.LineData, len(points))
	for i, p := range points {
		if p.Known && p.Complete {
			data[i].Value = p.Value
		}
	}
	return data
}

// tail returns the incomplete points, each joined to a complete point just
// before it, which gets no symbol of its own.
func tail(points []Point) (data []opts.LineData, found bool) {
	data = make([]opts.LineData, len(points))
	for i, p := range points {
		if !p.Known || p.Complete {
			continue
		}
		found = true
		data[i].Value = p.Value
		if i > 0 && points[i-1].Known && points[i-1].Complete {
			data[i-1] = opts.LineData{Value: points[i-1].Value, Symbol: "none"}
		}
	}
	return data, found
}

// suspects returns the suspect points alone.
func suspects(points []Point) (data []opts.LineData, found bool) {
	data = make([]opts.LineData, len(points))
	for i, p := range points {
		if p.Known && p.Suspect {
			found = true
			data[i].Value = p.Value
		}
	}
	return data, found
}

// marshal returns a chart's options without what the library adds for pages of its own.
func marshal(line *charts.Line) (json.RawMessage, error) {
	line.Validate()
	options := line.JSON()
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

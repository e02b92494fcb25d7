package chart

import (
	"encoding/json"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"bitboard/internal/cohort"
)

// Lines returns the options of a line chart. A series' complete points are a
// solid line; its incomplete ones follow as a second, dashed series that starts
// at the last complete point; its suspect points follow as a third, of
// triangles without a line. All three have the same name, so that they are
// shown and hidden together. The same input gives the same bytes, safe inside a
// script element.
func Lines(axis []string, series ...Series) (json.RawMessage, error) {
	if err := fits(axis, series); err != nil {
		return nil, err
	}
	line := charts.NewLine()
	line.SetGlobalOptions(frame()...)
	line.SetXAxis(axis)
	for _, s := range series {
		addLine(line, s)
	}
	return marshal(line)
}

const (
	// thinWidth is also how the script knows a thin line.
	thinWidth = 1
	// earlierColor is how the script knows a line of earlier days.
	earlierColor = "grey"
)

// addLine adds a series, with its dashed tail and its suspect points when it has them.
func addLine(line *charts.Line, s Series) {
	style := opts.LineStyle{}
	if s.Thin {
		style.Width = thinWidth
	}
	if s.Earlier != nil {
		style.Color = earlierColor
	}
	line.AddSeries(s.Name, dated(solid(s.Points), s.Earlier), charts.WithLineStyleOpts(style))
	if data, found := tail(s.Points); found {
		style.Type = "dashed"
		line.AddSeries(s.Name, data, charts.WithLineStyleOpts(style))
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

// dated names each point by the day that it is about, if it is another than
// that of its place on the axis.
func dated(data []opts.LineData, days []cohort.Day) []opts.LineData {
	for i, d := range days {
		data[i].Name = d.String()
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

// suspects returns the suspect points alone, each named by its reason. One
// without a value is marked on the axis.
func suspects(points []Point) (data []opts.LineData, found bool) {
	data = make([]opts.LineData, len(points))
	for i, p := range points {
		if p.Suspect != "" {
			found = true
			data[i] = opts.LineData{Name: p.Suspect, Value: p.Value}
		}
	}
	return data, found
}

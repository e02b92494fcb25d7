package chart

import (
	"encoding/json"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// stack is the name of the one stack of bars.
const stack = "all"

// openOpacity is that of a period that isn't over, and how the script knows it
// and draws its border dashed.
const openOpacity = 0.35

// Bars returns the options of a bar chart whose series stand on each other;
// negative values hang below the axis. Incomplete points are a second series
// with a dashed border, and places where a point is suspect a last one of
// triangles on the axis.
func Bars(axis []string, series ...Series) (json.RawMessage, error) {
	if err := fits(axis, series); err != nil {
		return nil, err
	}
	bar := charts.NewBar()
	bar.SetGlobalOptions(frame()...)
	bar.SetXAxis(axis)
	marks := make([]Point, len(axis))
	for _, s := range series {
		addBar(bar, s)
		for i, p := range s.Points {
			if p.Suspect != "" {
				marks[i].Suspect = p.Suspect
			}
		}
	}
	if data, found := suspects(marks); found {
		line := charts.NewLine()
		line.AddSeries("", data, charts.WithLineChartOpts(opts.LineChart{Symbol: suspectSymbol}))
		bar.Overlap(line)
	}
	return marshal(bar)
}

// addBar adds a series, and its incomplete points when it has any.
func addBar(bar *charts.Bar, s Series) {
	over, open := make([]opts.BarData, len(s.Points)), make([]opts.BarData, len(s.Points))
	found := false
	for i, p := range s.Points {
		switch {
		case !p.Known:
		case p.Complete:
			over[i].Value = p.Value
		default:
			open[i].Value, found = p.Value, true
		}
	}
	stacked := charts.WithBarChartOpts(opts.BarChart{Stack: stack})
	bar.AddSeries(s.Name, over, stacked)
	if found {
		bar.AddSeries(s.Name, open, stacked, charts.WithItemStyleOpts(opts.ItemStyle{Opacity: opts.Float(openOpacity)}))
	}
}

package web

import (
	"strconv"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
)

func (b *engagementBuilder) stickiness() views.StickinessPanel {
	calendar := b.workspace.Calendar
	q := cohort.StickinessQuestion{Metric: b.metric, Range: b.days, Granularity: b.granularity, Filter: b.filter, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	if err != nil {
		return views.StickinessPanel{Report: b.failed(err)}
	}
	suspects, err := b.suspects(b.metric, b.granularity, b.days)
	if err != nil {
		return views.StickinessPanel{Report: b.failed(err)}
	}
	panel := views.StickinessPanel{Report: views.Report{CSV: b.csv("stickiness", "granularity", b.granularity.String())}}
	for _, start := range calendar.Periods(b.granularity, b.days, b.params.today) {
		panel.Marks = mark(panel.Marks, suspects[start])
		panel.Open = !calendar.Period(b.granularity, start).Complete(b.params.today)
	}
	exactly, atLeast := chart.Series{Name: b.text.T("stickiness.exactly")}, chart.Series{Name: b.text.T("stickiness.at_least")}
	var axis []string
	for _, pt := range a.Value {
		row := views.StickinessRow{
			Periods: pt.Periods, Exactly: b.people(pt.Exactly, q.ExactlyExpr(calendar, pt.Periods)),
			AtLeast: b.people(pt.AtLeast, q.AtLeastExpr(calendar, pt.Periods)),
		}
		panel.Unlinked = panel.Unlinked || row.Exactly.People == "" || row.AtLeast.People == ""
		panel.Rows = append(panel.Rows, row)
		axis = append(axis, strconv.Itoa(pt.Periods))
		exactly.Points = append(exactly.Points, chart.Point{Value: float64(pt.Exactly), Known: true, Complete: true})
		atLeast.Points = append(atLeast.Points, chart.Point{Value: float64(pt.AtLeast), Known: true, Complete: true})
	}
	panel.Options = b.drawn(&panel.Report, chart.Bars, axis, exactly)
	panel.AtLeast = b.drawn(&panel.Report, chart.Lines, axis, atLeast)
	return panel
}

func (b *engagementBuilder) recency() views.RecencyPanel {
	q := cohort.RecencyQuestion{Metric: b.metric, Filter: b.filter, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	if err != nil {
		return views.RecencyPanel{Report: b.failed(err)}
	}
	cat, err := b.Query.Catalogue(b.ctx)
	if err != nil {
		return views.RecencyPanel{Report: b.failed(err)}
	}
	span, _ := cat.Span(b.metric)
	panel := views.RecencyPanel{Report: views.Report{CSV: address("/api/v1/recency", "metric", b.metric, "filter", b.params.text("filter"), "as_of", b.params.asOfParam(), "format", "csv")}}
	all := int64(0)
	for _, pt := range a.Value {
		all += pt.Users
	}
	bars := chart.Series{Name: b.text.T("retention.size")}
	var axis []string
	exprs := q.Exprs(span.From)
	for i, pt := range a.Value {
		panel.Rows = append(panel.Rows, views.RecencyRow{Days: pt.Days, Users: b.people(pt.Users, exprs[i]), Share: share(pt.Users, all)})
		axis = append(axis, b.text.T("recency.group", "n", pt.Days))
		bars.Points = append(bars.Points, chart.Point{Value: float64(pt.Users), Known: true, Complete: true})
	}
	panel.Options = b.drawn(&panel.Report, chart.Bars, axis, bars)
	return panel
}

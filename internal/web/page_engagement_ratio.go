package web

import (
	"strconv"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
)

// ratios are the stickiness ratios of some days, nil where there is none, and
// the suspicions about them.
type ratios struct {
	points   []cohort.RatioPoint
	rates    map[cohort.Day]*float64
	suspects map[cohort.Day]cohort.Suspicion
}

// ratios asks for the ratios of some days; there are none of an empty range.
func (b *engagementBuilder) ratios(days cohort.Range) (ratios, error) {
	r := ratios{rates: map[cohort.Day]*float64{}}
	if days.Len() == 0 {
		return r, nil
	}
	q := cohort.RatioQuestion{Metric: b.metric, Range: days, Window: b.window, Filter: b.filter, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	if err != nil {
		return r, err
	}
	if r.suspects, err = b.suspects(b.metric, cohort.Daily, days); err != nil {
		return r, err
	}
	r.points = a.Value
	for _, pt := range a.Value {
		r.rates[pt.Date] = known(defined(pt.Ratio()), r.suspects[pt.Date])
	}
	return r, nil
}

func (b *engagementBuilder) ratio() views.RatioPanel {
	cat, err := b.Query.Catalogue(b.ctx)
	if err != nil {
		return views.RatioPanel{Report: b.failed(err)}
	}
	against := b.comparison(cat, b.compare, b.metric, b.days)
	now, err := b.ratios(b.days)
	if err != nil {
		return views.RatioPanel{Report: b.failed(err)}
	}
	before, err := b.ratios(against.earlier(b.days))
	if err != nil {
		return views.RatioPanel{Report: b.failed(err)}
	}
	panel := views.RatioPanel{Window: b.window, Report: views.Report{CSV: b.csv("stickiness-ratio", "window", strconv.Itoa(b.window))}}
	line := chart.Series{Name: b.text.T("ratio.ratio")}
	var dates []cohort.Day
	for _, pt := range now.points {
		suspect := now.suspects[pt.Date]
		row := b.ratioRow(pt, now.rates[pt.Date], suspect)
		panel.Marks = mark(panel.Marks, suspect)
		if b.compare != "" {
			row.Earlier = against.earlierRatio(before, pt.Date)
			panel.Marks = mark(panel.Marks, cohort.Suspicion(row.Earlier.Suspect))
		}
		panel.Rows = append(panel.Rows, row)
		dates, line.Points = append(dates, pt.Date), append(line.Points, rated(row.Ratio, pt.Complete, b.words(suspect, cohort.Daily)))
	}
	lines := []chart.Series{line}
	if b.compare != "" && len(dates) > 0 {
		shown := cohort.Range{From: dates[0], To: dates[len(dates)-1]}
		panel.Against = against.note(b.text, shown)
		if len(before.points) > 0 {
			lines = append(lines, b.earlierLine(against, before, dates, shown))
		}
	}
	panel.Options = b.drawn(&panel.Report, chart.Lines, chart.Dates(dates), lines...)
	return panel
}

func (b *engagementBuilder) ratioRow(pt cohort.RatioPoint, rate *float64, suspect cohort.Suspicion) views.RatioRow {
	day := cohort.ActiveQuestion{Metric: b.metric}
	return views.RatioRow{
		Day: pt.Date.String(), DAU: b.people(pt.DAU, day.Expr(cohort.Range{From: pt.Date, To: pt.Date})),
		MAU:   b.people(pt.MAU, day.Expr(cohort.Range{From: pt.Date - cohort.Day(b.window-1), To: pt.Date})),
		Ratio: rate, Complete: pt.Complete, Suspect: string(suspect),
	}
}

// earlierRatio is what the ratio of a day is compared with.
func (c comparison) earlierRatio(before ratios, d cohort.Day) *views.EarlierRatio {
	earlier := max(cohort.MinDay, d-c.shift)
	return &views.EarlierRatio{
		Day: earlier.String(), BeforeData: earlier < c.first, Ratio: before.rates[earlier], Suspect: string(before.suspects[earlier]),
	}
}

// earlierLine is the ratios that those of some days are compared with.
func (b *engagementBuilder) earlierLine(against comparison, before ratios, days []cohort.Day, shown cohort.Range) chart.Series {
	line := chart.Series{Name: against.name(b.text, shown), Earlier: against.against(days)}
	for _, d := range line.Earlier {
		line.Points = append(line.Points, rated(before.rates[d], true, b.words(before.suspects[d], cohort.Daily)))
	}
	return line
}

package web

import (
	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
)

func (b *engagementBuilder) lifecycle() views.LifecyclePanel {
	calendar := b.workspace.Calendar
	q := cohort.LifecycleQuestion{Metric: b.metric, Range: b.days, Granularity: b.granularity, Filter: b.filter, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	if err != nil {
		return views.LifecyclePanel{Report: b.failed(err)}
	}
	before := calendar.Add(b.granularity, calendar.Start(b.granularity, b.days.From), -1)
	suspects, err := b.suspects(b.metric, b.granularity, cohort.Range{From: before, To: b.days.To})
	if err != nil {
		return views.LifecyclePanel{Report: b.failed(err)}
	}
	panel := views.LifecyclePanel{Report: views.Report{CSV: b.csv("lifecycle", "granularity", b.granularity.String())}}
	for _, pt := range a.Value {
		e := q.Exprs(calendar, pt.Date)
		suspect := b.suspectWithBefore(suspects, pt.Date)
		panel.Rows = append(panel.Rows, views.LifecycleRow{
			Day: pt.Date.String(), New: b.people(pt.New, e.New), Returning: b.people(pt.Returning, e.Returning),
			Resurrected: b.people(pt.Resurrected, e.Resurrected), Dormant: b.people(pt.Dormant, e.Dormant),
			Pulse: b.pulse(pt, suspect), Complete: pt.Complete, Suspect: string(suspect),
		})
		panel.Marks = mark(panel.Marks, suspect)
	}
	b.drawLifecycle(&panel, a.Value, suspects)
	return panel
}

// suspectWithBefore is the suspicion about a period or, as its people are
// compared with those of the period before, about that one.
func (b *engagementBuilder) suspectWithBefore(suspects map[cohort.Day]cohort.Suspicion, start cohort.Day) cohort.Suspicion {
	if s := suspects[start]; s != "" {
		return s
	}
	return suspects[b.workspace.Calendar.Add(b.granularity, start, -1)]
}

// pulse is nil next to a missing day, and when nobody is dormant.
func (b *engagementBuilder) pulse(pt cohort.LifecyclePoint, suspect cohort.Suspicion) *float64 {
	pulse := defined(pt.Pulse())
	if b.granularity == cohort.Daily {
		return known(pulse, suspect)
	}
	return pulse
}

func (b *engagementBuilder) drawLifecycle(panel *views.LifecyclePanel, points []cohort.LifecyclePoint, suspects map[cohort.Day]cohort.Suspicion) {
	t := b.text
	dates := make([]cohort.Day, len(points))
	parts := make([]chart.Series, 4)
	for i, key := range []string{t.T("lifecycle.new"), t.T("lifecycle.returning"), t.T("lifecycle.resurrected"), t.T("lifecycle.dormant")} {
		parts[i].Name = key
	}
	pulse := chart.Series{Name: t.T("lifecycle.pulse")}
	for i, pt := range points {
		dates[i] = pt.Date
		suspect := b.suspectWithBefore(suspects, pt.Date)
		words := b.words(suspect, b.granularity)
		there := b.granularity != cohort.Daily || suspects[pt.Date] != cohort.Missing
		for part, n := range []int64{pt.New, pt.Returning, pt.Resurrected, -pt.Dormant} {
			parts[part].Points = append(parts[part].Points, chart.Point{Value: float64(n), Known: there, Complete: pt.Complete, Suspect: words})
		}
		pulse.Points = append(pulse.Points, rated(b.pulse(pt, suspect), pt.Complete, words))
	}
	panel.Options = b.drawn(&panel.Report, chart.Bars, chart.Dates(dates), parts...)
	panel.Pulse = b.drawn(&panel.Report, chart.Lines, chart.Dates(dates), pulse)
}

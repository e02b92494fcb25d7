package web

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/labstack/echo/v4"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
	"bitboard/views/ui"
)

// Ranges of an engagement page that was asked for none: so many periods back.
var engagementPeriods = map[cohort.Granularity]int{cohort.Daily: 28, cohort.Weekly: 8, cohort.Monthly: 6}

// mauWindows are the lengths of a month that the page offers, the default first.
var mauWindows = []int{monthWindow, defaultMAUWindow}

func (s *server) engagement(c echo.Context) error {
	p := s.pageParams(c)
	g := p.granularity()
	from := s.workspace.Calendar.Add(g, s.workspace.Calendar.Start(g, p.today), -engagementPeriods[g]+1)
	p.defaults("metric", s.firstDaily(), "from", from.String(), "to", p.today.String())
	b := &engagementBuilder{metric: p.metric("metric"), granularity: g, days: p.days(), window: p.number("window", monthWindow, 1, cohort.MaxWindow)}
	if p.err == nil {
		p.fail(b.days.Check())
	}
	e := views.EngagementPage{Page: s.page(c, p.today), Form: s.engagementForm(p, b)}
	if p.err != nil {
		return render(c, http.StatusOK, views.Engagement(e))
	}
	e.Notices = append(e.Notices, s.staleNotice(c, p)...)
	r, cancel := s.newReporter(c, p)
	defer cancel()
	b.reporter = r
	var panels sync.WaitGroup
	panels.Go(func() { e.Lifecycle = b.lifecycle() })
	panels.Go(func() { e.Stickiness = b.stickiness() })
	panels.Go(func() { e.Ratio = b.ratio() })
	panels.Go(func() { e.Recency = b.recency() })
	panels.Wait()
	e.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Engagement(e))
}

func (s *server) engagementForm(p *params, b *engagementBuilder) views.EngagementForm {
	f := views.EngagementForm{
		Metrics: s.dailyMetrics(p.text("metric")), Granularity: b.granularity.String(), From: p.text("from"), To: p.text("to"), Problem: p.problem(),
	}
	if p.err == nil {
		f.From, f.To = b.days.From.String(), b.days.To.String()
	}
	for _, n := range mauWindows {
		f.Windows = append(f.Windows, ui.Choice{Value: strconv.Itoa(n), Label: strconv.Itoa(n), Current: n == b.window})
	}
	return f
}

// engagementBuilder fills the panels of one page, each on its own.
type engagementBuilder struct {
	reporter
	metric      string
	granularity cohort.Granularity
	days        cohort.Range
	window      int // of a month, in days
}

// csv is the URL of a report over the range as a file.
func (b *engagementBuilder) csv(report string, pairs ...string) string {
	return address("/api/v1/"+report, append(pairs, "metric", b.metric, "from", b.days.From.String(), "to", b.days.To.String(),
		"as_of", b.params.asOfParam(), "format", "csv")...)
}

// periods are the users of each period, which say what is suspect.
func (b *engagementBuilder) periods(g cohort.Granularity) ([]cohort.Point, error) {
	q := cohort.ActiveQuestion{Metric: b.metric, Range: b.days, Granularity: g, Window: 1, AsOf: b.params.today}
	a, err := b.Query.Active(b.ctx, q, b.params.opts)
	return a.Value, err
}

func (b *engagementBuilder) lifecycle() views.LifecyclePanel {
	calendar := b.workspace.Calendar
	q := cohort.LifecycleQuestion{Metric: b.metric, Range: b.days, Granularity: b.granularity, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	if err != nil {
		return views.LifecyclePanel{Report: b.failed(err)}
	}
	users, err := b.periods(b.granularity)
	if err != nil {
		return views.LifecyclePanel{Report: b.failed(err)}
	}
	panel := views.LifecyclePanel{Report: views.Report{CSV: b.csv("lifecycle", "granularity", b.granularity.String()), Marks: marksOf(users)}}
	for i, pt := range a.Value {
		e := q.Exprs(calendar, pt.Date)
		panel.Rows = append(panel.Rows, views.LifecycleRow{
			Day: pt.Date.String(), New: b.params.people(pt.New, e.New), Returning: b.params.people(pt.Returning, e.Returning),
			Resurrected: b.params.people(pt.Resurrected, e.Resurrected), Dormant: b.params.people(pt.Dormant, e.Dormant),
			Pulse: defined(pt.Pulse()), Complete: pt.Complete, Suspect: string(users[i].Suspect),
		})
	}
	b.drawLifecycle(&panel, a.Value, users)
	return panel
}

func (b *engagementBuilder) drawLifecycle(panel *views.LifecyclePanel, points []cohort.LifecyclePoint, users []cohort.Point) {
	t := b.text
	dates := make([]cohort.Day, len(points))
	parts := make([]chart.Series, 4)
	for i, key := range []string{t.T("lifecycle.new"), t.T("lifecycle.returning"), t.T("lifecycle.resurrected"), t.T("lifecycle.dormant")} {
		parts[i].Name = key
	}
	pulse := chart.Series{Name: t.T("lifecycle.pulse")}
	for i, pt := range points {
		dates[i] = pt.Date
		suspect := b.words(users[i].Suspect)
		for part, n := range []int64{pt.New, pt.Returning, pt.Resurrected, -pt.Dormant} {
			parts[part].Points = append(parts[part].Points, chart.Point{Value: float64(n), Known: true, Complete: pt.Complete, Suspect: suspect})
		}
		pulse.Points = append(pulse.Points, rated(defined(pt.Pulse()), pt.Complete, suspect))
	}
	panel.Options = b.drawn(&panel.Report, chart.Bars, chart.Dates(dates), parts...)
	panel.Pulse = b.drawn(&panel.Report, chart.Lines, chart.Dates(dates), pulse)
}

func (b *engagementBuilder) ratio() views.RatioPanel {
	q := cohort.RatioQuestion{Metric: b.metric, Range: b.days, Window: b.window, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	if err != nil {
		return views.RatioPanel{Report: b.failed(err)}
	}
	users, err := b.periods(cohort.Daily)
	if err != nil {
		return views.RatioPanel{Report: b.failed(err)}
	}
	panel := views.RatioPanel{
		Window: b.window, Report: views.Report{CSV: b.csv("stickiness-ratio", "window", strconv.Itoa(b.window)), Marks: marksOf(users)},
	}
	line := chart.Series{Name: b.text.T("ratio.ratio")}
	var dates []cohort.Day
	day := cohort.ActiveQuestion{Metric: b.metric}
	for i, pt := range a.Value {
		ratio := defined(pt.Ratio())
		panel.Rows = append(panel.Rows, views.RatioRow{
			Day: pt.Date.String(), DAU: b.params.people(pt.DAU, day.Expr(cohort.Range{From: pt.Date, To: pt.Date})),
			MAU:   b.params.people(pt.MAU, day.Expr(cohort.Range{From: pt.Date - cohort.Day(b.window-1), To: pt.Date})),
			Ratio: ratio, Complete: pt.Complete, Suspect: string(users[i].Suspect),
		})
		dates, line.Points = append(dates, pt.Date), append(line.Points, rated(ratio, pt.Complete, b.words(users[i].Suspect)))
	}
	panel.Options = b.drawn(&panel.Report, chart.Lines, chart.Dates(dates), line)
	return panel
}

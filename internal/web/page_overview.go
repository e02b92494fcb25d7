package web

import (
	"cmp"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
	"bitboard/views/ui"
)

const (
	weekWindow  = 7
	monthWindow = 28
	// overviewDays is the range of an overview that was asked for none.
	overviewDays = 28
	// trendDays is the length of a head number's small line.
	trendDays = 28
)

func (s *server) overview(c echo.Context) error {
	p := s.pageParams(c)
	p.defaults("metric", s.firstDaily())
	pick, compare := p.pickRange(cohort.Daily, overviewDays), p.comparison()
	if to := pick.renamed(c.Request().URL); to != "" {
		return moved(c, to)
	}
	o := views.OverviewPage{Page: s.page(c, p.today)}
	cat, err := s.Query.Catalogue(c.Request().Context())
	if err != nil {
		return err
	}
	if o.Empty = s.dataSpan(cat, cohort.MaxDay).Len() == 0; o.Empty {
		return render(c, http.StatusOK, views.Overview(o))
	}
	span := s.dataSpan(cat, p.today)
	o.Notices = append(o.Notices, s.staleNotice(c, p)...)
	metric, days, filter := p.metric("metric"), pick.days, p.filter()
	if p.err == nil {
		p.fail(days.Check())
	}
	o.Form = views.OverviewForm{Metrics: s.dailyMetrics(p.text("metric")), From: p.text("from"), To: p.text("to"), Filter: p.text("filter"), Ready: p.readyFilters(), Problem: p.problem()}
	o.Range = p.picker(c.Request().URL, pick)
	p.offer(&o.Range, c.Request().URL, compare)
	if p.err != nil {
		metric, days, filter = s.firstDaily(), cohort.Range{From: p.today - overviewDays + 1, To: p.today}, nil
		p.narrowed = ""
		p.values.Del("filter")
	} else {
		o.Form.From, o.Form.To = days.From.String(), days.To.String()
	}
	r, cancel := s.newReporter(c, p)
	defer cancel()
	b := &overviewBuilder{reporter: r, metric: metric, filter: filter, compare: compare, span: span, last: max(cohort.MinDay+1, min(days.To, p.today-1))}
	b.fill(&o, days)
	o.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Overview(o))
}

// dataSpan is the days up to a day on which any daily metric has data; empty
// when there are none. A row dated in the future says nothing about how new
// the data are.
func (s *server) dataSpan(cat *cohort.Catalogue, until cohort.Day) cohort.Range {
	span := cohort.Range{From: cohort.MaxDay, To: cohort.MinDay}
	for _, m := range s.workspace.Metrics {
		if days := cat.Days(m.Name, cohort.Range{From: cohort.MinDay, To: until}); m.HasDays() && len(days) > 0 {
			span = cohort.Range{From: min(span.From, days[0]), To: max(span.To, days[len(days)-1])}
		}
	}
	return span
}

// overviewBuilder fills the panels of one page, each on its own.
type overviewBuilder struct {
	reporter
	metric string
	filter cohort.Set // nil keeps all
	// compare is the earlier days that the trend's are compared with.
	compare cohort.Comparison
	span    cohort.Range // of all data
	last    cohort.Day   // that the head numbers are about: the range's last complete one
}

// fill asks for all parts of the page side by side.
func (b *overviewBuilder) fill(o *views.OverviewPage, days cohort.Range) {
	e := &engagementBuilder{reporter: b.reporter, metric: b.metric, granularity: cohort.Daily, days: days, filter: b.filter}
	var panels sync.WaitGroup
	panels.Go(func() { o.DAU = b.countFact(1) })
	panels.Go(func() { o.WAU = b.countFact(weekWindow) })
	panels.Go(func() { o.MAU = b.countFact(monthWindow) })
	panels.Go(func() { o.Stickiness = b.stickiness() })
	panels.Go(func() { o.NextDay = b.nextDay() })
	panels.Go(func() { o.Active = b.activePanel(days) })
	panels.Go(func() { o.Return = b.returnPanel(days) })
	panels.Go(func() { o.Lifecycle = e.lifecycle() })
	panels.Wait()
}

// people is a number with those of an expression's people whom the filter keeps.
func (b *overviewBuilder) people(count int64, expr string) ui.Number {
	return b.params.people(count, b.params.filtered(expr))
}

// day puts a suspicion about one day into the reader's language.
func (b *overviewBuilder) day(s cohort.Suspicion) string { return b.words(s, cohort.Daily) }

func (b *overviewBuilder) active(window int, days cohort.Range) (query.Answer[[]cohort.Point], cohort.ActiveQuestion, error) {
	q := cohort.ActiveQuestion{Metric: b.metric, Range: days, Window: window, Filter: b.filter, AsOf: b.params.today}
	a, err := b.Query.Active(b.ctx, q, b.params.opts)
	return a, q, err
}

func (b *overviewBuilder) returnPanel(days cohort.Range) views.ReturnPanel {
	a, q, err := b.retention(days)
	if err != nil {
		return views.ReturnPanel{Report: b.failed(err)}
	}
	suspects, err := b.suspects(b.metric, cohort.Daily, cohort.Range{From: days.From, To: max(days.To, min(days.To+1, b.params.today))})
	if err != nil {
		return views.ReturnPanel{Report: b.failed(err)}
	}
	panel := views.ReturnPanel{Report: views.Report{
		CSV: address("/api/v1/retention", "start", b.metric, "cohorts", "any", "periods", "1",
			"from", days.From.String(), "to", days.To.String(), "filter", b.params.text("filter"), "as_of", b.params.asOfParam(), "format", "csv"),
	}}
	var dates []cohort.Day
	line := chart.Series{Name: b.text.T("overview.next_day")}
	for _, row := range a.Value.Rows {
		if len(row.Cells) < 2 { // the next day has not begun
			break
		}
		cell, suspect := row.Cells[1], cmp.Or(suspects[row.Date], suspects[row.Date+1])
		rate := known(share(cell.Count, row.Size), suspect)
		panel.Rows = append(panel.Rows, views.ReturnRow{
			Day: row.Date.String(), Of: b.people(row.Size, q.MembersExpr(b.workspace.Calendar, row.Date)),
			Kept: b.people(cell.Count, q.CellExpr(b.workspace.Calendar, row.Date, nextDayCell)), Rate: rate, Complete: cell.Complete,
			Suspect: string(suspect),
		})
		panel.Marks = mark(panel.Marks, suspect)
		dates, line.Points = append(dates, row.Date), append(line.Points, rated(rate, cell.Complete, b.day(suspect)))
	}
	panel.Options = b.drawn(&panel.Report, chart.Lines, chart.Dates(dates), line)
	return panel
}

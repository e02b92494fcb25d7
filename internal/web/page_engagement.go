package web

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
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
	p.defaults("metric", s.firstDaily())
	pick := p.pickRange(g, engagementPeriods[g])
	if to := pick.renamed(c.Request().URL); to != "" {
		return moved(c, to)
	}
	b := &engagementBuilder{
		metric: p.metric("metric"), granularity: g, days: pick.days, window: p.number("window", monthWindow, 1, cohort.MaxWindow), filter: p.filter(),
		compare: p.comparison(),
	}
	if p.err == nil {
		p.fail(b.days.Check())
	}
	e := views.EngagementPage{Page: s.page(c, p.today), Form: s.engagementForm(p, b), Range: p.picker(c.Request().URL, pick)}
	p.offer(&e.Range, c.Request().URL, b.compare)
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
		Metrics: s.dailyMetrics(p.text("metric")), Granularity: b.granularity.String(), From: p.text("from"), To: p.text("to"),
		Filter: p.text("filter"), Ready: p.readyFilters(), Problem: p.problem(),
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
	window      int        // of a month, in days
	filter      cohort.Set // nil keeps all
	// compare is the earlier days that those of the ratio are compared with.
	compare cohort.Comparison
}

// csv is the URL of a report over the range as a file.
func (b *engagementBuilder) csv(report string, pairs ...string) string {
	return address("/api/v1/"+report, append(pairs, "metric", b.metric, "from", b.days.From.String(), "to", b.days.To.String(),
		"filter", b.params.text("filter"), "as_of", b.params.asOfParam(), "format", "csv")...)
}

// people is a number with those of an expression's people whom the filter keeps.
func (b *engagementBuilder) people(count int64, expr string) ui.Number {
	return b.params.people(count, b.params.filtered(expr))
}

package web

import (
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
	"bitboard/views/ui"
)

const comparePath = "/cohorts/compare"

// compareParams are the groups that are compared; the last may be absent.
var compareParams = []string{"a", "b", "c"}

// group is one of the groups that are compared.
type group struct {
	query.People
	letter, title string
}

func (s *server) compare(c echo.Context) error {
	p := s.pageParams(c)
	g := p.granularity()
	pick := p.pickRange(g, retentionPeriods[g])
	if to := pick.renamed(c.Request().URL); to != "" {
		return moved(c, to)
	}
	all, err := s.Store.SavedCohorts(c.Request().Context())
	if err != nil {
		return err
	}
	if a, b := s.readyGroups(all); p.text("a") == "" && p.text("b") == "" {
		p.defaults("a", a, "b", b)
	}
	p.defaults("metric", s.firstDaily())
	groups := p.groups(all)
	q := cohort.RetentionQuestion{
		Start: p.metric("metric"), Range: p.days(), Granularity: g, Periods: defaultPeriods, Membership: cohort.AnyTime, AsOf: p.today,
	}
	q.Return = q.Start
	if p.err == nil {
		p.fail(q.Check(s.workspace))
	}
	page := views.ComparePage{Page: s.page(c, p.today), Form: s.compareForm(p, all), Range: p.picker(c.Request().URL, pick)}
	if p.err == nil {
		r, cancel := s.newReporter(c, p)
		defer cancel()
		var panels sync.WaitGroup
		panels.Go(func() { page.Overlap = r.overlap(groups) })
		panels.Go(func() { page.Retention = r.retentionOf(groups, q) })
		panels.Wait()
	}
	page.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Compare(page))
}

// readyGroups are the groups of a page that was asked for none: the first two saved
// cohorts, or the flags of the ready example.
func (s *server) readyGroups(all cohort.SavedCohorts) (a, b string) {
	if saved := all.List(); len(saved) > 1 {
		return reference(saved[0].Name), reference(saved[1].Name)
	}
	var flags []cohort.Metric
	for _, m := range s.workspace.Metrics {
		if m.Kind == cohort.KindFlag {
			flags = append(flags, m)
		}
	}
	return readyPair(flags)
}

// groups reads the groups; the third is left out when it is not given.
func (p *params) groups(all cohort.SavedCohorts) []group {
	var groups []group
	for i, name := range compareParams {
		if name == "c" && p.text(name) == "" {
			continue
		}
		g := group{People: p.expr(name), letter: strings.ToUpper(compareParams[i])}
		if p.err != nil {
			return nil
		}
		if g.title = g.String(); isReference(g.title) {
			g.title = all[g.Cohorts()[0]].Title
		}
		groups = append(groups, g)
	}
	return groups
}

func (s *server) compareForm(p *params, all cohort.SavedCohorts) views.CompareForm {
	f := views.CompareForm{
		A: p.text("a"), B: p.text("b"), C: p.text("c"), Metrics: s.dailyMetrics(p.text("metric")), Granularity: p.text("granularity"),
		From: p.text("from"), To: p.text("to"), Ready: s.readyExprs(all), Problem: p.problem(),
	}
	if f.Granularity == "" {
		f.Granularity = cohort.Daily.String()
	}
	return f
}

// readyExprs are expressions that fields offer: the saved cohorts, then the flags.
func (s *server) readyExprs(all cohort.SavedCohorts) []ui.Choice {
	var ready []ui.Choice
	for _, saved := range all.List() {
		ready = append(ready, ui.Choice{Value: reference(saved.Name), Label: saved.Title})
	}
	for _, m := range s.workspace.Metrics {
		if m.Kind == cohort.KindFlag {
			ready = append(ready, ui.Choice{Value: m.Name, Label: m.Title})
		}
	}
	return ready
}

// readyFilters are the expressions that a page can be narrowed by at once. Those
// that cannot be read are not offered; what needs the store says that it is away.
func (p *params) readyFilters() []ui.Choice {
	all, _ := p.server.Store.SavedCohorts(p.ctx)
	return p.server.readyExprs(all)
}

// retentionOf asks for the retention of each of the groups.
func (r reporter) retentionOf(groups []group, q cohort.RetentionQuestion) views.ComparedRetention {
	panel := views.ComparedRetention{From: q.Range.From.String(), To: min(q.Range.To, q.AsOf).String()}
	var axis []string
	for _, column := range q.Columns() {
		axis = append(axis, views.ColumnName(r.text, q.Granularity.String(), column.String()))
	}
	panel.Columns = axis
	lines := make([]chart.Series, len(groups))
	for i, g := range groups {
		row, err := r.retentionRow(g, q)
		if err != nil {
			return views.ComparedRetention{Report: r.failed(err)}
		}
		panel.Rows = append(panel.Rows, row)
		lines[i].Name = views.GroupName(row.Letter, row.Title)
		for _, average := range row.Averages {
			lines[i].Points = append(lines[i].Points, rated(average.Rate, true, ""))
		}
	}
	suspects, err := r.suspects(q.Start, q.Granularity, q.Range)
	if err != nil {
		return views.ComparedRetention{Report: r.failed(err)}
	}
	for _, s := range suspects {
		panel.Marks = mark(panel.Marks, s)
	}
	panel.Options = r.drawn(&panel.Report, chart.Lines, axis, lines...)
	return panel
}

// retentionRow asks for the retention of a group's members, and how many of them
// were there in the range.
func (r reporter) retentionRow(g group, q cohort.RetentionQuestion) (views.ComparedRow, error) {
	q.Filter = g.Set
	a, err := query.Ask(r.ctx, r.Query, q, r.params.opts)
	if err != nil {
		return views.ComparedRow{}, err
	}
	active := cohort.ActiveQuestion{Metric: q.Start}.Expr(q.Range)
	there, err := r.Query.Parse(r.ctx, "("+g.String()+") & "+active, q.AsOf)
	if err != nil {
		return views.ComparedRow{}, err
	}
	sizes, err := r.Query.Sizes(r.ctx, []cohort.Set{there.Set}, r.params.opts)
	if err != nil {
		return views.ComparedRow{}, err
	}
	row := views.ComparedRow{
		Letter: g.letter, Title: g.title, Users: r.params.people(sizes.Value[0], there.String()),
		URL: address("/retention", "start", q.Start, "granularity", q.Granularity.String(), "cohorts", q.Membership.String(),
			"from", q.Range.From.String(), "to", q.Range.To.String(), "filter", g.String(), "as_of", r.params.asOfParam()),
	}
	for _, average := range a.Value.Averages {
		row.Averages = append(row.Averages, views.RetentionAverage{Rate: defined(average.Rate, average.Cohorts > 0), Cohorts: average.Cohorts})
	}
	return row, nil
}

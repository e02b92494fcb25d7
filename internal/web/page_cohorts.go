package web

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/views"
)

func (s *server) cohorts(c echo.Context) error {
	p := s.pageParams(c)
	if p.text("rows") != "" {
		return s.rowsForm(c, p)
	}
	page := s.cohortsPage(c, p)
	page.Notices = append(page.Notices, savedNotices(c, p)...)
	if err := s.openSaved(c, p, &page); err != nil {
		return err
	}
	s.showRows(c, p, &page)
	if page.Expr != "" {
		var err error
		if page.Result, err = s.cohortResult(c, p); err == nil {
			err = s.countRows(c, p, &page)
		}
		if err != nil {
			page.Problem, page.Error = s.problemOf(c, err)
		}
	}
	if page.Save == nil && page.Result != nil && !isReference(page.Result.Expr) {
		page.Save = &views.SaveForm{}
	}
	if page.Save != nil {
		page.Save.URL = address("/cohorts", "as_of", p.asOfParam())
	}
	page.Saved = s.savedList(c, p)
	page.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Cohorts(page))
}

// cohortsPage is the page before anything is counted.
func (s *server) cohortsPage(c echo.Context, p *params) views.CohortsPage {
	page := views.CohortsPage{Page: s.page(c, p.today), Expr: p.text("expr"), Examples: s.examples(c, p)}
	for _, m := range s.workspace.Metrics {
		name := views.MetricName{Name: m.Name, Title: m.Title}
		if m.HasDays() {
			page.Days = append(page.Days, name)
		} else {
			page.Flags = append(page.Flags, name)
		}
	}
	return page
}

func (s *server) cohortResult(c echo.Context, p *params) (*views.CohortResult, error) {
	people := p.expr("expr")
	if p.err != nil {
		return nil, p.err
	}
	ctx := c.Request().Context()
	size, err := s.Query.Size(ctx, people.Set, p.opts)
	if err != nil {
		return nil, err
	}
	if err := s.audit(c, Export, people.Meaning); err != nil {
		return nil, err
	}
	r := &views.CohortResult{
		Expr: people.String(), Count: size.Value.Count, Known: size.Value.Known,
		Compare: address(comparePath, "a", people.String(), "b", s.otherGroup(people.String()), "as_of", p.asOfParam()),
		CSV:     address("/api/v1/cohorts/members.csv", "expr", people.String(), "as_of", p.asOfParam()),
	}
	first, err := s.preview(ctx, people.Set, p)
	if err != nil {
		return r, err
	}
	r.Size = first.size(r.Count)
	for _, id := range first.members {
		r.Members = append(r.Members, views.Member{ID: id, URL: address("/users", "id", id, "as_of", p.asOfParam())})
	}
	return r, nil
}

// examples are ready expressions over the metrics that there are.
func (s *server) examples(c echo.Context, p *params) []views.CohortExample {
	t := printer(c)
	var flags, days []cohort.Metric
	for _, m := range s.workspace.Metrics {
		switch m.Kind {
		case cohort.KindFlag:
			flags = append(flags, m)
		case cohort.KindDaily:
			days = append(days, m)
		}
	}
	var examples []views.CohortExample
	add := func(expr, key string, pairs ...string) {
		examples = append(examples, views.CohortExample{Expr: expr, Meaning: t.T(key, pairs...), URL: address("/cohorts", "expr", expr, "as_of", p.asOfParam())})
	}
	if a, b := readyPair(flags); b != "" {
		add(a+" - "+b, "cohorts.example.minus", "a", s.title(a), "b", s.title(b))
	}
	if len(days) > 0 {
		d := days[0].Name
		add(d+"@yesterday", "cohorts.example.yesterday", "a", s.title(d))
		add(d+"@today-13d..today-7d - "+d+"@today-6d..today", "cohorts.example.lost", "a", s.title(d))
		add("!"+d+"@today-29d..today", "cohorts.example.never", "a", s.title(d))
	}
	return examples
}

// readyPair is the two flags of the ready example: activated and exposed
// where they exist, otherwise the first two.
func readyPair(flags []cohort.Metric) (a, b string) {
	has := func(name string) bool {
		return slices.ContainsFunc(flags, func(m cohort.Metric) bool { return m.Name == name })
	}
	switch {
	case has("activated") && has("exposed"):
		return "activated", "exposed"
	case len(flags) >= 2:
		return flags[0].Name, flags[1].Name
	}
	return "", ""
}

func (s *server) title(metric string) string {
	m, _ := s.workspace.Metric(metric)
	return m.Title
}

// otherGroup is what an expression is compared with at first: the first flag that
// is another one.
func (s *server) otherGroup(expr string) string {
	for _, m := range s.workspace.Metrics {
		if m.Kind == cohort.KindFlag && m.Name != expr {
			return m.Name
		}
	}
	return "!(" + expr + ")"
}

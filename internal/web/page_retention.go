package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
)

// Ranges of a retention table that was asked for none: so many periods back.
var retentionPeriods = map[cohort.Granularity]int{cohort.Daily: 14, cohort.Weekly: 8, cohort.Monthly: 6}

func (s *server) retention(c echo.Context) error {
	p := s.pageParams(c)
	for _, name := range []string{"brackets", "filter"} {
		p.values.Del(name) // the page's columns are periods, and its links are about all people
	}
	g := p.granularity()
	from := s.workspace.Calendar.Start(g, p.today)
	from = s.workspace.Calendar.Add(g, from, -retentionPeriods[g]+1)
	metric := s.firstDaily()
	p.defaults("start", metric, "return", p.text("start"), "from", from.String(), "to", p.today.String(), "periods", strconv.Itoa(defaultPeriods))
	p.defaults("return", p.text("start"))
	q := p.retention()
	r := views.RetentionPage{Page: s.page(c, p.today), Form: s.retentionForm(p, q)}
	if p.err == nil {
		r.Notices = append(r.Notices, s.staleNotice(c, p)...)
		a, err := query.Ask(c.Request().Context(), s.Query, q, p.opts)
		if err == nil {
			r.Table, err = s.retentionTable(c, p, q, a.Value)
		}
		if err != nil {
			r.Form.Problem, r.Error = s.problemOf(c, err)
		}
	}
	r.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Retention(r))
}

func (s *server) retentionForm(p *params, q cohort.RetentionQuestion) views.RetentionForm {
	f := views.RetentionForm{
		Starts: s.dailyMetrics(p.text("start")), Returns: s.dailyMetrics(p.text("return")),
		Granularity: q.Granularity.String(), Cohorts: q.Membership.String(), Returning: q.Returning.String(),
		From: p.text("from"), To: p.text("to"), Periods: p.text("periods"), Show: p.choice("show", "percent", "count"),
		Problem: p.problem(),
	}
	if p.err == nil { // relative dates become those that a date field can show
		f.From, f.To = q.Range.From.String(), q.Range.To.String()
	}
	return f
}

func (s *server) retentionTable(c echo.Context, p *params, q cohort.RetentionQuestion, a cohort.Retention) (views.RetentionTable, error) {
	cat, err := s.Query.Catalogue(c.Request().Context())
	if err != nil {
		return views.RetentionTable{}, err
	}
	t := views.RetentionTable{CSV: retentionCSV(p, q)}
	for n := range q.Periods + 1 {
		t.Periods = append(t.Periods, n)
	}
	for _, row := range a.Rows {
		t.Rows = append(t.Rows, s.retentionRow(cat, p, q, row))
	}
	for _, v := range a.Averages {
		t.Average = append(t.Average, views.RetentionAverage{Rate: defined(v.Rate, v.Cohorts > 0), Cohorts: v.Cohorts})
	}
	if n := len(a.Rows); n > 0 {
		last := s.workspace.Calendar.Period(q.Granularity, a.Rows[n-1].Date)
		t.From, t.To = a.Rows[0].Date.String(), last.To.String()
	}
	return t, nil
}

func (s *server) retentionRow(cat *cohort.Catalogue, p *params, q cohort.RetentionQuestion, row cohort.CohortRow) views.RetentionRow {
	calendar := s.workspace.Calendar
	r := views.RetentionRow{
		Day: row.Date.String(), Size: p.people(row.Size, q.MembersExpr(calendar, row.Date)),
		Complete: calendar.Period(q.Granularity, row.Date).Complete(q.AsOf),
		Cells:    make([]views.RetentionCell, q.Periods+1),
	}
	for n := range r.Cells {
		if n >= len(row.Cells) {
			r.Cells[n].State = views.CellNotYet
			continue
		}
		cell := row.Cells[n]
		period := calendar.Period(q.Granularity, calendar.Add(q.Granularity, row.Date, n))
		r.Cells[n] = views.RetentionCell{
			Number: p.people(cell.Count, q.CellExpr(calendar, row.Date, cell.Bracket)), Rate: share(cell.Count, row.Size),
		}
		switch {
		case !cell.Complete:
			r.Cells[n].State = views.CellInProgress
		case unrecorded(cat, q, period):
			r.Cells[n].State = views.CellNoData
		}
	}
	return r
}

// unrecorded reports whether nothing was stored of the return metric in a
// period after its first day: nobody can tell whether nobody came.
func unrecorded(cat *cohort.Catalogue, q cohort.RetentionQuestion, period cohort.Range) bool {
	span, ok := cat.Span(q.Return)
	return q.Returning == cohort.OnPeriod && ok && period.From >= span.From && len(cat.Days(q.Return, period)) == 0
}

func retentionCSV(p *params, q cohort.RetentionQuestion) string {
	return address("/api/v1/retention", "start", q.Start, "return", q.Return, "from", q.Range.From.String(), "to", q.Range.To.String(),
		"granularity", q.Granularity.String(), "periods", strconv.Itoa(q.Periods), "cohorts", q.Membership.String(),
		"returning", q.Returning.String(), "as_of", p.asOfParam(), "format", "csv")
}

package web

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/query"
	"bitboard/views"
)

// Ranges of a retention table that was asked for none: so many periods back.
var retentionPeriods = map[cohort.Granularity]int{cohort.Daily: 14, cohort.Weekly: 8, cohort.Monthly: 6}

// followedColumns are the columns shown over time when none were asked for.
var followedColumns = map[cohort.Granularity]string{cohort.Daily: "1,7,30", cohort.Weekly: "1,4,12", cohort.Monthly: "1,3,6"}

func (s *server) retention(c echo.Context) error {
	p := s.pageParams(c)
	g := p.granularity()
	pick := p.pickRange(g, retentionPeriods[g])
	if to := pick.renamed(c.Request().URL); to != "" {
		return moved(c, to)
	}
	p.defaults("start", s.firstDaily(), "periods", strconv.Itoa(defaultPeriods), "columns", followedColumns[g])
	p.defaults("return", p.text("start"))
	q, columns := p.retention(), p.columns()
	if p.err == nil {
		p.fail(q.Check(s.workspace))
	}
	page := views.RetentionPage{Page: s.page(c, p.today), Form: s.retentionForm(p, q), Range: p.picker(c.Request().URL, pick)}
	if p.err == nil {
		page.Notices = append(page.Notices, s.staleNotice(c, p)...)
		s.retentionPanels(c, p, q, columns, &page)
	}
	page.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Retention(page))
}

// retentionPanels fills the table with its curves and the columns over time,
// each on its own.
func (s *server) retentionPanels(c echo.Context, p *params, q cohort.RetentionQuestion, columns []cohort.Bracket, page *views.RetentionPage) {
	r, cancel := s.newReporter(c, p)
	defer cancel()
	var panels sync.WaitGroup
	panels.Go(func() {
		b := &retentionBuilder{reporter: r, q: q, previous: page.Form.Show == "previous"}
		page.Table, page.Curves = b.tableAndCurves()
	})
	panels.Go(func() {
		b := &retentionBuilder{reporter: r, q: s.followed(q, columns), only: columns}
		page.OverTime = b.overTime()
	})
	panels.Wait()
}

// columns reads the columns that are shown over time.
func (p *params) columns() []cohort.Bracket {
	columns, err := cohort.ParseBrackets("columns", p.text("columns"))
	p.fail(err)
	for _, b := range columns {
		if b.From != b.To {
			p.fail(fault.Invalid("bad_value", "columns", "%s is not one column; ascending periods such as 1,7,30 are accepted", b).Say("wrong.column", "given", b.String()))
		}
	}
	return columns
}

// followed asks for some columns of the same cohorts and of those before them
// whose columns fall into the range.
func (s *server) followed(q cohort.RetentionQuestion, columns []cohort.Bracket) cohort.RetentionQuestion {
	last := columns[len(columns)-1].To
	first := s.workspace.Calendar.Add(q.Granularity, s.workspace.Calendar.Start(q.Granularity, q.Range.From), -last)
	q.Range.From, q.Periods, q.Brackets = max(cohort.MinDay, first), last, nil
	if q.Returning == cohort.OnPeriod {
		q.Brackets = columns
	}
	return q
}

func (s *server) retentionForm(p *params, q cohort.RetentionQuestion) views.RetentionForm {
	f := views.RetentionForm{
		Starts: s.dailyMetrics(p.text("start")), Returns: s.dailyMetrics(p.text("return")),
		Granularity: q.Granularity.String(), Cohorts: q.Membership.String(), Returning: q.Returning.String(),
		From: p.text("from"), To: p.text("to"), Periods: p.text("periods"), Brackets: p.text("brackets"), Columns: p.text("columns"),
		Filter: p.text("filter"), Ready: p.readyFilters(), Show: p.choice("show", "percent", "previous", "count"), Problem: p.problem(),
	}
	if p.err == nil { // relative dates become those that a date field can show
		f.From, f.To = q.Range.From.String(), q.Range.To.String()
	}
	return f
}

// retentionBuilder makes a table from an answer.
type retentionBuilder struct {
	reporter
	q cohort.RetentionQuestion
	// only are the columns shown; empty shows all.
	only []cohort.Bracket
	// previous makes the rates shares of the column before.
	previous bool
	// starts are the cohorts' periods that are suspect.
	starts map[cohort.Day]cohort.Suspicion
	// returns says what speaks against the periods in which they may come back.
	returns doubts
}

// csv is the URL of the answer as a file.
func (b *retentionBuilder) csv() string {
	var brackets []string
	for _, column := range b.q.Brackets {
		brackets = append(brackets, column.String())
	}
	return address("/api/v1/retention", "start", b.q.Start, "return", b.q.Return, "from", b.q.Range.From.String(), "to", b.q.Range.To.String(),
		"granularity", b.q.Granularity.String(), "periods", strconv.Itoa(b.q.Periods), "cohorts", b.q.Membership.String(),
		"returning", b.q.Returning.String(), "brackets", strings.Join(brackets, ","), "filter", b.params.text("filter"),
		"as_of", b.params.asOfParam(), "format", "csv")
}

// ask answers the question, and finds out which periods are suspect.
func (b *retentionBuilder) ask() (cohort.Retention, error) {
	a, err := query.Ask(b.ctx, b.Query, b.q, b.params.opts)
	if err != nil || len(a.Value.Rows) == 0 {
		return a.Value, err
	}
	if b.starts, err = b.suspects(b.q.Start, b.q.Granularity, b.q.Range); err != nil {
		return a.Value, err
	}
	b.returns, err = b.newDoubts()
	return a.Value, err
}

package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/views"
	"bitboard/views/ui"
)

// mostRows is how many conditions the page has; of an expression with more the
// first ones stand in one row.
const mostRows = 12

// The values of what a condition is about.
const (
	ofMetric = "metric:"
	ofCohort = "cohort:"
	ofOther  = "other"
)

// rowFields are the parameters of the fields of a term, and what they are called.
var rowFields = map[string]struct{ param, label string }{
	cohort.TermName: {"of", "cohorts.row.of"},
	cohort.TermK:    {"k", "cohorts.row.k"},
	cohort.TermFrom: {"from", "cohorts.row.from"},
	cohort.TermTo:   {"to", "cohorts.row.to"},
	cohort.TermText: {"text", "cohorts.row.text"},
}

// givenRow is a row as it was sent; the term of one about nothing is blank.
type givenRow struct {
	n    int
	term cohort.Term
}

func (r givenRow) blank() bool { return r.term.Kind == "" }

// givenRows reads the rows that were sent.
func (s *server) givenRows(p *params) []givenRow {
	n, _ := strconv.Atoi(p.text("rows"))
	rows := make([]givenRow, max(1, min(n, mostRows+1)))
	for i := range rows {
		rows[i] = givenRow{i + 1, s.givenTerm(p, "-"+strconv.Itoa(i+1))}
	}
	return rows
}

func (s *server) givenTerm(p *params, suffix string) cohort.Term {
	field := func(name string) string { return strings.TrimSpace(p.text(name + suffix)) }
	t := cohort.Term{
		Join: cohort.Join(max(0, slices.Index(cohort.JoinNames, field("join")))), Not: field("is") == "not",
		K: field("k"), From: field("from"), To: field("to"), Text: p.text("text" + suffix),
	}
	of := field("of")
	switch {
	case of == ofOther:
		t.Kind = cohort.OtherTerm
	case strings.HasPrefix(of, ofCohort):
		t.Kind, t.Name = cohort.SavedTerm, strings.TrimPrefix(of, ofCohort)
	case of != "":
		t.Kind, t.Name = cohort.FlagTerm, strings.TrimPrefix(of, ofMetric)
		if m, ok := s.workspace.Metric(t.Name); ok && m.HasDays() {
			t.Kind = howOf(field("how"))
		}
	}
	return t
}

// howOf reads how days count.
func howOf(how string) cohort.TermKind {
	switch k := cohort.TermKind(how); k {
	case cohort.AllTerm, cohort.AtLeastTerm, cohort.ExactlyTerm, cohort.FirstTerm:
		return k
	}
	return cohort.AnyTerm
}

// rowsForm answers the form of conditions: with the page of the expression that
// they make, or with what is wrong in which of them.
func (s *server) rowsForm(c echo.Context, p *params) error {
	rows := s.givenRows(p)
	do := p.text("do")
	if n, remove := strings.CutPrefix(do, "remove-"); remove {
		rows = slices.DeleteFunc(rows, func(r givenRow) bool { return strconv.Itoa(r.n) == n })
	}
	all, err := s.Store.SavedCohorts(c.Request().Context())
	if err != nil {
		return err
	}
	expr, problem, err := s.combine(p, all, rows)
	if err != nil {
		return err
	}
	if problem != nil {
		return s.wrongRows(c, p, all, rows, problem)
	}
	blank := ""
	if do == "add" {
		blank = "1"
	}
	return c.Redirect(http.StatusSeeOther, address("/cohorts", "expr", expr, "edit", p.text("edit"), "blank", blank, "as_of", p.asOfParam()))
}

// combine writes the expression of rows, blank ones left out.
func (s *server) combine(p *params, all cohort.SavedCohorts, rows []givenRow) (string, *views.Problem, error) {
	var terms []cohort.Term
	var numbers []int
	for i, r := range rows {
		if !r.blank() {
			terms, numbers = append(terms, r.term), append(numbers, i+1)
		}
	}
	if len(terms) == 0 {
		return "", nil, nil
	}
	err := cohort.CheckTerms(terms, cohort.Scope{Workspace: s.workspace, AsOf: p.today, Saved: all})
	var expr cohort.Expr
	if err == nil {
		expr, err = cohort.Combine(terms)
	}
	if wrong := (*cohort.TermError)(nil); errors.As(err, &wrong) {
		return "", wrongRow(p, wrong, numbers[wrong.Term-1]), nil
	}
	if err != nil {
		p.fail(err)
		if problem := p.problem(); problem != nil {
			return "", problem, nil
		}
		return "", nil, err
	}
	return expr.String(), nil, nil
}

// wrongRow says what is wrong with a field of a row.
func wrongRow(p *params, wrong *cohort.TermError, n int) *views.Problem {
	f, t := rowFields[wrong.Field], p.printer
	row := strconv.Itoa(n)
	return &views.Problem{
		Field: f.param + "-" + row, Position: views.NoPosition,
		Message: t.T("cohorts.row.wrong", "n", row, "field", t.T(f.label), "inner", words(t, wrong.Err)),
	}
}

// wrongRows is the page of rows that make no expression, as they were sent. It
// counts nothing.
func (s *server) wrongRows(c echo.Context, p *params, all cohort.SavedCohorts, rows []givenRow, problem *views.Problem) error {
	page := s.cohortsPage(c, p)
	page.Problem, page.Edit = problem, p.text("edit")
	page.Rows = nil
	for i, r := range rows {
		page.Rows = append(page.Rows, s.cohortRow(p, all, i+1, r.term))
	}
	page.RowsFull = len(rows) >= mostRows
	page.Saved = s.savedList(c, p)
	page.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Cohorts(page))
}

// showRows turns the page's expression into rows; one that cannot be read, and
// none, make a blank one.
func (s *server) showRows(c echo.Context, p *params, page *views.CohortsPage) {
	all, err := s.Store.SavedCohorts(c.Request().Context())
	if err != nil {
		all = nil // the list of the saved cohorts says so
	}
	var terms []cohort.Term
	if e, err := cohort.ParseExpr(page.Expr); err == nil {
		terms = e.Terms(mostRows)
	}
	page.RowsFull = len(terms) >= mostRows
	if len(terms) == 0 || p.text("blank") == "1" && !page.RowsFull {
		terms = append(terms, cohort.Term{})
	}
	page.Rows = nil
	for i, t := range terms {
		page.Rows = append(page.Rows, s.cohortRow(p, all, i+1, t))
	}
}

// cohortRow shows a term; a blank one comes with a week.
func (s *server) cohortRow(p *params, all cohort.SavedCohorts, n int, t cohort.Term) views.CohortRow {
	row := views.CohortRow{
		N: n, Join: cohort.JoinNames[t.Join], Not: t.Not, How: string(t.Kind), K: t.K, From: t.From, To: t.To, Text: t.Text,
		Of: s.rowChoices(p, all, t),
	}
	if !t.HasDays() {
		row.How = string(cohort.AnyTerm)
		if row.From == "" {
			row.From, row.To = "today-6d", "today"
		}
	}
	return row
}

// rowChoices are what a condition may be about, with what the term is about chosen.
func (s *server) rowChoices(p *params, all cohort.SavedCohorts, t cohort.Term) []views.ChoiceGroup {
	chosen := ""
	switch {
	case t.Kind == cohort.OtherTerm:
		chosen = ofOther
	case t.Kind == cohort.SavedTerm:
		chosen = ofCohort + t.Name
	case t.Kind != "":
		chosen = ofMetric + t.Name
	}
	found := chosen == ""
	choice := func(value, label, needs string) views.RowChoice {
		found = found || value == chosen
		return views.RowChoice{Choice: ui.Choice{Value: value, Label: label, Current: value == chosen}, Needs: needs}
	}
	var flags, days, saved []views.RowChoice
	for _, m := range s.workspace.Metrics {
		switch {
		case m.Source == cohort.UserMonths: // calendars only
		case m.HasDays():
			days = append(days, choice(ofMetric+m.Name, m.Title, "days"))
		default:
			flags = append(flags, choice(ofMetric+m.Name, m.Title, ""))
		}
	}
	for _, c := range all.List() {
		saved = append(saved, choice(ofCohort+c.Name, c.Title, ""))
	}
	groups := []views.ChoiceGroup{
		{Options: []views.RowChoice{choice("", p.printer.T("cohorts.row.choose"), "")}},
		{Title: p.printer.T("cohorts.help.flags"), Options: flags},
		{Title: p.printer.T("cohorts.help.days"), Options: days},
		{Title: p.printer.T("cohorts.row.saved"), Options: saved},
		{Title: p.printer.T("cohorts.row.others"), Options: []views.RowChoice{choice(ofOther, p.printer.T("cohorts.row.other"), "text")}},
	}
	if !found {
		groups = append(groups, views.ChoiceGroup{Title: p.printer.T("cohorts.row.unknown"), Options: []views.RowChoice{choice(chosen, t.Name, "")}})
	}
	return slices.DeleteFunc(groups, func(g views.ChoiceGroup) bool { return len(g.Options) == 0 })
}

// countRows counts each row of the page alone, and what is left after it, all of
// them together.
func (s *server) countRows(c echo.Context, p *params, page *views.CohortsPage) error {
	ctx := c.Request().Context()
	all, err := s.Store.SavedCohorts(ctx)
	if err != nil {
		return err
	}
	e, err := cohort.ParseExpr(page.Expr)
	if err != nil {
		return err
	}
	terms := e.Terms(mostRows)
	var exprs []string
	var sets []cohort.Set
	for i := range terms {
		alone := terms[i]
		alone.Join = 0
		for _, part := range [][]cohort.Term{{alone}, terms[:i+1]} {
			e, err := cohort.Combine(part)
			if err != nil {
				return err
			}
			people, err := s.Query.ParseAmong(all, e.String(), p.today)
			if err != nil {
				return err
			}
			exprs, sets = append(exprs, e.String()), append(sets, people.Set)
		}
	}
	sizes, err := s.Query.Sizes(ctx, sets, p.opts)
	if err != nil {
		return err
	}
	for i := range terms {
		own, running := p.people(sizes.Value[2*i], exprs[2*i]), p.people(sizes.Value[2*i+1], exprs[2*i+1])
		page.Rows[i].Own, page.Rows[i].Running = &own, &running
	}
	return nil
}

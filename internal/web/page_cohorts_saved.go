package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/views"
	"bitboard/views/ui"
)

// savedForm is the page of an expression that could not be saved, with what was
// typed. It counts nothing.
func (s *server) savedForm(c echo.Context, p *params, form *views.SaveForm, f *fault.Error) error {
	page := s.cohortsPage(c, p)
	page.Save, page.Problem = form, problemOfFault(p.printer, f)
	if form.Edit {
		page.Edit = form.Name
	}
	s.showRows(c, p, &page)
	page.Saved = s.savedList(c, p)
	page.ComputedAt = p.computedAt()
	return render(c, statusOf(f), views.Cohorts(page))
}

// saveCohort saves what the form on the page of cohorts says.
func (s *server) saveCohort(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return fault.Invalid("bad_form", "", "the form could not be read")
	}
	p := s.pageParams(c)
	in := cohort.Saved{Name: form.Get("name"), Title: form.Get("title"), Expr: form.Get("expr")}
	save := &views.SaveForm{Name: in.Name, Title: in.Title, URL: address("/cohorts", "as_of", p.asOfParam())}
	if edit := form.Get("edit"); edit != "" {
		in.Name, save.Name, save.Edit = edit, edit, true
		_, _, err = s.putCohort(c, in)
	} else {
		_, err = s.createCohort(c, in)
	}
	if f := fault.As(err); f != nil && f.Field != "" {
		p.values.Set("expr", in.Expr)
		return s.savedForm(c, p, save, f)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, address("/cohorts", "expr", reference(in.Name), "saved", in.Name, "as_of", p.asOfParam()))
}

// removeCohort deletes the cohort that the form on the page of cohorts names.
func (s *server) removeCohort(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return fault.Invalid("bad_form", "", "the form could not be read")
	}
	name := form.Get("name")
	if err := s.deleteCohort(c, name); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, address("/cohorts", "deleted", name, "as_of", s.pageParams(c).asOfParam()))
}

// reference is how expressions refer to a saved cohort.
func reference(name string) string { return "cohort(" + name + ")" }

// isReference reports whether an expression in its normal form is one saved cohort.
func isReference(expr string) bool {
	name, opens := strings.CutPrefix(expr, "cohort(")
	name, closes := strings.CutSuffix(name, ")")
	return opens && closes && cohort.ValidName(name)
}

// openSaved fills in what the page was asked to do with a saved cohort: to change
// it, or to ask whether it is to be deleted. One that is not there is an ErrNotFound.
func (s *server) openSaved(c echo.Context, p *params, page *views.CohortsPage) error {
	edit, remove := p.text("edit"), p.text("delete")
	if edit == "" && remove == "" {
		return nil
	}
	all, err := s.Store.SavedCohorts(c.Request().Context())
	if err != nil {
		return err
	}
	if remove != "" {
		saved, err := all.Get(remove)
		if err != nil {
			return err
		}
		page.Delete = &views.Deletion{
			Name: saved.Name, Title: saved.Title, UsedBy: all.UsersOf(saved.Name),
			URL: address("/cohorts/delete", "as_of", p.asOfParam()), Back: address("/cohorts", "as_of", p.asOfParam()),
		}
		return nil
	}
	saved, err := all.Get(edit)
	if err != nil {
		return err
	}
	p.defaults("expr", saved.Expr)
	page.Expr, page.Edit = p.text("expr"), saved.Name
	page.Save = &views.SaveForm{Name: saved.Name, Title: saved.Title, Edit: true}
	return nil
}

// savedNotices says what was done with a saved cohort.
func savedNotices(c echo.Context, p *params) []views.Notice {
	t := printer(c)
	if name := p.text("saved"); cohort.ValidName(name) {
		return []views.Notice{{Kind: "info", Title: t.T("cohorts.saved.done", "name", reference(name)), Message: t.T("cohorts.saved.done.next")}}
	}
	if name := p.text("deleted"); cohort.ValidName(name) {
		return []views.Notice{{Kind: "info", Title: t.T("cohorts.deleted", "name", reference(name)), Message: t.T("cohorts.deleted.next")}}
	}
	return nil
}

// savedList is the saved cohorts with their sizes.
func (s *server) savedList(c echo.Context, p *params) views.SavedCohorts {
	ctx, cancel := context.WithTimeout(c.Request().Context(), panelTimeout)
	defer cancel()
	rows, err := s.savedRows(ctx, p)
	if err != nil {
		return views.SavedCohorts{Error: s.panelError(c, err)}
	}
	return views.SavedCohorts{Rows: rows}
}

// savedRows counts the cohorts together. One that names nobody any more, because
// a metric has left the configuration, says so and leaves the others standing.
func (s *server) savedRows(ctx context.Context, p *params) ([]views.SavedCohort, error) {
	all, err := s.Store.SavedCohorts(ctx)
	if err != nil {
		return nil, err
	}
	var rows []views.SavedCohort
	var sets []cohort.Set
	var counted []int
	for i, saved := range all.List() {
		row := views.SavedCohort{
			Name: saved.Name, Title: saved.Title, Expr: saved.Expression(),
			Edit:   address("/cohorts", "edit", saved.Name, "as_of", p.asOfParam()),
			Delete: address("/cohorts", "delete", saved.Name, "as_of", p.asOfParam()),
		}
		people, err := s.Query.ParseAmong(all, saved.Expression(), p.today)
		if f := fault.As(err); f != nil && f.Kind == fault.ErrInvalid {
			row.Problem = words(p.printer, f)
		} else if err != nil {
			return nil, err
		} else {
			sets, counted = append(sets, people.Set), append(counted, i)
		}
		rows = append(rows, row)
	}
	sizes, err := s.Query.Sizes(ctx, sets, p.opts)
	if err != nil {
		return nil, err
	}
	for k, i := range counted {
		rows[i].Users = ui.Number{Count: sizes.Value[k], People: address("/cohorts", "expr", reference(rows[i].Name), "as_of", p.asOfParam())}
	}
	return rows, nil
}

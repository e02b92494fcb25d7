package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// savedBody is a saved cohort as the API shows it.
type savedBody struct {
	Name      string    `json:"name"`
	Title     string    `json:"title"`
	Expr      string    `json:"expr"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func newSavedBody(c cohort.Saved) savedBody {
	return savedBody{c.Name, c.Title, c.Expression(), c.Created, c.Updated}
}

func (b savedBody) row() []string {
	return []string{b.Name, b.Title, b.Expr, b.CreatedAt.Format(time.RFC3339Nano), b.UpdatedAt.Format(time.RFC3339Nano)}
}

var savedHeader = []string{"name", "title", "expr", "created_at", "updated_at"}

func (s *server) apiSavedCohorts(c echo.Context) error {
	if err := s.params(c).err; err != nil {
		return err
	}
	all, err := s.Store.SavedCohorts(c.Request().Context())
	if err != nil {
		return err
	}
	list, rows := []savedBody{}, table{header: savedHeader}
	for _, saved := range all.List() {
		b := newSavedBody(saved)
		list, rows.rows = append(list, b), append(rows.rows, b.row())
	}
	return respond(c, map[string][]savedBody{"cohorts": list}, rows)
}

func (s *server) apiSavedCohort(c echo.Context) error {
	name, err := s.savedName(c)
	if err != nil {
		return err
	}
	all, err := s.Store.SavedCohorts(c.Request().Context())
	if err != nil {
		return err
	}
	saved, err := all.Get(name)
	if err != nil {
		return err
	}
	b := newSavedBody(saved)
	return respond(c, b, table{savedHeader, [][]string{b.row()}})
}

// savedName is the cohort that the path names.
func (s *server) savedName(c echo.Context) (string, error) {
	if err := s.params(c).err; err != nil {
		return "", err
	}
	return pathParam(c, "name")
}

// savedInput is what may be said of a cohort that is to be saved.
type savedInput struct {
	Name  *string  `json:"name"`
	Title utf8Text `json:"title"`
	Expr  *string  `json:"expr"`
}

// utf8Text is a text as JSON gives it, byte for byte. Where encoding/json would put a
// replacement for what is no text, the bytes stay, for whoever checks them.
type utf8Text string

// UnmarshalJSON implements json.Unmarshaler.
func (u *utf8Text) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if *u = utf8Text(s); !utf8.Valid(text) {
		*u = utf8Text(bytes.Trim(text, `"`))
	}
	return nil
}

// readSaved reads the cohort of a name, which the body may repeat, from the body.
// An empty name is one that the body must give.
func readSaved(c echo.Context, name string) (cohort.Saved, error) {
	var in savedInput
	if err := readJSON(c, &in); err != nil {
		return cohort.Saved{}, err
	}
	switch {
	case name == "" && in.Name == nil:
		return cohort.Saved{}, fault.Invalid("missing", "name", "name is needed: what the saved cohort is called in expressions")
	case name != "" && in.Name != nil && *in.Name != name:
		return cohort.Saved{}, fault.Invalid("bad_name", "name", "the body names %s, and the path %s; a saved cohort keeps its name", fault.Show(*in.Name), fault.Show(name))
	case in.Expr == nil:
		return cohort.Saved{}, fault.Invalid("missing", cohort.ExprField, "expr is needed: the set expression to be saved")
	case name == "":
		name = *in.Name
	}
	return cohort.Saved{Name: name, Title: string(in.Title), Expr: *in.Expr}, nil
}

func (s *server) apiCreateCohort(c echo.Context) error {
	if err := s.params(c).err; err != nil {
		return err
	}
	in, err := readSaved(c, "")
	if err != nil {
		return err
	}
	saved, err := s.createCohort(c, in)
	if err != nil {
		return err
	}
	return s.created(c, saved)
}

func (s *server) apiPutCohort(c echo.Context) error {
	name, err := s.savedName(c)
	if err != nil {
		return err
	}
	in, err := readSaved(c, name)
	if err != nil {
		return err
	}
	saved, isNew, err := s.putCohort(c, in)
	if err != nil {
		return err
	}
	if isNew {
		return s.created(c, saved)
	}
	return c.JSON(http.StatusOK, newSavedBody(saved))
}

func (s *server) apiDeleteCohort(c echo.Context) error {
	name, err := s.savedName(c)
	if err != nil {
		return err
	}
	if err := s.deleteCohort(c, name); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *server) created(c echo.Context, saved cohort.Saved) error {
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/cohorts/"+url.PathEscape(saved.Name))
	return c.JSON(http.StatusCreated, newSavedBody(saved))
}

// createCohort saves a cohort under a name that is free.
func (s *server) createCohort(c echo.Context, in cohort.Saved) (cohort.Saved, error) {
	saved, _, err := s.changeCohort(c, in, cohort.SavedCohorts.CheckNew)
	return saved, err
}

// putCohort saves a cohort under a name that is free, or changes the one that has it.
func (s *server) putCohort(c echo.Context, in cohort.Saved) (saved cohort.Saved, isNew bool, err error) {
	return s.changeCohort(c, in, cohort.SavedCohorts.CheckChange)
}

// check says how a cohort is to be saved among all, or why not.
type check func(all cohort.SavedCohorts, w cohort.Workspace, asOf cohort.Day, c cohort.Saved) (cohort.Saved, error)

func (s *server) changeCohort(c echo.Context, in cohort.Saved, check check) (saved cohort.Saved, isNew bool, err error) {
	if err := checkAddress(in.Name); err != nil {
		return saved, false, err
	}
	in.Created = s.Now().UTC().Truncate(time.Millisecond)
	in.Updated = in.Created
	err = s.Store.ChangeCohort(c.Request().Context(), in.Name, func(all cohort.SavedCohorts) (*cohort.Saved, error) {
		_, known := all[in.Name]
		isNew = !known
		saved, err = check(all, s.workspace, s.today(), in)
		return &saved, err
	})
	return saved, isNew, err
}

// checkAddress refuses the name of a cohort whose address has another meaning.
func checkAddress(name string) error {
	if name == countPath {
		return fault.Invalid("bad_name", "name", "%s is the address of another call; give another name", name)
	}
	return nil
}

func (s *server) deleteCohort(c echo.Context, name string) error {
	return s.Store.ChangeCohort(c.Request().Context(), name, func(all cohort.SavedCohorts) (*cohort.Saved, error) {
		return nil, all.CheckDelete(name)
	})
}

package web

import (
	"io"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/ingest"
)

// listBody is what became of the IDs of a list. UnknownIDs are the first of the unknown.
type listBody struct {
	Name       string   `json:"name"`
	Accepted   int      `json:"accepted"`
	Unknown    int      `json:"unknown"`
	Duplicates int      `json:"duplicates"`
	UnknownIDs []string `json:"unknown_ids"`
}

func (s *server) apiCreateList(c echo.Context) error {
	return s.apiList(c, cohort.SavedCohorts.CheckNew)
}

func (s *server) apiPutList(c echo.Context) error {
	return s.apiList(c, cohort.SavedCohorts.CheckChange)
}

func (s *server) apiList(c echo.Context, check check) error {
	p := s.params(c, "title")
	if p.err != nil {
		return p.err
	}
	name, err := pathParam(c, "name")
	if err != nil {
		return err
	}
	isNew, listed, err := s.saveList(c, cohort.Saved{Name: name, Title: p.text("title")}, check, c.Request().Body)
	if err != nil {
		return err
	}
	status := http.StatusOK
	switch {
	case listed.Accepted == 0:
		status = http.StatusUnprocessableEntity
	case isNew:
		status = http.StatusCreated
		c.Response().Header().Set(echo.HeaderLocation, "/api/v1/cohorts/"+url.PathEscape(name))
	}
	return c.JSON(status, listBody{name, listed.Accepted, listed.Unknown, listed.Duplicates, append([]string{}, listed.UnknownIDs...)})
}

// saveList saves a list of users as a cohort. When none of the IDs is known nothing is
// saved. What is wrong with the name or the title is said before the IDs are looked up.
// That somebody asked which of the IDs are known is recorded.
func (s *server) saveList(c echo.Context, in cohort.Saved, check check, texts ...io.Reader) (isNew bool, listed ingest.Listed, err error) {
	all, err := s.Store.SavedCohorts(c.Request().Context())
	if err != nil {
		return false, listed, err
	}
	if err := checkAddress(in.Name); err != nil {
		return false, listed, err
	}
	in.List = 1 // any version
	if _, err := check(all, s.workspace, s.today(), in); err != nil {
		return false, listed, err
	}
	if err := s.audit(c, Define, reference(in.Name)); err != nil {
		return false, listed, err
	}
	listed, err = s.Ingest.List(c.Request().Context(), in.Name, func(version uint64) error {
		in.List = version
		_, isNew, err = s.changeCohort(c, in, check)
		return err
	}, texts...)
	return isNew, listed, err
}

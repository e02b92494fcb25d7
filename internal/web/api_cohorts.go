package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/memberlist"
)

type countBody struct {
	Expr       string `json:"expr"`
	Count      int64  `json:"count"`
	KnownUsers int64  `json:"known_users"`
	origin
}

func (s *server) apiCohortCount(c echo.Context) error {
	p := s.params(c, "expr")
	people := p.expr("expr")
	if p.err != nil {
		return p.err
	}
	a, err := s.Query.Size(c.Request().Context(), people.Set, p.opts)
	if err != nil {
		return err
	}
	body := countBody{people.String(), a.Value.Count, a.Value.Known, originOf(a)}
	rows := table{[]string{"expr", "count", "known_users"}, [][]string{{body.Expr, intText(body.Count), intText(body.KnownUsers)}}}
	return respond(c, body, rows)
}

// headerCount is how many users a list will hold.
const headerCount = "X-Bitboard-Count"

func (s *server) apiMembers(c echo.Context) error {
	p := s.params(c, "expr", "safe", "bom")
	people := p.expr("expr")
	o := memberlist.Options{Safe: p.choice("safe", "0", "1") == "1", Mark: p.choice("bom", "0", "1") == "1"}
	if p.err != nil {
		return p.err
	}
	size, err := s.Query.Size(c.Request().Context(), people.Set, p.opts)
	if err != nil {
		return err
	}
	if err := s.audit(c, Export, people.Meaning); err != nil {
		return err
	}
	// Nothing leaves before the first members, so that an error before them is
	// still a proper answer.
	h := c.Response().Header()
	c.Response().Before(func() {
		if c.Response().Status == http.StatusOK {
			h.Set(echo.HeaderContentType, contentTypeCSV)
			h.Set(echo.HeaderContentDisposition, `attachment; filename="`+membersFile(people.Expr, p.today)+`"`)
			h.Set(headerCount, intText(size.Value.Count))
		}
	})
	w := memberlist.NewWriter(c.Response(), o)
	if err = s.Query.Members(c.Request().Context(), people.Set, p.opts, w.Write); err == nil && !w.Begun() {
		return w.Write(&cohort.IDList{})
	}
	if err != nil && w.Begun() {
		// Part of the list has left: only a broken connection tells the
		// reader that it is not whole.
		s.Log.Error("an export broke off", "expr", people.Meaning, "error", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

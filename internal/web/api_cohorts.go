package web

import (
	"bufio"
	"encoding/csv"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

type countBody struct {
	Expr       string `json:"expr"`
	Count      int64  `json:"count"`
	KnownUsers int64  `json:"known_users"`
	origin
}

func (s *server) apiCohortCount(c echo.Context) error {
	p := s.params(c, "expr")
	e, set := p.expr("expr")
	if p.err != nil {
		return p.err
	}
	a, err := s.Query.Size(c.Request().Context(), set, p.opts)
	if err != nil {
		return err
	}
	body := countBody{e.String(), a.Value.Count, a.Value.Known, originOf(a)}
	rows := table{[]string{"expr", "count", "known_users"}, [][]string{{body.Expr, intText(body.Count), intText(body.KnownUsers)}}}
	return respond(c, body, rows)
}

// byteOrderMark makes Excel read a file as UTF-8.
const byteOrderMark = "\ufeff"

func (s *server) apiMembers(c echo.Context) error {
	p := s.params(c, "expr", "safe", "bom")
	e, set := p.expr("expr")
	safe := p.choice("safe", "0", "1") == "1"
	bom := p.choice("bom", "0", "1") == "1"
	if p.err != nil {
		return p.err
	}
	if err := s.audit(c, Export, e.String()); err != nil {
		return err
	}
	w := &memberWriter{out: c.Response(), safe: safe, begin: func() string {
		h := c.Response().Header()
		h.Set(echo.HeaderContentType, contentTypeCSV)
		h.Set(echo.HeaderContentDisposition, `attachment; filename="members.csv"`)
		if bom {
			return byteOrderMark
		}
		return ""
	}}
	err := s.Query.Members(c.Request().Context(), set, p.opts, w.write)
	if err == nil {
		return w.write(nil)
	}
	if w.begun {
		// Part of the list has left: only a broken connection tells the
		// reader that it is not whole.
		s.Log.Error("an export broke off", "expr", e.String(), "error", err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// memberWriter writes IDs as CSV. Nothing leaves before the first call, so
// that an error before it is still a proper answer.
type memberWriter struct {
	out   io.Writer
	safe  bool
	begin func() (lead string)
	begun bool
}

func (w *memberWriter) write(ids []string) error {
	buffered := bufio.NewWriter(w.out)
	if !w.begun {
		w.begun = true
		if _, err := buffered.WriteString(w.begin() + "user_id\n"); err != nil {
			return err
		}
	}
	out := csv.NewWriter(buffered)
	for _, id := range ids {
		if w.safe {
			id = harmless(id)
		}
		if err := out.Write([]string{id}); err != nil {
			return err
		}
	}
	out.Flush()
	return buffered.Flush()
}

// harmless puts a quote before what a spreadsheet would run as a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

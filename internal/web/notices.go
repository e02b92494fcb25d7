package web

import (
	"github.com/labstack/echo/v4"

	"bitboard/views"
)

// Notice is a message about the whole program, for every page.
type Notice struct {
	// Kind is info, warning or error.
	Kind string
	// Title and Message are keys of the message catalogue: what happened in a
	// few words, and what it means and what to do.
	Title, Message string
	// Values fill the placeholders of both: names and values by turns.
	Values []string
}

// notices puts what every page says into the reader's language.
func (s *server) notices(c echo.Context) []views.Notice {
	if s.Notices == nil {
		return nil
	}
	t := printer(c)
	var shown []views.Notice
	for _, n := range s.Notices(c.Request().Context()) {
		shown = append(shown, views.Notice{Kind: n.Kind, Title: t.T(n.Title, n.Values...), Message: t.T(n.Message, n.Values...)})
	}
	return shown
}

package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"bitboard/internal/fault"
	"bitboard/views"
)

// retryAfter is what an answer of 503 or 429 asks the caller to wait, in seconds.
const retryAfter = "2"

// statusCallerLeft is for the log alone: nobody waits for the answer. Servers
// commonly use this number, and it keeps such requests from looking like faults.
const statusCallerLeft = 499

// statuses maps kinds of error to status codes, the first match wins.
var statuses = []struct {
	kind   error
	status int
}{
	{fault.ErrInvalid, http.StatusBadRequest},
	{fault.ErrNotFound, http.StatusNotFound},
	{fault.ErrConflict, http.StatusConflict},
	{fault.ErrTooLarge, http.StatusRequestEntityTooLarge},
	{fault.ErrBusy, http.StatusTooManyRequests},
	{fault.ErrUnavailable, http.StatusServiceUnavailable},
	{context.DeadlineExceeded, http.StatusServiceUnavailable},
	{context.Canceled, statusCallerLeft},
}

// errorBody is the JSON of an error.
type errorBody struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Field    string `json:"field,omitempty"`
	Position *int   `json:"position,omitempty"`
}

// problem is an error as the caller gets to see it.
func problem(err error) (status int, body errorBody) {
	status = statusOf(err)
	if e := fault.As(err); e != nil {
		body = errorBody{Code: e.Code, Message: e.Message, Field: e.Field}
		if e.Position != fault.NoPosition {
			body.Position = &e.Position
		}
		return status, body
	}
	body.Code = strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_")
	body.Message = strings.ToLower(http.StatusText(status))
	if status == http.StatusInternalServerError {
		body.Message = "something went wrong here; the log has the request ID"
	}
	return status, body
}

func statusOf(err error) int {
	for _, s := range statuses {
		if errors.Is(err, s.kind) {
			return s.status
		}
	}
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		return he.Code
	}
	return http.StatusInternalServerError
}

// fail is Echo's error handler: the one place where an error becomes an answer.
func (s *server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status, body := problem(err)
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		c.Response().Header().Set("Retry-After", retryAfter)
	}
	switch {
	case c.Request().Method == http.MethodHead:
		err = c.NoContent(status)
	case wantsPage(c):
		err = render(c, status, views.Error(s.errorPage(c, status, err)))
	default:
		err = c.JSON(status, map[string]errorBody{"error": body})
	}
	if err != nil {
		s.Log.Debug("an error could not be sent", "error", err)
	}
}

// wantsPage reports whether a person is reading rather than a program.
func wantsPage(c echo.Context) bool {
	return !strings.HasPrefix(c.Request().URL.Path, "/api/") && strings.Contains(c.Request().Header.Get(echo.HeaderAccept), "text/html")
}

func (s *server) errorPage(c echo.Context, status int, err error) views.ErrorPage {
	e := views.ErrorPage{Page: s.page(c, s.today()), Status: status, Message: explained(c, err), RequestID: c.Response().Header().Get(echo.HeaderXRequestID)}
	e.ComputedAt = ""
	return e
}

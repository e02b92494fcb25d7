package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/views"
	"bitboard/views/text"
	"bitboard/views/ui"
)

const (
	themeCookie    = "theme"
	languageCookie = "lang"
	// preferenceAge is how long a browser remembers a preference.
	preferenceAge = 365 * 24 * time.Hour
	// panelTimeout is the deadline of one panel of a page.
	panelTimeout = 25 * time.Second
)

// page is what every page shows around its own content.
func (s *server) page(c echo.Context, asOf cohort.Day) views.Page {
	p := views.Page{
		Text:       printer(c),
		URL:        c.Request().URL.RequestURI(),
		Zone:       s.workspace.Zone.String(),
		AsOf:       asOf.String(),
		ComputedAt: s.Now().In(s.workspace.Zone).Format(time.RFC3339),
		Version:    s.Version,
		Notices:    s.notices(c),
	}
	if c.QueryParam("as_of") != "" && asOf != s.today() {
		p.TodayURL = withParams(c.Request().URL, "as_of", "")
	}
	if cookie, err := c.Cookie(themeCookie); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		p.Theme = cookie.Value
	}
	return p
}

// printer chooses the reader's language: what was set, then what the browser asks for.
func printer(c echo.Context) *text.Printer {
	var preferences []string
	if cookie, err := c.Cookie(languageCookie); err == nil {
		preferences = append(preferences, cookie.Value)
	}
	return text.For(append(preferences, c.Request().Header.Get("Accept-Language"))...)
}

// render writes a component whole or not at all.
func render(c echo.Context, status int, component templ.Component) error {
	b := templ.GetBuffer()
	defer templ.ReleaseBuffer(b)
	if err := component.Render(c.Request().Context(), b); err != nil {
		return err
	}
	return c.HTMLBlob(status, b.Bytes())
}

// pageParams reads a page's parameters: like those of the API, but one that
// the page does not know is ignored.
func (s *server) pageParams(c echo.Context) *params {
	p := &params{ctx: c.Request().Context(), printer: printer(c), values: c.QueryParams(), server: s, today: s.today()}
	p.today = p.dayOr("as_of", p.today)
	p.opts = s.options(c, s.Engine)
	p.opts.Refresh = p.text("refresh") == "1"
	return p
}

// defaults fills in parameters that were not given.
func (p *params) defaults(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if p.values.Get(pairs[i]) == "" {
			p.values.Set(pairs[i], pairs[i+1])
		}
	}
}

// problem is what is wrong with the parameters, for the form.
func (p *params) problem() *views.Problem {
	f := fault.As(p.err)
	if f == nil {
		return nil
	}
	return problemOfFault(p.printer, f)
}

func problemOfFault(t *text.Printer, f *fault.Error) *views.Problem {
	return &views.Problem{Field: f.Field, Position: f.Position, Message: words(t, f)}
}

// words puts what is wrong into the reader's language.
func words(t *text.Printer, f *fault.Error) string {
	if f.Text == "" {
		return sentence(f.Message)
	}
	if f.Inner == nil {
		return t.T(f.Text, f.Values...)
	}
	return t.T(f.Text, slices.Concat(f.Values, []string{"inner", words(t, f.Inner)})...)
}

// explained is what a page says about an error.
func explained(c echo.Context, err error) string {
	if f := fault.As(err); f != nil {
		return words(printer(c), f)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return printer(c).T("wrong.slow")
	case statusOf(err) == http.StatusInternalServerError:
		return printer(c).T("wrong.internal")
	default: // the page's title says all that is known
		return ""
	}
}

// problemOf splits an error into what the form can say and what a panel says.
func (s *server) problemOf(c echo.Context, err error) (*views.Problem, string) {
	if f := fault.As(err); f != nil && f.Kind == fault.ErrInvalid {
		return problemOfFault(printer(c), f), ""
	}
	return nil, s.panelError(c, err)
}

// panelError says in the reader's words why a panel has nothing, and logs the rest.
func (s *server) panelError(c echo.Context, err error) string {
	s.Log.ErrorContext(c.Request().Context(), "a panel failed", "path", c.Request().URL.Path, "error", err,
		"id", c.Response().Header().Get(echo.HeaderXRequestID))
	return explained(c, err)
}

// sentence turns an error's message into one.
func sentence(message string) string {
	if message == "" {
		return ""
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}

// dailyMetrics are the choices of metric, the current one marked.
func (s *server) dailyMetrics(current string) []ui.Choice {
	var choices []ui.Choice
	for _, m := range s.workspace.Metrics {
		if m.Kind == cohort.KindDaily {
			choices = append(choices, ui.Choice{Value: m.Name, Label: m.Title, Current: m.Name == current})
		}
	}
	return choices
}

// firstDaily is the metric of a page that was asked for none.
func (s *server) firstDaily() string {
	for _, m := range s.workspace.Metrics {
		if m.Kind == cohort.KindDaily {
			return m.Name
		}
	}
	return ""
}

// address is a path with parameters given as pairs; empty values are left out.
func address(path string, pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// asOfParam is the page's as_of when it was given, to be kept in links.
func (p *params) asOfParam() string { return p.text("as_of") }

// withParams is a page's address with parameters, given as pairs, changed; an
// empty value takes one away.
func withParams(u *url.URL, pairs ...string) string {
	v := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		v.Del(pairs[i])
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + v.Encode()
}

// asOfURL is a page's address as of another day. The range is left to the
// page: that of today says nothing about that day.
func asOfURL(u *url.URL, day cohort.Day) string {
	return withParams(u, "from", "", "to", "", "as_of", day.String())
}

// people is a number with the list of exactly these people, if an expression
// names them.
func (p *params) people(count int64, expr string) ui.Number {
	if expr == "" {
		return ui.Number{Count: count}
	}
	return ui.Number{Count: count, People: address("/cohorts", "expr", expr, "as_of", p.asOfParam())}
}

// preferences keeps a theme or a language in a cookie and goes back.
func (s *server) preferences(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return fault.Invalid("bad_form", "", "the form could not be read")
	}
	for _, name := range []string{themeCookie, languageCookie} {
		if form.Has(name) {
			c.SetCookie(&http.Cookie{
				Name: name, Value: url.QueryEscape(form.Get(name)), Path: "/", MaxAge: int(preferenceAge.Seconds()),
				HttpOnly: true, SameSite: http.SameSiteLaxMode,
			})
		}
	}
	return c.Redirect(http.StatusSeeOther, localPath(form.Get("return")))
}

// localPath keeps a redirection on this server.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsRune(to, '\\') {
		return "/"
	}
	return to
}

// staleNotice says when the newest data is so old that a report is empty.
func (s *server) staleNotice(c echo.Context, p *params) []views.Notice {
	cat, err := s.Query.Catalogue(c.Request().Context())
	if err != nil {
		return nil // what needs the data says so itself
	}
	span := s.dataSpan(cat, p.today)
	if span.Len() == 0 || span.To >= p.today-monthWindow {
		return nil
	}
	t := printer(c)
	return []views.Notice{{
		Kind: "info", Title: t.T("stale.title", "day", t.Date(span.To.String())), Message: t.T("stale.message"),
		URL: asOfURL(c.Request().URL, span.To+1), Link: t.T("stale.link"),
	}}
}

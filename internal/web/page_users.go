package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/views"
)

// signIns is the metric that a support agent is asked about, where there is one.
const signIns = "signed_in"

func (s *server) users(c echo.Context) error {
	l := s.lookUps(c)
	p := l.params
	page := views.UsersPage{Page: s.page(c, p.today), ID: p.given("id"), Metric: l.metric, Problem: p.problem()}
	if page.ID == "" || p.err != nil {
		return render(c, http.StatusOK, views.Users(page))
	}
	status, err := l.search(&page)
	if err != nil {
		page.Problem, page.Error = s.problemOf(c, err)
	}
	page.ComputedAt = p.computedAt()
	return render(c, status, views.Users(page))
}

// given is a parameter that may be repeated, a line for each.
func (p *params) given(name string) string { return strings.Join(p.values[name], "\n") }

// lookUps reads what a page of users is asked for.
func (s *server) lookUps(c echo.Context) *lookUps {
	p := s.pageParams(c)
	p.defaults("metric", s.calendarDefault())
	l := &lookUps{server: s, echo: c, params: p, metric: p.calendarMetric("metric"), year: everyYear}
	if p.text("year") != allYears {
		thisYear, _, _ := p.today.Date()
		l.year = p.number("year", 0, 1, thisYear)
	}
	return l
}

// calendarDefault is the metric of a page that was asked for none.
func (s *server) calendarDefault() string {
	if m, err := s.workspace.CalendarMetric("metric", signIns); err == nil {
		return m.Name
	}
	return s.firstDaily()
}

// lookUps is what one search looks up. Each person that is shown is audited, under
// the ID that is looked up.
type lookUps struct {
	*server
	echo   echo.Context
	params *params
	metric string
	year   int
}

// search looks for the user, or the users, that a text names: as it was given, then
// without what was pasted around it, then as several.
func (l *lookUps) search(page *views.UsersPage) (status int, err error) {
	for _, id := range readings(page.ID) {
		u, err := l.one(id)
		if !errors.Is(err, fault.ErrNotFound) {
			page.User = u
			return http.StatusOK, err
		}
	}
	if ids := several(page.ID); len(ids) > 1 {
		page.Several, err = l.several(ids)
		return http.StatusOK, err
	}
	page.Unknown, err = l.unknown(page.ID)
	return http.StatusNotFound, err
}

// one is a user's year.
func (l *lookUps) one(id string) (*views.UserYear, error) {
	if err := l.audit(l.echo, LookUp, id); err != nil {
		return nil, err
	}
	u, err := l.userYear(l.params, id, l.metric, l.year)
	if err != nil {
		return nil, err
	}
	u.Groups = l.groups(id)
	return u, nil
}

// several is a line for each of some users.
func (l *lookUps) several(ids []string) (*views.SeveralUsers, error) {
	if len(ids) > severalUsers {
		return nil, fault.Invalid("too_many", "id", "%d IDs are too many; up to %d can be looked up at once", len(ids), severalUsers).
			Say("users.too_many", "n", l.params.printer.N(int64(len(ids))), "most", l.params.printer.N(severalUsers))
	}
	lately := cohort.Range{From: l.params.today - monthWindow + 1, To: l.params.today}
	list := &views.SeveralUsers{Title: l.title(l.metric), Days: monthWindow}
	for _, id := range ids {
		if err := l.audit(l.echo, LookUp, id); err != nil {
			return nil, err
		}
		row := views.UserRow{ID: id, URL: l.link(id)}
		q := cohort.CalendarQuestion{UserID: id, Metric: l.metric, Range: lately, AsOf: l.params.today}
		a, err := l.Query.Calendar(l.echo.Request().Context(), q, l.params.opts)
		switch {
		case errors.Is(err, fault.ErrNotFound):
			row.Unknown = true
		case err != nil:
			return nil, err
		default:
			streak := a.Value.Streak
			row.Lately, row.Current, row.Total = int64(len(a.Value.Days)), int64(streak.Current), int64(streak.Total)
			if streak.Total > 0 {
				row.FirstDay, row.LastDay = streak.First.String(), streak.Last.String()
			}
		}
		list.Rows = append(list.Rows, row)
	}
	return list, nil
}

// link is the page of a user.
func (l *lookUps) link(id string) string {
	return address("/users", "id", id, "metric", l.metric, "as_of", l.params.asOfParam())
}

// unknown is what helps somebody who gave an ID that nobody has.
func (l *lookUps) unknown(given string) (*views.UnknownUser, error) {
	u := &views.UnknownUser{Shown: visible(given)}
	alike := similar(given)
	known, err := l.Query.Known(l.echo.Request().Context(), alike)
	if err != nil {
		return u, err
	}
	for _, id := range alike {
		if !known[id] {
			continue
		}
		if err := l.audit(l.echo, LookUp, id); err != nil {
			return u, err
		}
		u.Similar = append(u.Similar, views.Member{ID: id, URL: l.link(id)})
	}
	return u, nil
}

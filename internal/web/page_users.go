package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/query"
	"bitboard/views"
	"bitboard/views/ui"
)

func (s *server) users(c echo.Context) error {
	p := s.pageParams(c)
	p.defaults("metric", s.firstDaily())
	metric := p.calendarMetric("metric")
	thisYear, _, _ := p.today.Date()
	year := p.number("year", 0, 1, thisYear)
	page := views.UsersPage{Page: s.page(c, p.today), ID: p.text("id"), Metric: metric, Problem: p.problem()}
	if page.ID == "" || p.err != nil {
		return render(c, http.StatusOK, views.Users(page))
	}
	u, err := s.findUser(c, p, metric, year)
	switch {
	case errors.Is(err, fault.ErrNotFound):
		page.Unknown = true
		return render(c, http.StatusNotFound, views.Users(page))
	case err != nil:
		page.Problem, page.Error = s.problemOf(c, err)
	default:
		page.User = u
	}
	page.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.Users(page))
}

// findUser looks an ID up as it was given and then, since it may have been
// pasted with them, without blanks and quotes around it.
func (s *server) findUser(c echo.Context, p *params, metric string, year int) (*views.UserYear, error) {
	given := p.text("id")
	u, err := s.lookUp(c, p, given, metric, year)
	if bare := strings.Trim(given, " \t\r\n\"'`“”‘’"); errors.Is(err, fault.ErrNotFound) && bare != given && bare != "" {
		return s.lookUp(c, p, bare, metric, year)
	}
	return u, err
}

// lookUp is a user's year, audited under the ID that is looked up.
func (s *server) lookUp(c echo.Context, p *params, id, metric string, year int) (*views.UserYear, error) {
	if err := s.audit(c, LookUp, id); err != nil {
		return nil, err
	}
	return s.userYear(c, p, id, metric, year)
}

func (s *server) userYear(c echo.Context, p *params, id, metric string, year int) (*views.UserYear, error) {
	ctx := c.Request().Context()
	shown := year
	if shown == 0 {
		shown, _, _ = p.today.Date()
	}
	q := cohort.CalendarQuestion{UserID: id, Metric: metric, Range: yearRange(shown), AsOf: p.today}
	a, err := s.Query.Calendar(ctx, q, p.opts)
	if err != nil {
		return nil, err
	}
	if streak := a.Value.Streak; year == 0 && len(a.Value.Days) == 0 && streak.Total > 0 {
		last, _, _ := streak.Last.Date() // nothing this year: show the last year with a day
		return s.userYear(c, p, id, metric, last)
	}
	return s.newUserYear(p, q, a, shown), nil
}

func yearRange(year int) cohort.Range {
	return cohort.Range{From: cohort.DayOfDate(year, time.January, 1), To: cohort.DayOfDate(year, time.December, 31)}
}

func (s *server) newUserYear(p *params, q cohort.CalendarQuestion, a query.Answer[cohort.CalendarAnswer], year int) *views.UserYear {
	streak := a.Value.Streak
	link := func(metric string, year int) string {
		return address("/users", "id", q.UserID, "metric", metric, "year", strconv.Itoa(year), "as_of", p.asOfParam())
	}
	u := &views.UserYear{
		ID: q.UserID, Title: s.title(q.Metric), Year: year, SundayFirst: s.workspace.Calendar.WeekStart == time.Sunday,
		Days: dayStates(q, a.Value), Total: int64(streak.Total), Current: int64(streak.Current), Longest: int64(streak.Longest),
		Download: address("/api/v1/users/calendar", "id", q.UserID, "metric", q.Metric, "from", q.Range.From.String(),
			"to", q.Range.To.String(), "as_of", p.asOfParam(), "format", "csv"),
	}
	for _, m := range s.dailyMetrics(q.Metric) {
		u.Metrics = append(u.Metrics, ui.Choice{URL: link(m.Value, year), Label: m.Label, Current: m.Current})
	}
	first, _, _ := p.today.Date()
	newest := first
	if streak.Total > 0 {
		u.FirstDay, u.LastDay = streak.First.String(), streak.Last.String()
		u.LongestFrom, u.LongestTo = (streak.LongestEnd - cohort.Day(streak.Longest) + 1).String(), streak.LongestEnd.String()
		first, _, _ = streak.First.Date()
	}
	for y := newest; y >= min(first, year); y-- {
		u.Years = append(u.Years, ui.Choice{URL: link(q.Metric, y), Label: strconv.Itoa(y), Current: y == year})
	}
	return u
}

// unsure are the suspicions that leave open whether an unmarked user came.
var unsure = []cohort.Suspicion{cohort.Missing, cohort.MissingSegment, cohort.HalfReplaced}

// dayStates is the state of each day of the year.
func dayStates(q cohort.CalendarQuestion, a cohort.CalendarAnswer) []views.DayState {
	states := make([]views.DayState, q.Range.Len())
	for i := range states {
		d := q.Range.From + cohort.Day(i)
		switch {
		case d > q.AsOf:
			states[i] = views.DayFuture
		case slices.Contains(unsure, a.Suspect[d]):
			states[i] = views.DayNoData
		}
	}
	for _, d := range a.Days {
		states[d-q.Range.From] = views.DayOn
	}
	return states
}

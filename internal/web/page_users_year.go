package web

import (
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
	"bitboard/views/ui"
)

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
	for _, m := range s.workspace.Metrics {
		if _, err := s.workspace.CalendarMetric("metric", m.Name); err == nil {
			u.Metrics = append(u.Metrics, ui.Choice{URL: link(m.Name, year), Label: m.Title, Current: m.Name == q.Metric})
		}
	}
	for _, g := range a.Value.Gaps {
		u.Gaps = append(u.Gaps, views.UserGap{From: g.From.String(), To: g.To.String(), Days: int64(g.Len()), NoData: int64(g.NoData)})
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

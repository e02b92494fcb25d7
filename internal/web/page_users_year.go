package web

import (
	"slices"
	"strconv"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
	"bitboard/views/ui"
)

const (
	// everyYear is the year of a page that shows all of them.
	everyYear = -1
	allYears  = "all"
)

// userYear is a user's calendar of a year. 0 is the latest with a day.
func (s *server) userYear(p *params, id, metric string, year int) (*views.UserYear, error) {
	thisYear, _, _ := p.today.Date()
	shown := yearRange(thisYear)
	if year > 0 {
		shown = yearRange(year)
	}
	q := cohort.CalendarQuestion{UserID: id, Metric: metric, Range: shown, AsOf: p.today}
	a, err := s.Query.Calendar(p.ctx, q, p.opts)
	if err != nil {
		return nil, err
	}
	if streak := a.Value.Streak; year <= 0 && streak.Total > 0 {
		first, _, _ := streak.First.Date()
		last, _, _ := streak.Last.Date()
		if q.Range = yearRange(last); year == everyYear {
			q.Range = cohort.Range{From: yearRange(first).From, To: shown.To}
		}
		if a, err = s.Query.Calendar(p.ctx, q, p.opts); err != nil {
			return nil, err
		}
	}
	cat, err := s.Query.Catalogue(p.ctx)
	if err != nil {
		return nil, err
	}
	u := s.newUserYear(p, q, a, year == everyYear)
	for year := yearRange(yearOf(q.Range.To)); year.To >= q.Range.From; year = yearRange(yearOf(year.From) - 1) {
		u.Shown = append(u.Shown, views.ShownYear{Year: yearOf(year.From), Days: dayStates(cat, q, a.Value, year)})
	}
	u.Recent, err = s.ticketMonths(p, q)
	return u, err
}

func yearOf(d cohort.Day) int {
	year, _, _ := d.Date()
	return year
}

func yearRange(year int) cohort.Range {
	return cohort.Range{From: cohort.DayOfDate(year, time.January, 1), To: cohort.DayOfDate(year, time.December, 31)}
}

func (s *server) newUserYear(p *params, q cohort.CalendarQuestion, a query.Answer[cohort.CalendarAnswer], all bool) *views.UserYear {
	streak := a.Value.Streak
	link := func(metric, year string) string {
		return address("/users", "id", q.UserID, "metric", metric, "year", year, "as_of", p.asOfParam())
	}
	year, years := yearOf(q.Range.To), allYears
	if !all {
		years = strconv.Itoa(year)
	}
	u := &views.UserYear{
		ID: q.UserID, Title: s.title(q.Metric), SundayFirst: s.workspace.Calendar.WeekStart == time.Sunday,
		Total: int64(streak.Total), Current: int64(streak.Current), Longest: int64(streak.Longest),
		Download: address("/api/v1/users/calendar", "id", q.UserID, "metric", q.Metric, "from", q.Range.From.String(),
			"to", q.Range.To.String(), "as_of", p.asOfParam(), "format", "csv"),
		TextURL: address("/users.txt", "id", q.UserID, "metric", q.Metric, "as_of", p.asOfParam()),
	}
	for _, m := range s.workspace.Metrics {
		if _, err := s.workspace.CalendarMetric("metric", m.Name); err == nil {
			u.Metrics = append(u.Metrics, ui.Choice{URL: link(m.Name, years), Label: m.Title, Current: m.Name == q.Metric})
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
		n := strconv.Itoa(y)
		u.Years = append(u.Years, ui.Choice{URL: link(q.Metric, n), Label: n, Current: n == years})
	}
	if len(u.Years) > 1 {
		u.Years = append(u.Years, ui.Choice{URL: link(q.Metric, allYears), Label: p.printer.T("users.years.all"), Current: all})
	}
	return u
}

// unsure are the suspicions that leave open whether an unmarked user came.
var unsure = []cohort.Suspicion{cohort.Missing, cohort.MissingSegment, cohort.HalfReplaced}

// dayStates is the state of each day of a year within the question's range.
func dayStates(cat *cohort.Catalogue, q cohort.CalendarQuestion, a cohort.CalendarAnswer, year cohort.Range) []views.DayState {
	stored, known := cat.Span(q.Metric) // unknown when other programs keep the days by user
	states := make([]views.DayState, year.Len())
	for i := range states {
		d := year.From + cohort.Day(i)
		switch {
		case d > q.AsOf:
			states[i] = views.DayFuture
		case slices.Contains(unsure, a.Suspect[d]):
			states[i] = views.DayNoData
		case known && d < stored.From:
			states[i] = views.DayBefore
		}
	}
	for _, d := range a.Days {
		if year.Has(d) {
			states[d-year.From] = views.DayOn
		}
	}
	return states
}

package web

import (
	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
)

type calendarBody struct {
	UserID        string                          `json:"user_id"`
	Metric        string                          `json:"metric"`
	From          cohort.Day                      `json:"from"`
	To            cohort.Day                      `json:"to"`
	Days          []cohort.Day                    `json:"days"`
	Suspect       map[cohort.Day]cohort.Suspicion `json:"suspect"`
	Total         int                             `json:"total"`
	CurrentStreak int                             `json:"current_streak"`
	LongestStreak int                             `json:"longest_streak"`
	FirstDay      *cohort.Day                     `json:"first_day"`
	LastDay       *cohort.Day                     `json:"last_day"`
	Since         *cohort.Day                     `json:"since,omitempty"`
	origin
}

func (s *server) apiCalendarByQuery(c echo.Context) error {
	p := s.params(c, "id", "metric", "from", "to")
	return s.apiCalendar(c, p, p.needed("id"))
}

func (s *server) apiCalendarByPath(c echo.Context) error {
	p := s.params(c, "metric", "from", "to")
	id, err := pathParam(c, "id")
	p.fail(err)
	return s.apiCalendar(c, p, id)
}

func (s *server) apiCalendar(c echo.Context, p *params, id string) error {
	q := cohort.CalendarQuestion{UserID: id, Metric: p.calendarMetric("metric"), Range: p.days(), AsOf: p.today}
	if p.err != nil {
		return p.err
	}
	if err := s.audit(c, LookUp, id); err != nil {
		return err
	}
	a, err := s.Query.Calendar(c.Request().Context(), q, p.opts)
	if err != nil {
		return err
	}
	rows := table{header: []string{"date", "suspect"}}
	for _, d := range a.Value.Days {
		rows.rows = append(rows.rows, []string{d.String(), string(a.Value.Suspect[d])})
	}
	return respond(c, newCalendarBody(q, a), rows)
}

func newCalendarBody(q cohort.CalendarQuestion, a query.Answer[cohort.CalendarAnswer]) calendarBody {
	streak := a.Value.Streak
	b := calendarBody{
		UserID: q.UserID, Metric: q.Metric, From: q.Range.From, To: q.Range.To,
		Days: a.Value.Days, Suspect: a.Value.Suspect,
		Total: streak.Total, CurrentStreak: streak.Current, LongestStreak: streak.Longest,
		FirstDay: dayOrNull(streak.First, streak.Total > 0), LastDay: dayOrNull(streak.Last, streak.Total > 0),
		Since:  dayOrNull(a.Value.Since, a.Value.HasSince),
		origin: originOf(a),
	}
	if b.Days == nil {
		b.Days = []cohort.Day{}
	}
	return b
}

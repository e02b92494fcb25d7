package web

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
)

type metricBody struct {
	Name     string      `json:"name"`
	Kind     string      `json:"kind"`
	Title    string      `json:"title"`
	FirstDay *cohort.Day `json:"first_day"`
	LastDay  *cohort.Day `json:"last_day"`
}

func (s *server) apiMetrics(c echo.Context) error {
	p := s.params(c)
	if p.err != nil {
		return p.err
	}
	metrics, err := s.Query.Metrics(c.Request().Context())
	if err != nil {
		return err
	}
	body := make([]metricBody, len(metrics))
	rows := table{header: []string{"name", "kind", "title", "first_day", "last_day"}}
	for i, m := range metrics {
		b := metricBody{m.Name, m.Kind.String(), m.Title, dayOrNull(m.Days.From, m.HasData), dayOrNull(m.Days.To, m.HasData)}
		body[i] = b
		rows.rows = append(rows.rows, []string{b.Name, b.Kind, b.Title, dayText(b.FirstDay), dayText(b.LastDay)})
	}
	return respond(c, map[string]any{"metrics": body}, rows)
}

type pointBody struct {
	Date     cohort.Day       `json:"date"`
	Count    int64            `json:"count"`
	Complete bool             `json:"complete"`
	Suspect  cohort.Suspicion `json:"suspect,omitempty"`
}

func (s *server) apiActive(c echo.Context) error {
	p := s.params(c, "metric", "from", "to", "granularity", "window", "filter")
	q := cohort.ActiveQuestion{
		Metric: p.metric("metric"), Range: p.days(), Granularity: p.granularity(),
		Window: p.number("window", 1, 1, cohort.MaxWindow), Filter: p.filter(), AsOf: p.today,
	}
	if p.err != nil {
		return p.err
	}
	a, err := s.Query.Active(c.Request().Context(), q, p.opts)
	if err != nil {
		return err
	}
	points := make([]pointBody, len(a.Value))
	rows := table{header: []string{"date", "count", "complete", "suspect"}}
	for i, pt := range a.Value {
		points[i] = pointBody(pt)
		rows.rows = append(rows.rows, []string{pt.Date.String(), intText(pt.Count), strconv.FormatBool(pt.Complete), string(pt.Suspect)})
	}
	return respond(c, struct {
		Points []pointBody `json:"points"`
		origin
	}{points, originOf(a)}, rows)
}

type lifecycleBody struct {
	Date        cohort.Day `json:"date"`
	New         int64      `json:"new"`
	Returning   int64      `json:"returning"`
	Resurrected int64      `json:"resurrected"`
	Dormant     int64      `json:"dormant"`
	Pulse       *float64   `json:"pulse"`
	Complete    bool       `json:"complete"`
}

func (s *server) apiLifecycle(c echo.Context) error {
	p := s.params(c, "metric", "from", "to", "granularity", "filter")
	q := cohort.LifecycleQuestion{Metric: p.metric("metric"), Range: p.days(), Granularity: p.granularity(), Filter: p.filter(), AsOf: p.today}
	a, err := ask(c, p, q)
	if err != nil {
		return err
	}
	points := make([]lifecycleBody, len(a.Value))
	rows := table{header: []string{"date", "new", "returning", "resurrected", "dormant", "pulse", "complete"}}
	for i, pt := range a.Value {
		b := lifecycleBody{pt.Date, pt.New, pt.Returning, pt.Resurrected, pt.Dormant, defined(pt.Pulse()), pt.Complete}
		points[i] = b
		rows.rows = append(rows.rows, []string{
			b.Date.String(), intText(b.New), intText(b.Returning), intText(b.Resurrected), intText(b.Dormant), rateText(b.Pulse), strconv.FormatBool(b.Complete),
		})
	}
	return respond(c, struct {
		Points []lifecycleBody `json:"points"`
		origin
	}{points, originOf(a)}, rows)
}

// ask answers a question when its parameters were right.
func ask[T any](c echo.Context, p *params, q query.Question[T]) (query.Answer[T], error) {
	if p.err != nil {
		return query.Answer[T]{}, p.err
	}
	return query.Ask(c.Request().Context(), p.server.Query, q, p.opts)
}

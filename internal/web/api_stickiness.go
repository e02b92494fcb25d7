package web

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
)

type stickinessBody struct {
	ActivePeriods int   `json:"active_periods"`
	Users         int64 `json:"users"`
	AtLeast       int64 `json:"at_least"`
}

func (s *server) apiStickiness(c echo.Context) error {
	p := s.params(c, "metric", "from", "to", "granularity", "filter")
	q := cohort.StickinessQuestion{Metric: p.metric("metric"), Range: p.days(), Granularity: p.granularity(), Filter: p.filter(), AsOf: p.today}
	a, err := ask(c, p, q)
	if err != nil {
		return err
	}
	points := make([]stickinessBody, len(a.Value))
	rows := table{header: []string{"active_periods", "users", "at_least"}}
	for i, pt := range a.Value {
		points[i] = stickinessBody{pt.Periods, pt.Exactly, pt.AtLeast}
		rows.rows = append(rows.rows, []string{strconv.Itoa(pt.Periods), intText(pt.Exactly), intText(pt.AtLeast)})
	}
	return respond(c, struct {
		Periods int              `json:"periods"`
		Points  []stickinessBody `json:"points"`
		origin
	}{len(points), points, originOf(a)}, rows)
}

type ratioBody struct {
	Date     cohort.Day `json:"date"`
	DAU      int64      `json:"dau"`
	MAU      int64      `json:"mau"`
	Ratio    *float64   `json:"ratio"`
	Complete bool       `json:"complete"`
}

// defaultMAUWindow is the days of a MAU when no window is given.
const defaultMAUWindow = 30

func (s *server) apiStickinessRatio(c echo.Context) error {
	p := s.params(c, "metric", "from", "to", "window", "filter")
	q := cohort.RatioQuestion{
		Metric: p.metric("metric"), Range: p.days(), Window: p.number("window", defaultMAUWindow, 1, cohort.MaxWindow), Filter: p.filter(), AsOf: p.today,
	}
	a, err := ask(c, p, q)
	if err != nil {
		return err
	}
	points := make([]ratioBody, len(a.Value))
	rows := table{header: []string{"date", "dau", "mau", "ratio", "complete"}}
	for i, pt := range a.Value {
		b := ratioBody{pt.Date, pt.DAU, pt.MAU, defined(pt.Ratio()), pt.Complete}
		points[i] = b
		rows.rows = append(rows.rows, []string{b.Date.String(), intText(b.DAU), intText(b.MAU), rateText(b.Ratio), strconv.FormatBool(b.Complete)})
	}
	return respond(c, struct {
		Points []ratioBody `json:"points"`
		origin
	}{points, originOf(a)}, rows)
}

type recencyBody struct {
	Days  string `json:"days"`
	Users int64  `json:"users"`
}

func (s *server) apiRecency(c echo.Context) error {
	p := s.params(c, "metric", "filter")
	a, err := ask(c, p, cohort.RecencyQuestion{Metric: p.metric("metric"), Filter: p.filter(), AsOf: p.today})
	if err != nil {
		return err
	}
	points := make([]recencyBody, len(a.Value))
	rows := table{header: []string{"days", "users"}}
	for i, pt := range a.Value {
		points[i] = recencyBody(pt)
		rows.rows = append(rows.rows, []string{pt.Days, intText(pt.Users)})
	}
	return respond(c, struct {
		Points []recencyBody `json:"points"`
		origin
	}{points, originOf(a)}, rows)
}

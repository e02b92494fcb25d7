package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/job"
	"bitboard/views"
)

// jobs is the page of jobs.
func (s *server) jobs(c echo.Context) error {
	g := s.Jobs.Guard()
	page := views.JobsPage{Page: s.page(c, s.today()), Offpeak: s.Offpeak, Guard: views.Guard{
		Share: g.Share, Burst: g.Burst.Seconds(), Latency: g.Latency.Seconds(), Usual: g.Usual.Seconds(), Slowness: g.Slowness,
	}}
	page.ComputedAt = ""
	jobs, err := s.Jobs.Jobs(c.Request().Context())
	if err != nil {
		page.Error = s.panelError(c, err)
	}
	for _, j := range jobs {
		row := s.jobRow(c, j)
		if j.State.Ended() {
			page.Ended = append(page.Ended, row)
		} else {
			page.Open = append(page.Open, row)
		}
	}
	return render(c, http.StatusOK, views.Jobs(page))
}

// pageNames are the keys of the names of the pages and calls that become jobs.
var pageNames = map[string]string{
	"/": "nav.overview", "/retention": "nav.retention", "/engagement": "nav.engagement", "/cohorts": "nav.cohorts", comparePath: "compare.title", "/how": "how.title",
}

// jobRow is a job in the reader's words.
func (s *server) jobRow(c echo.Context, j job.Job) views.Job {
	t := printer(c)
	v := views.Job{
		ID: j.ID, State: string(j.State), Progress: j.Progress, Cost: j.Cost, Engine: j.Engine,
		Begun: j.CreatedAt.In(s.workspace.Zone).Format(time.RFC3339), Seconds: s.Now().Sub(j.CreatedAt).Seconds(),
		Busy: j.Busy.Seconds(), Waited: j.Waited.Seconds(), Name: j.Question.Path,
	}
	if j.State.Ended() {
		v.Seconds = j.EndedAt.Sub(j.CreatedAt).Seconds()
	}
	if key, ok := pageNames[j.Question.Path]; ok {
		v.Name = t.T(key)
	}
	v.URL = j.Question.Path
	if j.Question.Query != "" {
		v.URL += "?" + j.Question.Query
	}
	if j.Problem != nil {
		v.Problem = sentence(j.Problem.Message)
		if j.Problem.Code == job.CodeCancelled {
			v.Problem = t.T("jobs.cancelled")
		}
	}
	return v
}

func (s *server) cancelJob(c echo.Context) error { return s.orderJob(c, job.Orders{Cancel: true}) }

func (s *server) hurryJob(c echo.Context) error { return s.orderJob(c, job.Orders{Now: true}) }

// orderJob tells a job what is wanted of it, and goes to the page of jobs, or back.
func (s *server) orderJob(c echo.Context, o job.Orders) error {
	if err := s.Jobs.Order(c.Request().Context(), c.Param("id"), o); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/jobs")
}

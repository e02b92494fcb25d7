package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/job"
)

// jobPath is the address of a job.
func jobPath(id string) string { return "/api/v1/jobs/" + id }

// jobBody is a job as the API shows it.
type jobBody struct {
	ID    string    `json:"id"`
	State job.State `json:"state"`
	// Progress is from 0 to 1.
	Progress float64 `json:"progress"`
	// Cost is in bytes of bitmaps.
	Cost      int64        `json:"cost"`
	Engine    string       `json:"engine,omitempty"`
	Path      string       `json:"path"`
	Query     string       `json:"query"`
	CreatedAt time.Time    `json:"created_at"`
	EndedAt   *time.Time   `json:"ended_at"`
	Error     *job.Problem `json:"error,omitempty"`
}

func jobBodyOf(j job.Job) jobBody {
	b := jobBody{
		ID: j.ID, State: j.State, Progress: j.Progress, Cost: j.Cost, Engine: j.Engine,
		Path: j.Question.Path, Query: j.Question.Query, CreatedAt: j.CreatedAt, Error: j.Problem,
	}
	if j.State.Ended() {
		b.EndedAt = &j.EndedAt
	}
	return b
}

func (s *server) apiJobs(c echo.Context) error {
	jobs, err := s.Jobs.Jobs(c.Request().Context())
	if err != nil {
		return err
	}
	bodies := make([]jobBody, len(jobs))
	for i, j := range jobs {
		bodies[i] = jobBodyOf(j)
	}
	return c.JSON(http.StatusOK, map[string]any{"jobs": bodies})
}

func (s *server) apiJob(c echo.Context) error {
	ctx := c.Request().Context()
	j, err := s.Jobs.Job(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	body := map[string]any{"job": jobBodyOf(j)}
	if j.State == job.Done && j.Question.Keep {
		result, ok, err := s.Jobs.Result(ctx, j.ID)
		if err != nil {
			return err
		}
		if ok {
			body["result"] = resultBody(result)
		}
	}
	return c.JSON(http.StatusOK, body)
}

// resultBody is JSON as it is, and CSV as a text.
func resultBody(r job.Result) any {
	if strings.HasPrefix(http.Header(r.Header).Get(echo.HeaderContentType), echo.MIMEApplicationJSON) {
		return json.RawMessage(r.Body)
	}
	return string(r.Body)
}

func (s *server) apiCancelJob(c echo.Context) error {
	if err := s.Jobs.Order(c.Request().Context(), c.Param("id"), job.Orders{Cancel: true}); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *server) apiHurryJob(c echo.Context) error {
	ctx := c.Request().Context()
	if err := s.Jobs.Order(ctx, c.Param("id"), job.Orders{Now: true}); err != nil {
		return err
	}
	j, err := s.Jobs.Job(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]jobBody{"job": jobBodyOf(j)})
}

package web

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/job"
	"bitboard/views"
)

const (
	// pagePatience is how long a page may take before it shows its progress instead.
	pagePatience = 500 * time.Millisecond
	// defaultWait is how long, in seconds, the API waits for an answer when nobody says.
	defaultWait = 30
)

// asked lets what an API call asks go on as a job when it takes longer than the
// caller waits.
func (s *server) asked(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		wait := defaultWait
		if given := c.QueryParam("wait"); given != "" {
			var err error
			if wait, err = strconv.Atoi(given); err != nil || wait < 0 || wait > maxWaitSeconds {
				return h(c) // which says so
			}
		}
		j, err := s.patiently(c, h, time.Duration(wait)*time.Second, true)
		if j == nil || err != nil {
			return err
		}
		c.Response().Header().Set(echo.HeaderLocation, jobPath(j.ID))
		c.Response().Header().Set("Retry-After", "1")
		return c.JSON(http.StatusAccepted, map[string]jobBody{"job": jobBodyOf(*j)})
	}
}

// shown lets what a page shows be computed as a job when it takes long, and shows how
// far that is meanwhile.
func (s *server) shown(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		j, err := s.patiently(c, h, pagePatience, false)
		if j == nil || err != nil {
			return err
		}
		p := s.page(c, s.today())
		p.ComputedAt, p.Reload = "", true
		c.Response().Header().Set("Cache-Control", "no-store")
		return render(c, http.StatusAccepted, views.Working(views.WorkingPage{Page: p, Job: s.jobRow(c, *j), Poll: jobPath(j.ID)}))
	}
}

// patiently answers a request by a handler, or with the job that answering has become.
func (s *server) patiently(c echo.Context, h echo.HandlerFunc, patience time.Duration, keep bool) (*job.Job, error) {
	r := c.Request()
	if job.RunOf(r.Context()) != nil {
		return nil, h(c)
	}
	result, j, err := s.Jobs.Do(r.Context(), s.question(c, keep), patience, workOf(c, h))
	if j != nil || err != nil {
		return j, err
	}
	maps.Copy(c.Response().Header(), result.Header)
	c.Response().WriteHeader(result.Status)
	_, err = c.Response().Write(result.Body)
	return nil, err
}

// question is what a request asks. What is shown in a language or a theme, or is
// recorded as seen by somebody, is a question of its own.
func (s *server) question(c echo.Context, keep bool) job.Question {
	values := c.QueryParams()
	query := make(url.Values, len(values))
	for name, v := range values {
		if name != "wait" && name != "refresh" {
			query[name] = v
		}
	}
	if !query.Has("as_of") {
		query.Set("as_of", s.today().String())
	}
	path := c.Request().URL.Path
	q := job.Question{Path: path, Query: query.Encode(), Refresh: values.Get("refresh") == "1", Keep: keep}
	if wantsCSV(c) {
		q.Accept = "text/csv"
	}
	q.Key = path + "?" + q.Query + " " + q.Accept
	if !keep {
		q.Accept = echo.MIMETextHTML
		theme, _ := c.Cookie(themeCookie)
		q.Key = fmt.Sprint(path, "?", c.Request().URL.RawQuery, s.today(), printer(c).Code(), theme, c.RealIP())
	}
	return q
}

// workOf is the work of a handler, on a copy of its request that outlives it.
func workOf(c echo.Context, h echo.HandlerFunc) job.Work {
	e, original, path := c.Echo(), c.Request().Clone(context.Background()), c.Path()
	names, values := c.ParamNames(), c.ParamValues()
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	return func(ctx context.Context, refresh bool) (_ job.Result, err error) {
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
			}
		}()
		r := original.Clone(ctx)
		if q := r.URL.Query(); !refresh && q.Get("refresh") == "1" {
			q.Del("refresh")
			r.URL.RawQuery = q.Encode()
		}
		w := newRecorder()
		own := e.NewContext(r, w)
		own.SetPath(path)
		own.SetParamNames(names...)
		own.SetParamValues(values...)
		w.header.Set(echo.HeaderXRequestID, id)
		if err := h(own); err != nil {
			return job.Result{}, err
		}
		return w.result(), nil
	}
}

// Again returns the work of questions that other processes were asked, done by the
// handler of all routes.
func Again(all http.Handler) func(job.Question) job.Work {
	return func(q job.Question) job.Work {
		return func(ctx context.Context, refresh bool) (job.Result, error) {
			target := url.URL{Path: q.Path, RawQuery: q.Query}
			if refresh {
				target.RawQuery += "&refresh=1"
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
			if err != nil {
				return job.Result{}, err
			}
			r.Header.Set(echo.HeaderAccept, q.Accept)
			w := newRecorder()
			all.ServeHTTP(w, r)
			if w.status != http.StatusOK {
				return job.Result{}, fmt.Errorf("%s answered %d: %s", q.Path, w.status, w.body.Bytes())
			}
			return w.result(), ctx.Err()
		}
	}
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newRecorder() *recorder { return &recorder{header: http.Header{}, status: http.StatusOK} }

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

func (r *recorder) result() job.Result {
	r.header.Del(echo.HeaderXRequestID) // that of whoever asks
	return job.Result{Status: r.status, Header: r.header, Body: r.body.Bytes()}
}

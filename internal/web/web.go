// Package web is the HTTP edge: it reads requests, asks, and renders pages,
// JSON and CSV. It is the only place that knows Echo.
package web

import (
	"compress/gzip"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"bitboard/internal/cohort"
	"bitboard/internal/ingest"
	"bitboard/internal/job"
	"bitboard/internal/query"
	"bitboard/static"
)

// Store is what the edge asks of the place where the data lie.
type Store interface {
	// Ping tells whether it can be reached.
	Ping(ctx context.Context) error
	// CLI is how redis-cli reaches it, as its words, without the password.
	CLI() []string
	// SavedCohorts returns the saved cohorts, no older than the last acknowledged change.
	SavedCohorts(ctx context.Context) (cohort.SavedCohorts, error)
	// ChangeCohort changes the saved cohort of a name to what change returns, or
	// removes it when that is nil; what change checks holds when that is done.
	ChangeCohort(ctx context.Context, name string, change func(all cohort.SavedCohorts) (*cohort.Saved, error)) error
}

// Config is what the edge is made of.
type Config struct {
	Query  *query.Service
	Ingest *ingest.Service
	Store  Store
	// Jobs runs questions that take long.
	Jobs *job.Runner
	// Offpeak is the hours for jobs that cost much, e.g. 01:00-06:00, for people to read.
	Offpeak string
	// Engine is what computes an answer when the caller does not say; empty is query.Auto.
	Engine query.Engine
	// Dense says that IDs are numbers which need no look-up, so that lists cost little.
	Dense bool
	// Now is the clock; only the edge reads it.
	Now func() time.Time
	Log *slog.Logger
	// Version is the program's, shown on every page.
	Version string
	// Audit is told of every export and look-up.
	Audit Auditor
	// Stopping is closed when the server stops: what is sent without an end ends
	// then. Nil never stops.
	Stopping <-chan struct{}
	// Notices returns what every page says at its top; nil is for nothing. It
	// is asked for each page, so that it must not wait for anything.
	Notices func(ctx context.Context) []Notice
}

// server is the handlers' common ground.
type server struct {
	Config
	workspace cohort.Workspace
}

// New returns the handler of all routes.
func New(cfg Config) http.Handler {
	s := &server{cfg, cfg.Query.Workspace()}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.fail
	// The address that the nearest proxy saw, not one that the caller made up.
	e.IPExtractor = echo.ExtractIPFromXFFHeader()
	e.Use(
		middleware.RequestID(),
		s.logRequests,
		middleware.RecoverWithConfig(middleware.RecoverConfig{LogErrorFunc: s.logPanic}),
		echo.WrapMiddleware(http.NewCrossOriginProtection().Handler),
		secureHeaders,
		middleware.GzipWithConfig(middleware.GzipConfig{Level: gzip.BestSpeed, MinLength: gzipMinLength, Skipper: goesAsItIs}),
	)
	for _, r := range s.routes() {
		e.Add(r.Method, r.Path, r.Handler)
		if r.Method == http.MethodGet { // the server leaves the body out
			e.Add(http.MethodHead, r.Path, r.Handler)
		}
	}
	return e
}

// gzipMinLength is the size in bytes below which compressing is not worth it.
const gzipMinLength = 1024

// goesAsItIs reports whether a request is not to be compressed: for an asset, which
// is already, or for live numbers, which must not wait to be packed together.
func goesAsItIs(c echo.Context) bool {
	path := c.Request().URL.Path
	return strings.HasPrefix(path, static.Prefix) || path == onlineLivePath
}

// contentSecurityPolicy allows nothing inline and nothing from elsewhere.
const contentSecurityPolicy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

func secureHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentSecurityPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		return next(c)
	}
}

// logRequests writes a line for each request, with its error's full text.
func (s *server) logRequests(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := s.Now()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		level := slog.LevelDebug
		status := c.Response().Status
		if status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		attrs := []any{
			"id", c.Response().Header().Get(echo.HeaderXRequestID), "method", c.Request().Method, "path", c.Request().URL.Path,
			"status", status, "ms", s.Now().Sub(begin).Milliseconds(),
		}
		if err != nil {
			attrs = append(attrs, "error", err)
		}
		s.Log.Log(c.Request().Context(), level, "request", attrs...)
		return nil
	}
}

func (s *server) logPanic(c echo.Context, err error, stack []byte) error {
	s.Log.Error("panic", "path", c.Request().URL.Path, "error", err, "stack", string(stack))
	return err
}

// today is the civil day of now in the workspace's zone.
func (s *server) today() cohort.Day { return cohort.DayOf(s.Now(), s.workspace.Zone) }

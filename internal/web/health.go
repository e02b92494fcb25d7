package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bitboard/internal/fault"
)

// readyTimeout bounds the question whether the store is there.
const readyTimeout = 2 * time.Second

func (s *server) healthz(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"status": "alive"})
}

func (s *server) readyz(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	err := s.Store.Ping(ctx)
	if errors.Is(err, context.DeadlineExceeded) && fault.As(err) == nil {
		return fault.Unavailable(err, "the store did not answer within %s", readyTimeout)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ready"})
}

// prometheus serves the process's own figures.
func (s *server) prometheus() echo.HandlerFunc {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return echo.WrapHandler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}

package query

import (
	"context"

	"bitboard/internal/cohort"
)

// MetricSpan is a metric with the days that it has data on.
type MetricSpan struct {
	cohort.Metric
	// Days is meaningless when HasData is false.
	Days    cohort.Range
	HasData bool
}

// Metrics returns the workspace's metrics with their first and last days.
func (s *Service) Metrics(ctx context.Context) ([]MetricSpan, error) {
	cat, err := s.store.Catalogue(ctx)
	if err != nil {
		return nil, err
	}
	var spans []MetricSpan
	for _, m := range s.workspace.Metrics {
		r, ok := cat.Span(m.Name)
		spans = append(spans, MetricSpan{m, r, ok})
	}
	return spans, nil
}

// Catalogue returns what exists now, to tell a day without data from a day
// without anybody.
func (s *Service) Catalogue(ctx context.Context) (*cohort.Catalogue, error) {
	return s.store.Catalogue(ctx)
}

package app

import (
	"context"
	"log/slog"
	"time"

	"bitboard/internal/query"
)

// rememberEvery is how often days are looked at that are soon kept no longer.
const rememberEvery = 10 * time.Minute

// remembering makes sure, until ctx ends, that first days outlive the days of
// metrics that are not kept for ever. What fails is logged and tried again.
func remembering(ctx context.Context, q *query.Service, log *slog.Logger) {
	ticker := time.NewTicker(rememberEvery)
	defer ticker.Stop()
	for {
		if err := q.Remember(ctx, time.Now()); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "first days of metrics with keep could not be remembered", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

package app

import (
	"context"
	"log/slog"
	"time"

	"bitboard/internal/store"
)

// scanning looks for what other programs wrote, at once and then every so
// often, until ctx ends; every 0 means never. A scan that fails is logged and
// tried again in its turn: questions are answered from what is known so far.
func scanning(ctx context.Context, s *store.Store, every time.Duration, log *slog.Logger) {
	if every == 0 {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := s.Scan(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the store could not be scanned for what other programs wrote", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

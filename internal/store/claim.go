package store

import (
	"context"
	"time"
)

// Claim takes a piece of work, so that of all who want it done one does it. It
// is ok when nobody else holds it; then release must be called at its end, and
// until then it is held, unless this process dies.
func (s *Store) Claim(ctx context.Context, work string) (release func(), ok bool, err error) {
	id, l := random(), lease{s.keys.cells("claim " + work), "count"}
	ok, err = s.client.SetNX(ctx, l.key, id, leaseTTL).Result()
	if err != nil || !ok {
		return nil, false, s.failed(ctx, "claim work", err)
	}
	ctx = context.WithoutCancel(ctx)
	holding, stop := context.WithCancel(ctx)
	go func() {
		every := time.NewTicker(leaseTTL / 3)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				// When it is lost, the work is done twice, which does no harm.
				_, _ = s.renewLease(holding, l, id)
			case <-holding.Done():
				return
			}
		}
	}()
	return func() {
		stop()
		// What cannot be given back ends by itself.
		_ = s.releaseLease(ctx, l, id)
	}, true, nil
}

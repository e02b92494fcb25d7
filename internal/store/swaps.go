package store

import (
	"context"
	"slices"
	"time"
)

const (
	// swapPatience is how long the process that committed a sync gets to finish
	// it, which takes milliseconds, before another one does it.
	swapPatience = 3 * time.Second
	swapPoll     = 10 * time.Millisecond
)

// Swaps names the replacements of days that were made so far, once none of them
// is half done; it finishes one that nobody else does. What was read between
// two equal names comes from before or after each replacement, never from its
// middle.
func (s *Store) Swaps(ctx context.Context) (string, error) {
	patience := time.NewTimer(swapPatience)
	defer patience.Stop()
	for {
		now, err := s.readSwaps(ctx)
		if err != nil || !now.open {
			return now.name, err
		}
		if now.owned {
			select {
			case <-time.After(swapPoll):
				continue
			case <-ctx.Done():
				return "", ctx.Err()
			case <-patience.C:
			}
		}
		if err := s.finishSyncs(ctx); err != nil {
			return "", err
		}
	}
}

// swaps is the state of the replacements.
type swaps struct {
	name  string // of those that began or ended so far
	open  bool   // one is half done
	owned bool   // by a process that seems to be at it
}

func (s *Store) readSwaps(ctx context.Context) (swaps, error) {
	p := s.client.TxPipeline()
	open := p.SMembers(ctx, s.keys.syncs())
	owner := p.Get(ctx, s.keys.syncLease())
	made := p.Get(ctx, s.keys.swaps())
	if err := s.exec(ctx, "look for replacements of days", p); err != nil {
		return swaps{}, err
	}
	ids := open.Val()
	return swaps{made.Val(), len(ids) > 0, slices.Contains(ids, owner.Val())}, nil
}

package store

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
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

// swapsScript reads the open syncs, the holder of the lease and how many syncs
// began and ended, as of one moment. In a MULTI a full server would refuse it.
var swapsScript = redis.NewScript(`
return {redis.call('SMEMBERS', KEYS[1]), redis.call('GET', KEYS[2]) or '', redis.call('GET', KEYS[3]) or ''}
`)

func (s *Store) readSwaps(ctx context.Context) (swaps, error) {
	names := []string{s.keys.syncs(), s.keys.syncLease(), s.keys.swaps()}
	reply, err := swapsScript.Run(ctx, s.client, names).Slice()
	if err != nil {
		return swaps{}, s.failed(ctx, "look for replacements of days", err)
	}
	open, _ := reply[0].([]any)
	made, _ := reply[2].(string)
	return swaps{made, len(open) > 0, slices.Contains(open, reply[1])}, nil
}

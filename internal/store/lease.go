package store

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

const (
	// leaseTTL is how long the lease of a process that died stays in the way.
	leaseTTL = 10 * time.Second
	// leaseWait is how long one waits for another's lease; longer than
	// leaseTTL, so that a process that died is never in the way.
	leaseWait  = 15 * time.Second
	leaseRetry = 100 * time.Millisecond
)

var (
	renewScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`)
	releaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`)
)

// lease is what one process at a time holds.
type lease struct {
	key string
	// work is what the holder does, for messages.
	work string
}

func (s *Store) syncLease() lease { return lease{s.keys.syncLease(), "replace"} }

// takeLease waits until nobody else holds the lease and takes it under an ID.
// It is ErrBusy when another holds on to it.
func (s *Store) takeLease(ctx context.Context, l lease, id string) error {
	patience := time.NewTimer(leaseWait)
	defer patience.Stop()
	for {
		taken, err := s.client.SetNX(ctx, l.key, id, leaseTTL).Result()
		if err != nil {
			return s.failed(ctx, "take the lease of a "+l.work, err)
		}
		if taken {
			return nil
		}
		select {
		case <-time.After(leaseRetry):
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return &fault.Error{Kind: fault.ErrBusy, Code: "already_running", Position: fault.NoPosition,
				Message: "another " + l.work + " is running under the prefix " + s.config.Prefix + "; try again when it has ended"}
		}
	}
}

// renewLease holds on to a lease; held is false when it was lost.
func (s *Store) renewLease(ctx context.Context, l lease, id string) (held bool, err error) {
	n, err := renewScript.Run(ctx, s.client, []string{l.key}, id, leaseTTL.Milliseconds()).Int()
	return n == 1, s.failed(ctx, "renew the lease of a "+l.work, err)
}

// releaseLease gives a lease back, unless it is another's by now.
func (s *Store) releaseLease(ctx context.Context, l lease, id string) error {
	err := releaseScript.Run(ctx, s.client, []string{l.key}, id).Err()
	return s.failed(ctx, "release the lease of a "+l.work, err)
}

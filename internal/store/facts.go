package store

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Layout says how the data are laid out, which Open found to be as configured.
func (s *Store) Layout() string {
	values := s.layout()
	parts := make([]string, len(values))
	for i, field := range layoutFields {
		parts[i] = field + " " + values[i]
	}
	return strings.Join(parts, ", ")
}

// Syncs is the state of the replacements of whole days.
type Syncs struct {
	// Running is the job that holds the lease, empty for none.
	Running string
	// Committed are those that are not finished.
	Committed []string
}

// Syncs returns the state of the replacements.
func (s *Store) Syncs(ctx context.Context) (Syncs, error) {
	p := s.client.Pipeline()
	running, committed := p.Get(ctx, s.keys.syncLease()), p.SMembers(ctx, s.keys.syncs())
	if err := s.exec(ctx, "look for replacements of days", p); err != nil {
		return Syncs{}, err
	}
	return Syncs{running.Val(), committed.Val()}, nil
}

// Forgetting returns how many offsets are of users of whom something may still
// be stored, because forgetting them was interrupted.
func (s *Store) Forgetting(ctx context.Context) (int64, error) {
	n, err := s.client.SCard(ctx, s.keys.forgetting()).Result()
	return n, s.failed(ctx, "look for users being forgotten", err)
}

// NextOffset returns the offset that the dictionary hands out next.
func (s *Store) NextOffset(ctx context.Context) (int64, error) {
	next, err := s.client.Get(ctx, s.keys.nextOffset()).Int64()
	switch {
	case err == redis.Nil:
		return 0, nil
	case errors.Is(err, strconv.ErrSyntax), errors.Is(err, strconv.ErrRange):
		return 0, damagedKey(s.keys.nextOffset(), "number")
	}
	return next, s.failed(ctx, "read the next offset", err)
}

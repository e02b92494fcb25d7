package store

import (
	"context"
	"sync/atomic"
	"time"

	"bitboard/internal/fault"
)

// evictionAge is how long an answer of the servers about eviction holds.
const evictionAge = 2 * time.Second

// eviction is what the servers say about keys that they remove by themselves.
type eviction struct {
	// policy is the first that removes keys; empty when there is none.
	policy  string
	evicted bool
	// runs names the runs of all servers: it changes when one restarts.
	runs string
}

// evictionWatch holds the last answer, nil when it is to be asked for again.
type evictionWatch struct{ last *atomic.Pointer[eviction] }

func newEvictionWatch() evictionWatch { return evictionWatch{new(atomic.Pointer[eviction])} }

// forget makes the next reader ask again.
func (w evictionWatch) forget() { w.last.Store(nil) }

// eviction returns what the servers said, at most evictionAge ago.
func (s *Store) eviction(ctx context.Context) (eviction, error) {
	if e := s.watch.last.Load(); e != nil {
		return *e, nil
	}
	servers, err := s.Servers(ctx)
	if err != nil {
		return eviction{}, err
	}
	var e eviction
	for _, server := range servers {
		e.evicted = e.evicted || server.EvictedKeys > 0
		e.runs += server.RunID + " "
		if e.policy == "" && server.Policy != noEviction {
			e.policy = server.Policy
		}
	}
	s.watch.last.Store(&e)
	time.AfterFunc(evictionAge, s.watch.forget)
	return e, nil
}

// EvictionPolicy returns the maxmemory-policy by which a server may remove
// keys, or the empty string when none does. While there is one, writes are refused.
func (s *Store) EvictionPolicy(ctx context.Context) (string, error) {
	e, err := s.eviction(ctx)
	return e.policy, err
}

// writable refuses to write what a server may remove behind our back: a day
// that lost a segment looks like any other.
func (s *Store) writable(ctx context.Context) error {
	e, err := s.eviction(ctx)
	if err != nil || e.policy == "" {
		return err
	}
	return &fault.Error{Kind: fault.ErrUnavailable, Code: "eviction_policy", Position: fault.NoPosition, Message: "the store at " + s.shown +
		" removes keys when its memory is full (maxmemory-policy " + e.policy + "), so that days would be lost, and nothing is written; " +
		"set it to noeviction: redis-cli CONFIG SET maxmemory-policy noeviction, and in the server's configuration"}
}

// undiminished refuses to hand out offsets once keys were evicted: an ID that
// the dictionary has lost cannot be told from a new one, and its user would be
// counted twice.
func (s *Store) undiminished(ctx context.Context) error {
	e, err := s.eviction(ctx)
	if err != nil || !e.evicted {
		return err
	}
	return &fault.Error{Kind: fault.ErrUnavailable, Code: "evicted_keys", Position: fault.NoPosition, Message: "the store at " + s.shown +
		" has removed keys when its memory was full, perhaps those of user IDs, so that nobody new is taken in, lest a known user be counted twice; " +
		"restore a copy of the data, or import all of them under another prefix, then redis-cli CONFIG RESETSTAT"}
}

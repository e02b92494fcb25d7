package store

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// moment is a state of the stored catalogue: which data, how often changed,
// whether the store has removed keys by itself, and how often a user was forgotten.
type moment struct {
	epoch     string
	version   int64
	evicted   bool
	forgotten int64
}

func (m moment) generation() generation { return generation{m.epoch, m.forgotten} }

// snapshot is the catalogue as it was at a moment, or newer.
type snapshot struct {
	moment
	catalogue *cohort.Catalogue
}

// view holds the newest snapshot read, and lets one reader at a time replace it.
type view struct {
	newest  *atomic.Pointer[snapshot]
	loading chan struct{}
}

func newView() view {
	v := view{new(atomic.Pointer[snapshot]), make(chan struct{}, 1)}
	v.clear()
	return v
}

func (v view) clear() { v.newest.Store(emptySnapshot("")) }

func emptySnapshot(epoch string) *snapshot {
	return &snapshot{moment{epoch: epoch}, cohort.NewCatalogue(nil)}
}

// Catalogue returns a snapshot of what exists that is no older than the last
// acknowledged write of any process under this prefix. It asks for the stored
// version, and reads what changed since the newest snapshot.
func (s *Store) Catalogue(ctx context.Context) (*cohort.Catalogue, error) {
	latest, err := s.latest(ctx)
	if err != nil {
		return nil, err
	}
	return latest.catalogue, nil
}

func (s *Store) latest(ctx context.Context) (*snapshot, error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	if seen := s.view.newest.Load(); seen.moment == now {
		return seen, nil
	}
	select {
	case s.view.loading <- struct{}{}:
		defer func() { <-s.view.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		seen := s.view.newest.Load()
		next, err := s.catchUp(ctx, seen)
		if err != nil {
			return nil, err
		}
		if s.view.newest.CompareAndSwap(seen, next) {
			return next, nil
		}
	}
}

// now returns the state of the stored catalogue. Data without an epoch were
// emptied behind our back: they get their layout record again.
func (s *Store) now(ctx context.Context) (moment, error) {
	now, err := s.readMoment(ctx)
	if err != nil || now.epoch != "" {
		return now, err
	}
	if err := s.settleLayout(ctx); err != nil {
		return moment{}, err
	}
	if now, err = s.readMoment(ctx); err != nil || now.epoch != "" {
		return now, err
	}
	return now, s.checkTypes(ctx, []string{s.keys.epoch()})
}

func (s *Store) readMoment(ctx context.Context) (moment, error) {
	values, failovers, err := s.readState(ctx, s.keys.epoch(), s.keys.catalogueVersion(), s.keys.forgottenVersion())
	if err != nil {
		return moment{}, s.failed(ctx, "read the catalogue's version", err)
	}
	e, err := s.eviction(ctx)
	if err != nil {
		return moment{}, err
	}
	now := moment{evicted: e.evicted}
	if epoch, ok := values[0].(string); ok {
		now.epoch = epoch + failovers
	}
	for i, version := range []*int64{&now.version, &now.forgotten} {
		text, ok := values[1+i].(string)
		if !ok {
			continue
		}
		if *version, err = strconv.ParseInt(text, 10, 64); err != nil {
			return moment{}, fmt.Errorf("store: catalogue's version: %w", err)
		}
	}
	return now, nil
}

// catchUp returns seen with what changed since. Data that are other data, or
// older than what was seen, are read from nothing.
func (s *Store) catchUp(ctx context.Context, seen *snapshot) (*snapshot, error) {
	now, err := s.now(ctx)
	if err != nil || now == seen.moment {
		return seen, err
	}
	if now.epoch != seen.epoch || now.version < seen.version {
		seen = emptySnapshot(now.epoch)
	}
	changed, err := s.changedSince(ctx, seen.version)
	if err != nil {
		return nil, err
	}
	half, err := s.HalfReplaced(ctx)
	if err != nil {
		return nil, err
	}
	// What was changed after now was read may be in it already; the next reader
	// sees a higher version and reads it again, which does no harm.
	doubts := cohort.Doubts{Evicted: now.evicted, HalfReplaced: half}
	return &snapshot{now, seen.catalogue.With(changed).Doubting(doubts)}, nil
}

// changedSince returns the segments of each bitmap that changed after a
// version; those of one that is gone are nil.
func (s *Store) changedSince(ctx context.Context, version int64) (map[cohort.Bitmap][]int, error) {
	after := &redis.ZRangeBy{Min: "(" + strconv.FormatInt(version, 10), Max: "+inf"}
	members, err := s.client.ZRangeByScore(ctx, s.keys.catalogue(), after).Result()
	if err != nil {
		return nil, s.failed(ctx, "read the catalogue", err)
	}
	changed := make(map[cohort.Bitmap][]int, len(members))
	for len(members) > 0 {
		n := min(len(members), pipelineLimit)
		if err := s.readSegments(ctx, members[:n], changed); err != nil {
			return nil, err
		}
		members = members[n:]
	}
	return changed, nil
}

func (s *Store) readSegments(ctx context.Context, members []string, into map[cohort.Bitmap][]int) error {
	p := s.client.Pipeline()
	replies := make([]*redis.StringCmd, len(members))
	for i, m := range members {
		replies[i] = p.Get(ctx, s.keys.segmentsOf(m))
	}
	if err := s.exec(ctx, "read the catalogue", p); err != nil {
		return err
	}
	for i, m := range members {
		b, ok := parseMember(m)
		if !ok {
			continue
		}
		into[b] = nil
		if replies[i].Err() == nil {
			into[b] = segmentList([]byte(replies[i].Val()))
		}
	}
	return nil
}

// segmentList returns the positions of the bits set, never nil.
func segmentList(bits []byte) []int {
	segments := make([]int, 0, bitmap.CountBits(bits))
	for segment := range bitmap.Ones(bits) {
		segments = append(segments, segment)
	}
	return segments
}

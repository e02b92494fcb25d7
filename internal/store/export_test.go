package store

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/store/address"
)

// CommitOnly does what Commit does up to and including the commit record, and
// then applies the first n segments: what a process leaves that dies there.
func (y *Sync) CommitOnly(ctx context.Context, n int) error {
	r, _, err := y.prepare(ctx, true)
	if err != nil {
		return err
	}
	if err := y.store.writeRecord(ctx, y.id, r); err != nil {
		return err
	}
	for _, sr := range r.Segments[:n] {
		if _, _, err := y.store.apply(ctx, y.id, sr); err != nil {
			return err
		}
	}
	y.end()
	return nil
}

// CommitAfter does what Commit does, with something that happens once all is
// prepared.
func (y *Sync) CommitAfter(ctx context.Context, happens func()) (Written, error) {
	r, written, err := y.prepare(ctx, true)
	if err != nil {
		return Written{}, err
	}
	happens()
	defer y.end()
	return y.carryOut(ctx, r, written)
}

// AskAboutEviction forgets what the servers said about eviction, as time does.
func (s *Store) AskAboutEviction() { s.watch.forget() }

// ReserveOnly, AppendOnly and ClaimOnly are the steps in which new IDs get
// offsets, for writers that die after any of them.
func (s *Store) ReserveOnly(ctx context.Context, ids []string) (first uint32, err error) {
	r, err := s.reserve(ctx, ids)
	return r.first, err
}

// AdmitAfter gives new IDs offsets, with something that happens once those are
// reserved.
func (s *Store) AdmitAfter(ctx context.Context, ids []string, happens func()) error {
	r, err := s.reserve(ctx, ids)
	if err != nil {
		return err
	}
	happens()
	if _, err := s.enter(ctx, r.first, ids, roaring.New()); err != nil {
		return err
	}
	return s.confirm(ctx, r, ids)
}

// AppendOnly writes the reverse entries of IDs from an offset on.
func (s *Store) AppendOnly(ctx context.Context, first uint32, ids []string) error {
	return s.appendReverse(ctx, first, ids)
}

// ClaimOnly writes the forward entries of IDs from an offset on.
func (s *Store) ClaimOnly(ctx context.Context, first uint32, ids []string) ([]uint32, error) {
	return s.claim(ctx, first, ids, roaring.New())
}

// PlaceOnly writes the reverse entries of pairs.
func (m *IDImport) PlaceOnly(ctx context.Context, pairs []Pair) error {
	at := make([]int, len(pairs))
	for i := range at {
		at[i] = i
	}
	return m.store.place(ctx, pairs, at)
}

// Register does what Merge does before it writes.
func (s *Store) Register(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) error {
	return s.register(ctx, s.places(marks))
}

// ForgetSteps is in how many steps a user is forgotten.
const ForgetSteps = 8

// ForgetOnly does the first n steps of Forget: what a process leaves that dies
// there.
func (s *Store) ForgetOnly(ctx context.Context, id string, n int) error {
	f := &forgetting{store: s, id: id, offsets: roaring.New(), left: roaring.New()}
	for _, step := range f.steps()[:n] {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// PutCohortTwice sends the same change of a saved cohort twice, as a client does
// that had no reply, and says whether each was taken as done.
func (s *Store) PutCohortTwice(ctx context.Context, name string, c cohort.Saved) (first, second bool, err error) {
	before, err := s.savedCohorts(ctx)
	if err != nil {
		return false, false, err
	}
	next := random()
	if first, err = s.putCohort(ctx, before.version, next, name, &c); err != nil {
		return first, false, err
	}
	second, err = s.putCohort(ctx, before.version, next, name, &c)
	return first, second, err
}

// IDCache is the cache of IDs, of one generation.
type IDCache struct{ cache *idCache }

// NewIDCache returns a cache with two tables of as many bytes each.
func NewIDCache(bytes int) IDCache { return IDCache{newIDCache(bytes)} }

// LookUp fills in the offsets that are remembered and returns the positions of
// the other IDs.
func (c IDCache) LookUp(epoch string, ids []string, offsets []uint32) (missing []int) {
	return c.cache.lookUp(generation{epoch: epoch}, ids, offsets)
}

// Remember keeps the offsets of IDs.
func (c IDCache) Remember(epoch string, ids []string, offsets []uint32) {
	c.cache.remember(generation{epoch: epoch}, ids, offsets)
}

// Bytes returns what the cache takes up.
func (c IDCache) Bytes() int {
	bytes := 0
	for _, t := range []idTable{c.cache.young, c.cache.old} {
		bytes += len(t.slots)*idSlotBytes + len(t.text)
	}
	return bytes
}

// NewClient returns a plain client of the store at a URL.
func NewClient(url string) (redis.UniversalClient, error) {
	at, err := address.Parse(url)
	if err != nil {
		return nil, err
	}
	return newClient(at, nil), nil
}

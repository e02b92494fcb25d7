package ingest

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
)

const (
	// defaultMemoryLimit is how many bytes of marks are gathered before they
	// are written.
	defaultMemoryLimit = 256 << 20
	// knownLimit is how many bytes of IDs are remembered with their offsets.
	knownLimit = 128 << 20
	// bitmapOverhead is about what a bitmap takes besides its users.
	bitmapOverhead = 512
	// waitingBytes is what a row takes that waits for its user's offset.
	waitingBytes = 16
)

// gatherer collects the marks of readings until they take up too much memory.
// Rows of users without an offset wait for the store, which meanwhile works on
// several requests.
type gatherer struct {
	store Store
	limit uint64
	users map[groupKey]*gathered
	// known holds the offsets already asked for, as far as memory allows.
	known   atomicTable
	filling *request
	asked   []*request // oldest first
	spare   []*request
}

// gathered is the users for whom rows marked some bitmaps.
type gathered struct {
	bitmaps []cohort.Bitmap
	users   *roaring.Bitmap
}

func newGatherer(s *Service) *gatherer {
	g := &gatherer{store: s.config.Store, limit: s.memoryLimit, users: map[groupKey]*gathered{}, filling: newRequest()}
	g.known.Store(newIDTable())
	return g
}

// add takes a reading in.
func (g *gatherer) add(ctx context.Context, r *reading) error {
	if err := g.settleReady(ctx); err != nil {
		return err
	}
	for _, from := range r.groups {
		if len(from.offsets) > 0 {
			g.usersOf(from).AddMany(from.offsets)
		}
	}
	for _, u := range r.unknown {
		id := r.id(u)
		if offset, ok := g.known.Load().find(u.hash, id); ok {
			g.usersOf(u.group).Add(offset)
			continue
		}
		if err := g.wait(ctx, u, id); err != nil {
			return err
		}
	}
	return nil
}

// complete gathers the rows that still wait.
func (g *gatherer) complete(ctx context.Context) error {
	if err := g.ask(ctx); err != nil {
		return err
	}
	return g.settle(ctx, len(g.asked))
}

// usersOf returns the users gathered for a group.
func (g *gatherer) usersOf(from *group) *roaring.Bitmap {
	to := g.users[from.groupKey]
	if to == nil {
		to = &gathered{from.bitmaps, roaring.New()}
		g.users[from.groupKey] = to
	}
	return to.users
}

// large reports whether the marks should be written.
func (g *gatherer) large() bool {
	size := uint64(len(g.filling.rows)) * waitingBytes
	for _, q := range g.asked {
		size += uint64(len(q.rows)) * waitingBytes
	}
	for _, to := range g.users {
		size += to.users.GetSizeInBytes() + bitmapOverhead
	}
	return size > g.limit
}

// marks returns what was gathered so far and forgets it.
func (g *gatherer) marks() map[cohort.Bitmap]*roaring.Bitmap {
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for _, from := range g.users {
		for _, b := range from.bitmaps {
			if marks[b] == nil {
				marks[b] = roaring.New()
			}
			marks[b].Or(from.users)
		}
	}
	clear(g.users)
	return marks
}

package ingest

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
)

const (
	// defaultMemoryLimit is how many bytes of marks are gathered before they
	// are written.
	defaultMemoryLimit = 256 << 20
	// cacheLimit is how many bytes of IDs are remembered with their offsets.
	cacheLimit = 128 << 20
	// idOverhead is about what a remembered ID takes besides its own bytes.
	idOverhead = 64
	// groupOverhead is about what a group takes besides its users.
	groupOverhead = 512
	// assignBatch is how many IDs are given to the store at once.
	assignBatch = 10_000
	// waitingLimit is how many rows wait for offsets at most.
	waitingLimit = 16 * assignBatch
)

// gatherer collects the marks of rows until they take up too much memory.
type gatherer struct {
	store   Store
	checkID func(id string) error
	rows    *interpreter
	limit   uint64

	// offsets are those already asked for, as far as memory allows.
	offsets map[string]uint32
	cached  int // bytes
	// ids have no offset yet; position finds one among them.
	ids      []string
	position map[string]int
	waiting  []waitingRow
}

// waitingRow is a row whose user has no offset yet.
type waitingRow struct {
	group *group
	id    int // position in ids
}

func newGatherer(s *Service, in *interpreter) *gatherer {
	return &gatherer{
		store: s.config.Store, checkID: s.checkID, rows: in, limit: s.memoryLimit,
		offsets: map[string]uint32{}, position: map[string]int{},
	}
}

// add takes a row in and returns what it marks, or what is wrong with it.
func (g *gatherer) add(row *rows.Row) (*group, *fault.Error) {
	to, wrong := g.rows.group(row)
	if wrong != nil {
		return nil, wrong
	}
	if offset, ok := g.offsets[string(row.UserID)]; ok {
		to.users.Add(offset)
		return to, nil
	}
	id, ok := g.position[string(row.UserID)]
	if !ok {
		text := string(row.UserID)
		if err := g.checkID(text); err != nil {
			return nil, fault.As(err)
		}
		id = len(g.ids)
		g.ids = append(g.ids, text)
		g.position[text] = id
	}
	g.waiting = append(g.waiting, waitingRow{to, id})
	return to, nil
}

// full reports whether the rows that wait should get their offsets.
func (g *gatherer) full() bool {
	return len(g.ids) >= assignBatch || len(g.waiting) >= waitingLimit
}

// assign gets the offsets of the rows that wait for them.
func (g *gatherer) assign(ctx context.Context) error {
	if len(g.ids) == 0 {
		return nil
	}
	offsets, err := g.store.Assign(ctx, g.ids)
	if err != nil {
		return err
	}
	for _, w := range g.waiting {
		w.group.users.Add(offsets[w.id])
	}
	g.remember(offsets)
	clear(g.position)
	g.ids, g.waiting = g.ids[:0], g.waiting[:0]
	return nil
}

// remember keeps the offsets of ids. When there are too many it starts again:
// an ID that comes often is soon back.
func (g *gatherer) remember(offsets []uint32) {
	if g.cached > cacheLimit {
		clear(g.offsets)
		g.cached = 0
	}
	for i, id := range g.ids {
		g.offsets[id] = offsets[i]
		g.cached += len(id) + idOverhead
	}
}

// large reports whether the marks should be written.
func (g *gatherer) large() bool {
	size := uint64(0)
	for _, to := range g.rows.groups {
		size += to.users.GetSizeInBytes() + groupOverhead
	}
	return size > g.limit
}

// marks returns what was gathered so far and forgets it.
func (g *gatherer) marks() map[cohort.Bitmap]*roaring.Bitmap {
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for _, from := range g.rows.groups {
		if from.users.IsEmpty() {
			continue // all its rows were refused for their users
		}
		for _, b := range from.bitmaps {
			if marks[b] == nil {
				marks[b] = roaring.New()
			}
			marks[b].Or(from.users)
		}
	}
	clear(g.rows.groups)
	return marks
}

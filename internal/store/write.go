package store

import (
	"iter"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

const (
	// batchCost bounds one transaction to about 1 ms of server time: Redis works
	// through roughly 2 GiB of bitmaps a second, their way to it included.
	batchCost = 2 << 20
	// batchWrites bounds its commands, of which a write takes at most six.
	batchWrites = 150
	// bitCost is what setting one bit by itself costs, in bytes worked through.
	bitCost = 512
	// bitsPerCommand is the most bits set by themselves in one command.
	bitsPerCommand = 1000
	// bitsAlways is how many bits are set by themselves in any case, as a bitmap
	// takes six commands.
	bitsAlways = 32
)

// write is the bits to set or to clear in one bitmap within a segment: few of
// them one by one, ascending, or many as a bitmap in Redis's form.
type write struct {
	bitmap cohort.Bitmap
	bits   []uint32
	dense  []byte // not nil when it holds the bits instead
}

// cost is what the write costs the server, in bytes worked through. A bitmap
// is stored, combined, and counted twice.
func (w *write) cost() int {
	if w.dense == nil {
		return len(w.bits) * bitCost
	}
	return 4 * len(w.dense)
}

// add adds a bit above all that are there.
func (w *write) add(bit uint32) {
	if w.dense == nil && len(w.bits) < bitsPerCommand {
		w.bits = append(w.bits, bit)
		return
	}
	w.spread()
	w.dense = bitmap.Set(w.dense, int(bit))
}

// spread turns single bits into a bitmap.
func (w *write) spread() {
	for _, bit := range w.bits {
		w.dense = bitmap.Set(w.dense, int(bit))
	}
	w.bits = nil
}

// settle takes the cheaper of the two forms.
func (w *write) settle() {
	if n := len(w.bits); n > bitsAlways && n*bitCost > 4*int(w.bits[n-1]/8+1) {
		w.spread()
	}
}

// batches yields the writes in parts that one transaction takes.
func batches(writes []write) iter.Seq[[]write] {
	return func(yield func([]write) bool) {
		for len(writes) > 0 {
			n, cost := 1, writes[0].cost()
			for n < len(writes) && n < batchWrites && cost+writes[n].cost() <= batchCost {
				cost += writes[n].cost()
				n++
			}
			if !yield(writes[:n]) {
				return
			}
			writes = writes[n:]
		}
	}
}

// cursor walks over the offsets of one bitmap.
type cursor struct {
	bitmap cohort.Bitmap
	it     roaring.IntPeekable
}

// take returns the bits of the segment, and leaves the cursor after it.
func (c cursor) take(segment int, segmentBits int64) write {
	start := int64(segment) * segmentBits
	w := write{bitmap: c.bitmap}
	for c.it.HasNext() && int64(c.it.PeekNext()) < start+segmentBits {
		w.add(uint32(int64(c.it.Next()) - start))
	}
	w.settle()
	return w
}

// bySegment yields the marks of each segment that has any, ascending, those of
// the known users first.
func (s *Store) bySegment(marks map[cohort.Bitmap]*roaring.Bitmap) iter.Seq2[int, []write] {
	cursors := make([]cursor, 0, len(marks))
	for b, users := range marks {
		cursors = append(cursors, cursor{b, users.Iterator()})
	}
	slices.SortFunc(cursors, func(a, b cursor) int { return inOrder(a.bitmap, b.bitmap) })
	return func(yield func(int, []write) bool) {
		for {
			segment, ok := s.nextSegment(cursors)
			if !ok {
				return
			}
			var writes []write
			for _, c := range cursors {
				if w := c.take(segment, int64(s.config.SegmentBits)); w.cost() > 0 {
					writes = append(writes, w)
				}
			}
			if !yield(segment, writes) {
				return
			}
		}
	}
}

// inOrder puts the known users before all others, which go by name.
func inOrder(a, b cohort.Bitmap) int {
	if (a == knownUsers) != (b == knownUsers) {
		if a == knownUsers {
			return -1
		}
		return 1
	}
	return strings.Compare(member(a), member(b))
}

func (s *Store) nextSegment(cursors []cursor) (segment int, ok bool) {
	for _, c := range cursors {
		if !c.it.HasNext() {
			continue
		}
		if at, _ := s.locate(c.it.PeekNext()); !ok || at < segment {
			segment, ok = at, true
		}
	}
	return segment, ok
}

// places returns where the marks lie.
func (s *Store) places(marks map[cohort.Bitmap]*roaring.Bitmap) []place {
	places := make([]place, 0, len(marks))
	for b, users := range marks {
		if segments := s.segmentsIn(users); len(segments) > 0 {
			places = append(places, place{b, segments})
		}
	}
	return places
}

// segmentsIn returns the segments that hold any of the offsets, ascending.
func (s *Store) segmentsIn(users *roaring.Bitmap) []int {
	var segments []int
	for it := users.Iterator(); it.HasNext(); {
		segment, _ := s.locate(it.PeekNext())
		segments = append(segments, segment)
		next := int64(segment+1) * int64(s.config.SegmentBits)
		if next > int64(^uint32(0)) {
			break
		}
		it.AdvanceIfNeeded(uint32(next))
	}
	return segments
}

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
	// through roughly 4 GiB of bitmaps a second.
	batchCost = 4 << 20
	// batchWrites bounds its commands, of which a write takes at most six.
	batchWrites = 150
	// bitCost is what setting one bit by itself costs, in bytes worked through.
	bitCost = 1 << 10
	// bitsPerCommand is the most bits set by themselves in one command.
	bitsPerCommand = 1000
)

// write is some bits of one bitmap within a segment, ascending.
type write struct {
	bitmap cohort.Bitmap
	bits   []uint32
}

// bytes is the length of the write as a dense bitmap.
func (w write) bytes() int { return int(w.bits[len(w.bits)-1]/8) + 1 }

// few reports whether the bits are better set one by one than as a bitmap,
// which is sent and worked through four times.
func (w write) few() bool {
	return len(w.bits) <= bitsPerCommand && len(w.bits)*bitCost <= max(32*bitCost, 4*w.bytes())
}

func (w write) cost() int {
	if w.few() {
		return len(w.bits) * bitCost
	}
	return 4 * w.bytes()
}

// dense returns the write in Redis's form.
func (w write) dense() []byte {
	bytes := make([]byte, w.bytes())
	for _, bit := range w.bits {
		bytes = bitmap.Set(bytes, int(bit))
	}
	return bytes
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
func (c cursor) take(segment int, segmentBits int64) []uint32 {
	start := int64(segment) * segmentBits
	var bits []uint32
	for c.it.HasNext() && int64(c.it.PeekNext()) < start+segmentBits {
		bits = append(bits, uint32(int64(c.it.Next())-start))
	}
	return bits
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
				if bits := c.take(segment, int64(s.config.SegmentBits)); len(bits) > 0 {
					writes = append(writes, write{c.bitmap, bits})
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

package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

const (
	// groupBytes is how much is read at once, in less than about 1 ms of the
	// server's time.
	groupBytes = 1 << 20
	// readBytes is how much of one bitmap is read at a time.
	readBytes = 256 << 10
	// sampledBlocks is how many groups of blockUsers neighbouring offsets are
	// looked up in the dictionary for each segment.
	sampledBlocks = 64
	blockUsers    = 128
	// sparse is how many offsets a known user may take before it is said.
	sparse = 100
)

// known looks for marks of users who are in no segment of the known users. It
// compares here, so that it also works on a store that is full.
func (e *examination) known(ctx context.Context) error {
	var total int64
	var where tally
	for segment, stored := range e.bySegment() {
		if e.keys.unreadable[segment] {
			continue
		}
		together := max(1, groupBytes/min(e.segmentBytes(), readBytes)-1)
		for group := range slices.Chunk(stored, together) {
			counts, err := e.strangers(ctx, segment, group)
			if err != nil {
				return err
			}
			for i, n := range counts {
				if total += n; n > 0 {
					where.add(fmt.Sprintf("%s in %s", count(n, "mark"), place(group[i], segment)))
				}
			}
		}
	}
	slices.Sort(where.first)
	switch unread := int64(len(e.keys.unreadable)); {
	case total > 0:
		e.wrong("known users", "%s of nobody known, whom a complement leaves out: %s; let the program that wrote them set the same bits in the segment's known key, or clear them",
			count(total, "mark"), where)
	case unread > 0:
		e.hint("known users", "not compared in %s whose known key is of another type", count(unread, "segment"))
	default:
		e.ok("known users", "each mark is of a known user")
	}
	return nil
}

// segmentBytes is the size of a bitmap.
func (e *examination) segmentBytes() int { return e.Store.SegmentBits() / 8 }

// bySegment returns the days and flags of each segment that the survey met,
// sorted by name.
func (e *examination) bySegment() map[int][]cohort.Bitmap {
	in := map[int][]cohort.Bitmap{}
	for b, segments := range e.keys.bitmaps {
		for segment := range segments {
			if b != cohort.Known() {
				in[segment] = append(in[segment], b)
			}
		}
	}
	for _, stored := range in {
		slices.SortFunc(stored, func(a, b cohort.Bitmap) int {
			return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Day, b.Day))
		})
	}
	return in
}

// strangers counts for each bitmap the users who are not known.
func (e *examination) strangers(ctx context.Context, segment int, of []cohort.Bitmap) ([]int64, error) {
	inputs := append(slices.Clone(of), cohort.Known())
	p := bitmap.Program{Inputs: len(inputs)}
	for i := range of {
		rest := len(inputs)
		p.Steps = append(p.Steps, bitmap.Step{Op: bitmap.Minus, Dst: rest, Src: []int{i, len(of)}}, bitmap.Step{Op: bitmap.Count, Src: []int{rest}})
	}
	counts := make([]int64, len(of))
	for from := 0; from < e.segmentBytes(); from += readBytes {
		to := min(e.segmentBytes(), from+readBytes)
		read, err := e.Store.Fetch(ctx, segment, inputs, from, to, nil)
		if err != nil {
			return nil, err
		}
		for i, n := range bitmap.Eval(p, read, to-from).Counts {
			counts[i] += n
		}
	}
	return counts, nil
}

// roll is what the known users of all segments say.
type roll struct {
	users    int64
	highest  int64 // offset; -1 when there is none
	looked   int   // how many were looked up in the dictionary
	nameless tally
}

// dictionary compares the known users with the offsets that were handed out.
func (e *examination) dictionary(ctx context.Context) error {
	r := roll{highest: -1}
	for segment := range e.keys.bitmaps[cohort.Known()] {
		if err := e.call(ctx, segment, &r); err != nil {
			return err
		}
	}
	next := r.highest + 1
	if !e.Dense {
		var err error
		if next, err = e.Store.NextOffset(ctx); err != nil {
			return err
		}
		e.offsets(&r, next)
	}
	e.density(&r, next)
	return nil
}

func (e *examination) offsets(r *roll, next int64) {
	if r.highest >= next {
		e.wrong("dictionary", "the next new user would get offset %d, but offsets up to %d are of known users already, and two users would share them; restore the store from one copy, or redis-cli SET the next_offset key to %d",
			next, r.highest, r.highest+1)
	}
	if r.nameless.n > 0 {
		e.wrong("dictionary", "%s of %d looked at without an ID, at offset %s; they are counted but cannot be listed: restore the dictionary, or import their IDs",
			count(int64(r.nameless.n), "known user"), r.looked, r.nameless)
	}
	if r.highest < next && r.nameless.n == 0 {
		e.ok("dictionary", "offsets up to %d handed out, and each of %s looked at has an ID", next-1, count(int64(r.looked), "known user"))
	}
}

func (e *examination) density(r *roll, offsets int64) {
	share := 100.0
	if offsets > 0 {
		share = 100 * float64(r.users) / float64(offsets)
	}
	if r.users*sparse < offsets && offsets > int64(e.Store.SegmentBits()) {
		e.hint("density", "%s on %s (%.2f %%): most of each bitmap is empty; with ids: dictionary, users get offsets without gaps",
			count(r.users, "known user"), count(offsets, "offset"), share)
		return
	}
	e.ok("density", "%s on %s (%.0f %%)", count(r.users, "known user"), count(offsets, "offset"), share)
}

// call reads the known users of a segment, and looks a sample of them up.
func (e *examination) call(ctx context.Context, segment int, r *roll) error {
	start := int64(segment) * int64(e.Store.SegmentBits())
	blocks := (e.Store.SegmentBits() + blockUsers - 1) / blockUsers
	every := int64(max(1, blocks/sampledBlocks))
	var sample []uint32
	for from := 0; from < e.segmentBytes(); from += readBytes {
		read, err := e.Store.Fetch(ctx, segment, []cohort.Bitmap{cohort.Known()}, from, min(e.segmentBytes(), from+readBytes), nil)
		if err != nil {
			return err
		}
		for bit := range bitmap.Ones(read[0]) {
			within := int64(from)*8 + int64(bit)
			r.users++
			r.highest = max(r.highest, start+within)
			if within/blockUsers%every == 0 {
				sample = append(sample, uint32(start+within))
			}
		}
	}
	return e.lookUp(ctx, sample, r)
}

func (e *examination) lookUp(ctx context.Context, offsets []uint32, r *roll) error {
	if e.Dense {
		return nil
	}
	ids, err := e.Store.IDs(ctx, offsets)
	if err != nil {
		return err
	}
	r.looked += len(ids)
	for i, id := range ids {
		if id == "" {
			r.nameless.add(fmt.Sprint(offsets[i]))
		}
	}
	return nil
}

package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

const (
	// guardedUsers is the size from which a day may not shrink by more than
	// half unless that is forced.
	guardedUsers = 100
	// comparisons is how many pairs of bitmaps one transaction compares, in
	// about 1 ms at the default segment size.
	comparisons = 8
)

// Commit makes the staged users those of their days, a segment at a time and
// each at once, and ends the sync. Without force it refuses, as an
// ErrConflict, to shrink a day of 100 users or more by more than half. When it
// fails before the commit nothing is changed; after it, the next Open or
// BeginSync finishes what is left.
func (y *Sync) Commit(ctx context.Context, force bool) (Written, error) {
	r, written, err := y.prepare(ctx, force)
	if err != nil {
		// The caller's context may be what failed; what is not dropped expires.
		_ = y.Drop(context.WithoutCancel(ctx))
		return Written{}, err
	}
	defer y.end()
	return y.carryOut(ctx, r, written)
}

// carryOut writes the commit record and does what it says.
func (y *Sync) carryOut(ctx context.Context, r record, written Written) (Written, error) {
	// The record may be there although its reply was lost, so from here on
	// nothing that is staged is dropped.
	if err := y.store.writeRecord(ctx, y.id, r); err != nil {
		return Written{}, err
	}
	added, lost, err := y.store.finish(ctx, y.id, r)
	written.add(added)
	if err == nil && lost != nil {
		err = y.store.lostStaged(lost)
	}
	return written, err
}

// prepare compares the staged days with the stored ones, makes the commit
// record, and gives all staged keys the time that a committed sync may take.
func (y *Sync) prepare(ctx context.Context, force bool) (record, Written, error) {
	if err := y.store.writable(ctx); err != nil {
		return record{}, Written{}, err
	}
	c, err := y.compare(ctx)
	if err != nil {
		return record{}, Written{}, err
	}
	if !force {
		if err := c.guard(); err != nil {
			return record{}, Written{}, err
		}
	}
	r := y.record(c)
	if r.At, err = y.store.serverTime(ctx); err != nil {
		return record{}, Written{}, err
	}
	return r, Written{BitsNew: c.bitsNew}, y.hold(ctx, r)
}

// hold makes sure that everything staged is there and stays. The pending keys
// come last: without one, the segment counts as done.
func (y *Sync) hold(ctx context.Context, r record) error {
	s := y.store
	held, err := s.renewLease(ctx, s.syncLease(), y.id)
	if err != nil {
		return err
	}
	all, err := y.expire(ctx, committedTTL)
	if err != nil {
		return err
	}
	if !held || !all {
		return fault.Unavailable(nil, "what was staged for the replace is no longer in the store at %s; nothing was changed", s.shown)
	}
	for part := range slices.Chunk(r.Segments, pipelineLimit) {
		p := s.client.Pipeline()
		for _, sr := range part {
			p.Set(ctx, s.keys.pending(sr.Segment, y.id), 1, pendingTTL)
		}
		if err := s.exec(ctx, "prepare a commit", p); err != nil {
			return err
		}
	}
	return s.register(ctx, y.places())
}

// places returns where the staged users will be.
func (y *Sync) places() []place {
	var places []place
	for b, st := range y.staged {
		if len(st.segments) > 0 {
			places = append(places, place{b, slices.Sorted(maps.Keys(st.segments))})
		}
	}
	return places
}

// record says what is to become of each segment.
func (y *Sync) record(c *comparison) record {
	r := record{Forgotten: y.forgotten}
	bySegment := map[int]*segmentRecord{}
	at := func(segment int) *segmentRecord {
		if bySegment[segment] == nil {
			bySegment[segment] = &segmentRecord{Segment: segment, Replace: map[string]int{}, Merge: map[string]int{}}
		}
		return bySegment[segment]
	}
	for b, st := range y.staged {
		if b.Kind == cohort.DayBitmap {
			r.Days = append(r.Days, member(b))
		}
		for segment := range st.segments {
			if b.Kind == cohort.DayBitmap {
				at(segment).Replace[member(b)] = st.n
			} else {
				at(segment).Merge[member(b)] = st.n
			}
		}
	}
	for _, o := range c.outdated {
		at(o.segment).Remove = append(at(o.segment).Remove, member(o.day))
	}
	for _, segment := range slices.Sorted(maps.Keys(bySegment)) {
		r.Segments = append(r.Segments, *bySegment[segment])
	}
	return r
}

// daySegment is one segment of a day.
type daySegment struct {
	day     cohort.Bitmap
	segment int
}

// comparison is how the staged days differ from the stored ones.
type comparison struct {
	before, after map[cohort.Bitmap]int64
	bitsNew       int64
	outdated      []daySegment // stored, with nothing staged in its place
}

// compare looks at every segment in use, also where the catalogue does not
// know of a day yet.
func (y *Sync) compare(ctx context.Context) (*comparison, error) {
	catalogue, err := y.store.OwnCatalogue(ctx)
	if err != nil {
		return nil, err
	}
	segments := map[int]bool{}
	for _, segment := range catalogue.Segments() {
		segments[segment] = true
	}
	var days []cohort.Bitmap
	for b, st := range y.staged {
		maps.Copy(segments, st.segments)
		if b.Kind == cohort.DayBitmap {
			days = append(days, b)
		}
	}
	c := &comparison{before: map[cohort.Bitmap]int64{}, after: map[cohort.Bitmap]int64{}}
	for segment := range segments {
		for part := range slices.Chunk(days, comparisons) {
			if err := y.compareIn(ctx, segment, part, c); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

func (y *Sync) compareIn(ctx context.Context, segment int, days []cohort.Bitmap, c *comparison) error {
	s, job := y.store, random()
	p := s.client.TxPipeline()
	collect := make([]func(), len(days))
	for i, day := range days {
		stored := s.keys.bitmap(day, segment)
		exists, before := p.Exists(ctx, stored), p.BitCount(ctx, stored, nil)
		if !y.staged[day].segments[segment] {
			collect[i] = func() { c.removed(daySegment{day, segment}, exists.Val() == 1, before.Val()) }
			continue
		}
		after, both := queueComparison(ctx, p, y.temp(day, segment), stored, s.keys.temp(segment, job, i))
		collect[i] = func() { c.replaced(day, before.Val(), after.Val(), both.Val()) }
	}
	if err := s.exec(ctx, "compare staged marks", p); err != nil {
		return err
	}
	for _, take := range collect {
		take()
	}
	return nil
}

// queueComparison queues the counting of the staged users, and of those of
// them that are stored.
func queueComparison(ctx context.Context, p redis.Pipeliner, staged, stored, temp string) (after, both *redis.IntCmd) {
	after = p.BitCount(ctx, staged, nil)
	p.BitOpAnd(ctx, temp, staged, stored)
	both = p.BitCount(ctx, temp, nil)
	p.Unlink(ctx, temp)
	return after, both
}

func (c *comparison) removed(at daySegment, exists bool, before int64) {
	c.before[at.day] += before
	if exists {
		c.outdated = append(c.outdated, at)
	}
}

func (c *comparison) replaced(day cohort.Bitmap, before, after, both int64) {
	c.before[day] += before
	c.after[day] += after
	c.bitsNew += after - both
}

// guard refuses days that would lose more than half of their users.
func (c *comparison) guard() error {
	var shrunk []string
	for day, before := range c.before {
		if after := c.after[day]; before >= guardedUsers && 2*after < before {
			shrunk = append(shrunk, fmt.Sprintf("%s on %s from %d users to %d", day.Metric, day.Day, before, after))
		}
	}
	if shrunk == nil {
		return nil
	}
	slices.Sort(shrunk)
	message := "this would shrink " + shrunk[0]
	if more := len(shrunk) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	return &fault.Error{Kind: fault.ErrConflict, Code: "would_shrink", Position: fault.NoPosition,
		Message: message + "; nothing was changed; force it if that is right"}
}

package query

import (
	"context"
	"errors"
	"strconv"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

const (
	// leastKept is the least work for a count, in bytes to be read, from which
	// keeping it takes less time than computing it again.
	leastKept = 4 << 10
	// sharedBytes is the least work, in bytes to be read, that is worth asking
	// whether another process is at it.
	sharedBytes = 16 << 20
	// sharedPoll is how often one looks whether another has done it.
	sharedPoll = 20 * time.Millisecond
)

// tally is counts, and where they come from.
type tally struct {
	counts     []int64
	engine     Engine
	computedAt time.Time // of the oldest count
	computed   int       // those that were not kept from before
	fresh      []cohort.CellRow
	release    func() // gives back the claim on computing fresh, also after an error; nil without one
}

// counting is the counting of sets for one answer.
type counting struct {
	*Service
	options Options
	cat     *cohort.Catalogue
	sets    []cohort.Set
	cells   []cell
	found   map[int]kept
}

// count returns the number of users in each set, from the counts that are kept
// as far as they are right, and computes the others.
func (s *Service) count(ctx context.Context, cat *cohort.Catalogue, sets []cohort.Set, rows []cohort.Row, o Options) (tally, error) {
	c := &counting{Service: s, options: o, cat: cat, sets: sets}
	settled := settledDay(o.Now, s.config.SettleAfter, s.workspace.Zone)
	if o.Refresh {
		if err := c.recheck(ctx, settled); err != nil {
			return tally{}, err
		}
	}
	c.cells = newFingerprinter(c.cat, settled).cells(sets, rows)
	release, err := c.lookUpOrClaim(ctx)
	if err != nil {
		return tally{release: release}, err
	}
	t, err := c.computeMissing(ctx)
	t.release = release
	return t, err
}

// recheck makes sure that days which other programs changed are noticed.
func (c *counting) recheck(ctx context.Context, settled cohort.Day) error {
	g, _ := newGraph(c.cat, nil, c.sets)
	var days []cohort.Bitmap
	for b := range g.leaves {
		if b.Kind == cohort.DayBitmap && b.Day <= settled {
			days = append(days, b)
		}
	}
	changed, err := c.store.Recheck(ctx, days)
	if errors.Is(err, fault.ErrNoWrites) {
		return nil // all is counted anew in any case
	}
	if err == nil && changed {
		c.cat, err = c.store.Catalogue(ctx)
	}
	return err
}

// lookUpOrClaim finds the counts that are kept. What is missing is this
// caller's to compute, and everybody else's to wait for, when release is not
// nil, which it may be beside an error.
func (c *counting) lookUpOrClaim(ctx context.Context) (release func(), err error) {
	if c.options.Refresh || !c.keeps() {
		return nil, nil
	}
	for {
		if c.found, err = c.lookUp(ctx, c.cells, c.options); err != nil || len(c.found) == len(c.cells) {
			return nil, err
		}
		work, large := c.work()
		if !large {
			return nil, nil
		}
		// Whoever had the claim may have kept its counts since the look.
		release, free, err := c.store.Claim(ctx, work)
		if err != nil && !errors.Is(err, fault.ErrNoWrites) {
			return nil, err
		}
		if free || err != nil {
			c.found, err = c.lookUp(ctx, c.cells, c.options)
			return release, err
		}
		select {
		case <-time.After(sharedPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// keeps reports whether counts are worth being kept.
func (c *counting) keeps() bool { return len(c.cat.Segments())*c.segmentBytes() >= leastKept }

// work names what is missing, and tells whether it is large.
func (c *counting) work() (name string, large bool) {
	ids := make([]uint64, 0, 2*len(c.cells))
	for i, cell := range c.cells {
		if _, ok := c.found[i]; !ok {
			ids = append(ids, text(cell.row+cell.field), cell.content)
		}
	}
	return strconv.FormatUint(mix(ids...), 36), len(ids)/2*len(c.cat.Segments())*c.segmentBytes() >= sharedBytes
}

// computeMissing computes the counts that were not found.
func (c *counting) computeMissing(ctx context.Context) (tally, error) {
	t := tally{counts: make([]int64, len(c.sets)), computedAt: c.options.Now, engine: Bitop}
	var missing []int
	var unknown []cohort.Set
	for i, set := range c.sets {
		k, ok := c.found[i]
		if !ok {
			missing, unknown = append(missing, i), append(unknown, set)
			continue
		}
		t.counts[i], t.engine = k.count, k.engine
		if k.computedAt.Before(t.computedAt) {
			t.computedAt = k.computedAt
		}
	}
	if len(missing) == 0 {
		return t, nil
	}
	counts, engine, err := c.compute(ctx, c.cat, unknown, c.options)
	if err != nil {
		return tally{}, err
	}
	t.engine, t.computed = engine, len(missing)
	values := make([]string, len(c.sets))
	for k, i := range missing {
		t.counts[i] = counts[k]
		values[i] = kept{c.cells[i].content, counts[k], c.options.Now, c.options.Now.Add(c.life(c.cells[i])), engine}.encode()
	}
	if !c.keeps() {
		return t, nil
	}
	t.fresh = grouped(c.cells, func(i int) (string, bool) { return values[i], values[i] != "" })
	return t, nil
}

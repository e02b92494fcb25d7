package query

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

const (
	// segmentsAtOnce is how many segments one question works on side by side.
	segmentsAtOnce = 4
	// foldBytes is the memory that the bitmaps of a segment may take at once.
	foldBytes = 8 << 20
	// gentleBytes is what is read at once beside others: the store copies it in about
	// half a millisecond.
	gentleBytes = 2 << 20
	// foldStep is what the length of a range is a multiple of, in bytes.
	foldStep = 512
)

// compute counts the users in each set, and says by which engine.
func (s *Service) compute(ctx context.Context, cat *cohort.Catalogue, sets []cohort.Set, o Options) ([]int64, Engine, error) {
	cat, known := s.withPast(ctx, cat, sets, o)
	for {
		counts, engine, err := s.computeFrom(ctx, cat, known, sets, o)
		if err == nil || len(known) == 0 || ctx.Err() != nil {
			return counts, engine, err
		}
		known = known.less()
	}
}

// computeFrom counts by a plan that may use some histories.
func (s *Service) computeFrom(ctx context.Context, cat *cohort.Catalogue, known past, sets []cohort.Set, o Options) ([]int64, Engine, error) {
	p, ids, err := s.newPlan(cat, known, sets, o.Engine)
	if err != nil {
		return nil, "", err
	}
	if err := o.job().Admit(ctx, s.cost(cat, p), string(p.engine)); err != nil {
		return nil, "", err
	}
	totals, err := s.countAll(ctx, cat, p, o.job())
	if errors.Is(err, fault.ErrNoWrites) && o.Engine != Bitop {
		p.engine = Fold // which only reads
		totals, err = s.countAll(ctx, cat, p, o.job())
	}
	if err != nil {
		return nil, "", err
	}
	counts := make([]int64, len(ids))
	for i, id := range ids {
		counts[i] = totals[id]
	}
	return counts, p.engine, nil
}

// countAll counts the users in each output of a plan, over all segments.
func (s *Service) countAll(ctx context.Context, cat *cohort.Catalogue, p *plan, job Job) ([]int64, error) {
	totals := make([]int64, len(p.nodes))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(segmentsAtOnce)
	whole := s.work(p)
	job.Expect(whole * len(cat.Segments()))
	for _, segment := range cat.Segments() {
		group.Go(func() error {
			c := segmentCount{Service: s, plan: p, job: job, segment: segment, left: whole, add: func(id nodeID, n int64) {
				mu.Lock()
				totals[id] += n
				mu.Unlock()
			}}
			return c.count(ctx)
		})
	}
	return totals, group.Wait()
}

// segmentCount is the counting of a plan's outputs in one segment.
type segmentCount struct {
	*Service
	plan    *plan
	job     Job
	segment int
	left    int // of the work, as work measures it
	add     func(nodeID, int64)
}

func (c *segmentCount) count(ctx context.Context) error {
	if c.plan.engine == Fold {
		whole := c.plan.compile(c.segment, c.plan.outputs, bitmap.Count)
		if err := c.fold(ctx, c.segment, whole, c.job, func(r bitmap.Result, bytes int) { c.take(whole, r, bytes*len(c.plan.leaves)) }); err != nil {
			return err
		}
	} else {
		for _, batch := range c.plan.batches {
			if err := c.run(ctx, c.plan.compile(c.segment, batch, bitmap.Count)); err != nil {
				return err
			}
		}
	}
	c.job.Did(c.left) // what the segment lacks
	return nil
}

// run counts a batch within the store.
func (c *segmentCount) run(ctx context.Context, batch compiled) error {
	if len(batch.outputs) == 0 {
		return nil
	}
	_, done, err := c.job.Turn(ctx)
	if err != nil {
		return err
	}
	r, err := c.store.Run(ctx, c.segment, batch.inputs, batch.program)
	done()
	if err == nil {
		c.take(batch, r, int(c.plan.worked)/len(c.plan.batches))
	}
	return err
}

// take adds the counts of a piece of the work.
func (c *segmentCount) take(of compiled, r bitmap.Result, amount int) {
	for i, n := range r.Counts {
		c.add(of.outputs[i], n)
	}
	c.left -= amount
	c.job.Did(amount)
}

// work is how much there is to be done for a segment, in bytes of bitmaps.
func (s *Service) work(p *plan) int {
	if p.engine == Fold {
		return s.segmentBytes() * len(p.leaves)
	}
	return int(p.worked)
}

// cost is the bytes of bitmaps that a plan works through.
func (s *Service) cost(cat *cohort.Catalogue, p *plan) int64 {
	return int64(len(cat.Segments())) * int64(s.work(p))
}

// foldRange is how many bytes of each of some bitmaps are read at once.
func foldRange(bitmaps int, gentle bool) int {
	memory := foldBytes
	if gentle {
		memory = gentleBytes
	}
	return max(memory/bitmaps/foldStep*foldStep, foldStep)
}

// fold runs a program here, over ranges of the segment's bitmaps so that
// memory stays bounded however many bitmaps there are. Every operation is
// bitwise, so the ranges' counts add up and their reads follow each other.
func (s *Service) fold(ctx context.Context, segment int, c compiled, job Job, yield func(r bitmap.Result, bytes int)) error {
	if len(c.outputs) == 0 {
		return nil
	}
	size := s.segmentBytes()
	arena := s.arenas.take(len(c.inputs) * (foldRange(len(c.inputs), false) + arenaSlack))
	defer s.arenas.give(arena)
	for from := 0; from < size; {
		gentle, done, err := job.Turn(ctx)
		if err != nil {
			return err
		}
		to := min(from+foldRange(len(c.inputs), gentle), size)
		inputs, err := s.store.Fetch(ctx, segment, c.inputs, from, to, arena)
		done()
		if err != nil {
			return err
		}
		yield(bitmap.Eval(c.program, inputs, to-from), to-from)
		from = to
	}
	return nil
}

// read returns the bitmap of the plan's one output in a segment.
func (s *Service) read(ctx context.Context, p *plan, segment int) ([]byte, error) {
	c := p.compile(segment, p.outputs, bitmap.Read)
	if len(c.outputs) == 0 {
		return nil, nil
	}
	if p.engine == Fold {
		var all []byte
		err := s.fold(ctx, segment, c, noJob{}, func(r bitmap.Result, _ int) { all = append(all, r.Reads[0]...) })
		return all, err
	}
	r, err := s.store.Run(ctx, segment, c.inputs, c.program)
	if err != nil {
		return nil, err
	}
	return r.Reads[0], nil
}

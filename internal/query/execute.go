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
	steps := s.steps(p)
	job.Steps(steps * len(cat.Segments()))
	for _, segment := range cat.Segments() {
		group.Go(func() error {
			left := steps
			step := func() {
				if left > 0 { // what a segment lacks needs no step
					left--
					job.Step()
				}
			}
			err := s.countSegment(ctx, p, segment, step, func(id nodeID, n int64) {
				mu.Lock()
				totals[id] += n
				mu.Unlock()
			})
			for left > 0 {
				step()
			}
			return err
		})
	}
	return totals, group.Wait()
}

func (s *Service) countSegment(ctx context.Context, p *plan, segment int, step func(), add func(nodeID, int64)) error {
	if p.engine == Fold {
		c := p.compile(segment, p.outputs, bitmap.Count)
		return s.fold(ctx, segment, c, func(r bitmap.Result) {
			for i, n := range r.Counts {
				add(c.outputs[i], n)
			}
			step()
		})
	}
	for _, batch := range p.batches {
		c := p.compile(segment, batch, bitmap.Count)
		if len(c.outputs) == 0 {
			continue
		}
		r, err := s.store.Run(ctx, segment, c.inputs, c.program)
		if err != nil {
			return err
		}
		for i, n := range r.Counts {
			add(c.outputs[i], n)
		}
		step()
	}
	return nil
}

// steps is into how many steps the plan divides a segment, at most.
func (s *Service) steps(p *plan) int {
	if p.engine != Fold {
		return len(p.batches)
	}
	step := foldRange(max(len(p.leaves), 1))
	return (s.segmentBytes() + step - 1) / step
}

// cost is the bytes of bitmaps that a plan works through.
func (s *Service) cost(cat *cohort.Catalogue, p *plan) int64 {
	segments := int64(len(cat.Segments()))
	if p.engine != Fold {
		return segments * p.worked
	}
	return segments * int64(len(p.leaves)*s.segmentBytes())
}

// foldRange is how many bytes of each of some bitmaps are read at once.
func foldRange(bitmaps int) int {
	return max(foldBytes/bitmaps/foldStep*foldStep, foldStep)
}

// fold runs a program here, over ranges of the segment's bitmaps so that
// memory stays bounded however many bitmaps there are. Every operation is
// bitwise, so the ranges' counts add up and their reads follow each other.
func (s *Service) fold(ctx context.Context, segment int, c compiled, yield func(bitmap.Result)) error {
	if len(c.outputs) == 0 {
		return nil
	}
	size := s.segmentBytes()
	step := foldRange(len(c.inputs))
	arena := s.arenas.take(len(c.inputs) * (step + arenaSlack))
	defer s.arenas.give(arena)
	for from := 0; from < size; from += step {
		to := min(from+step, size)
		inputs, err := s.store.Fetch(ctx, segment, c.inputs, from, to, arena)
		if err != nil {
			return err
		}
		yield(bitmap.Eval(c.program, inputs, to-from))
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
		err := s.fold(ctx, segment, c, func(r bitmap.Result) { all = append(all, r.Reads[0]...) })
		return all, err
	}
	r, err := s.store.Run(ctx, segment, c.inputs, c.program)
	if err != nil {
		return nil, err
	}
	return r.Reads[0], nil
}

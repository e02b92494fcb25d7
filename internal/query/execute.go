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
		counts, engine, err := s.computeFrom(ctx, cat, known, sets, o.Engine)
		if err == nil || len(known) == 0 || ctx.Err() != nil {
			return counts, engine, err
		}
		known = known.less()
	}
}

// computeFrom counts by a plan that may use some histories.
func (s *Service) computeFrom(ctx context.Context, cat *cohort.Catalogue, known past, sets []cohort.Set, want Engine) ([]int64, Engine, error) {
	p, ids, err := s.newPlan(cat, known, sets, want)
	if err != nil {
		return nil, "", err
	}
	totals, err := s.countAll(ctx, cat, p)
	if errors.Is(err, fault.ErrNoWrites) && want != Bitop {
		p.engine = Fold // which only reads
		totals, err = s.countAll(ctx, cat, p)
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
func (s *Service) countAll(ctx context.Context, cat *cohort.Catalogue, p *plan) ([]int64, error) {
	totals := make([]int64, len(p.nodes))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(segmentsAtOnce)
	for _, segment := range cat.Segments() {
		group.Go(func() error {
			return s.countSegment(ctx, p, segment, func(id nodeID, n int64) {
				mu.Lock()
				totals[id] += n
				mu.Unlock()
			})
		})
	}
	return totals, group.Wait()
}

func (s *Service) countSegment(ctx context.Context, p *plan, segment int, add func(nodeID, int64)) error {
	if p.engine == Fold {
		c := p.compile(segment, p.outputs, bitmap.Count)
		return s.fold(ctx, segment, c, func(r bitmap.Result) {
			for i, n := range r.Counts {
				add(c.outputs[i], n)
			}
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
	}
	return nil
}

// fold runs a program here, over ranges of the segment's bitmaps so that
// memory stays bounded however many bitmaps there are. Every operation is
// bitwise, so the ranges' counts add up and their reads follow each other.
func (s *Service) fold(ctx context.Context, segment int, c compiled, yield func(bitmap.Result)) error {
	if len(c.outputs) == 0 {
		return nil
	}
	size := s.segmentBytes()
	step := foldBytes / len(c.inputs) / foldStep * foldStep
	step = max(step, foldStep)
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

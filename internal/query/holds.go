package query

import (
	"context"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// Holds tells which of some sets hold a user. It reads the byte of each bitmap that
// the user's bit is in, so it costs next to nothing. An unknown user is an ErrNotFound.
func (s *Service) Holds(ctx context.Context, id string, sets []cohort.Set, o Options) (Answer[[]bool], error) {
	offset, known, err := s.store.Find(ctx, id)
	if err != nil {
		return Answer[[]bool]{}, err
	}
	if !known {
		return Answer[[]bool]{}, unknownUser(id)
	}
	return steady(ctx, s, o, func(cat *cohort.Catalogue) ([]bool, tally, error) {
		held, err := s.holds(ctx, cat, offset, sets, o)
		return held, tally{computedAt: o.Now, engine: Fold}, err
	})
}

func (s *Service) holds(ctx context.Context, cat *cohort.Catalogue, offset uint32, sets []cohort.Set, o Options) ([]bool, error) {
	o.Refresh = true // to derive a history would read far more than the days' bytes
	cat, known := s.withPast(ctx, cat, sets, o)
	p, ids, err := s.newPlan(cat, known, sets, Fold)
	if err != nil {
		return nil, err
	}
	bits := int64(s.store.SegmentBits()) // an int may be too short for an offset
	segment, position := int(int64(offset)/bits), int(int64(offset)%bits)
	c := p.compile(segment, p.outputs, bitmap.Read)
	held := make([]bool, len(sets))
	if len(c.outputs) == 0 {
		return held, nil
	}
	inputs, err := s.store.Fetch(ctx, segment, c.inputs, position/8, position/8+1, nil)
	if err != nil {
		return nil, err
	}
	r := bitmap.Eval(c.program, inputs, 1)
	of := make(map[nodeID]bool, len(c.outputs))
	for i, output := range c.outputs {
		of[output] = len(r.Reads[i]) > 0 && r.Reads[i][0]&(0x80>>(position%8)) != 0
	}
	for i, node := range ids {
		held[i] = of[node]
	}
	return held, nil
}

// Known tells which of some IDs are of known users.
func (s *Service) Known(ctx context.Context, ids []string) (map[string]bool, error) {
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		_, ok, err := s.store.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		known[id] = ok
	}
	return known, nil
}

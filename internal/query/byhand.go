package query

import (
	"context"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// ByHand is how a set is counted by hand.
type ByHand struct {
	// Segments are the numbers of the segments whose counts add up, ascending.
	Segments []int
	// Commands are those for one segment, each as its words, with $s in place of the
	// segment's number; the one BITCOUNT among them replies with the segment's count.
	// They are empty when the set is.
	Commands [][]string
}

// ByHand returns the commands with which the store itself counts a set. It is an
// ErrInvalid when it cannot, since another program keeps what the set is made of.
func (s *Service) ByHand(ctx context.Context, set cohort.Set) (ByHand, error) {
	cat, err := s.store.Catalogue(ctx)
	if err != nil {
		return ByHand{}, err
	}
	p, ids, err := s.newPlan(cat, nil, []cohort.Set{set}, Bitop)
	if err != nil || ids[0] == nothing {
		return ByHand{Segments: cat.Segments()}, err
	}
	c := p.compile(everySegment, p.outputs, bitmap.Count)
	commands, err := s.store.Commands(ctx, c.inputs, c.program)
	return ByHand{cat.Segments(), commands}, err
}

package query

import (
	"context"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// steadyTries is how often a question is asked again because days that it may
// read were replaced meanwhile.
const steadyTries = 5

// steady answers a question from what exists. While f reads, days may be
// replaced as a whole, a segment at a time; then it runs f again, so that no
// answer, and no count that is kept, holds a day that is half old and half new.
func steady[T any](ctx context.Context, s *Service, o Options, f func(cat *cohort.Catalogue) (T, tally, error)) (Answer[T], error) {
	for range steadyTries {
		a, settled, err := try(ctx, s, o, f)
		if err != nil || settled {
			return a, err
		}
	}
	return Answer[T]{}, replaced()
}

// try runs f once; settled is false when days were replaced meanwhile.
func try[T any](ctx context.Context, s *Service, o Options, f func(cat *cohort.Catalogue) (T, tally, error)) (a Answer[T], settled bool, err error) {
	before, err := s.store.Swaps(ctx)
	if err != nil {
		return a, false, err
	}
	cat, err := s.store.Catalogue(ctx)
	if err != nil {
		return a, false, err
	}
	value, t, err := f(cat)
	if t.release != nil {
		defer t.release()
	}
	if err != nil {
		return a, false, err
	}
	after, err := s.store.Swaps(ctx)
	if err != nil || after != before {
		return a, false, err
	}
	// A count that cannot be kept is still right.
	_ = s.store.WriteCells(ctx, t.fresh, cellLife)
	o.Ledger.note(t.computed, len(t.counts)-t.computed, t.computedAt)
	return Answer[T]{value, t.computedAt, t.engine}, true, nil
}

// replaced says that days keep being replaced while they are read.
func replaced() error {
	return &fault.Error{Kind: fault.ErrBusy, Code: "being_replaced", Position: fault.NoPosition,
		Message: "days are being replaced by an import; ask again in a moment"}
}

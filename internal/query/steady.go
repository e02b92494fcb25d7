package query

import (
	"context"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// steadyTries is how often a question is asked again because days that it may
// read were replaced meanwhile.
const steadyTries = 5

// steady runs f on what exists. While it reads, days may be replaced as a
// whole, a segment at a time; then it runs f again, so that no answer holds a
// day that is half old and half new.
func steady[T any](ctx context.Context, s *Service, f func(cat *cohort.Catalogue) (T, error)) (value T, err error) {
	for range steadyTries {
		before, err := s.store.Swaps(ctx)
		if err != nil {
			return value, err
		}
		cat, err := s.store.Catalogue(ctx)
		if err != nil {
			return value, err
		}
		if value, err = f(cat); err != nil {
			return value, err
		}
		after, err := s.store.Swaps(ctx)
		if err != nil || after == before {
			return value, err
		}
	}
	return value, replaced()
}

// replaced says that days keep being replaced while they are read.
func replaced() error {
	return &fault.Error{Kind: fault.ErrBusy, Code: "being_replaced", Position: fault.NoPosition,
		Message: "days are being replaced by an import; ask again in a moment"}
}

package query

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

const (
	// membersAtOnce is how many IDs are looked up and handed over together.
	membersAtOnce = 1 << 15
	// membersAhead is how many such lists wait to be handed over.
	membersAhead = 2
)

// Size is how many users a set holds, beside all known users.
type Size struct{ Count, Known int64 }

// Size counts a set.
func (s *Service) Size(ctx context.Context, set cohort.Set, o Options) (Answer[Size], error) {
	return steady(ctx, s, o, func(cat *cohort.Catalogue) (Size, tally, error) {
		t, err := s.count(ctx, cat, []cohort.Set{set, cohort.KnownUsers()}, []cohort.Row{{Name: "size", Sets: 2}}, o)
		if err != nil {
			return Size{}, t, err
		}
		return Size{t.counts[0], t.counts[1]}, t, nil
	})
}

// Members hands the IDs of a set's users to emit in ascending order of
// offset, some thousands at a time, and stops at the first error. While emit
// works on some, the next are looked up. It is ErrBusy when days were replaced
// meanwhile: what was handed over is then worth nothing.
func (s *Service) Members(ctx context.Context, set cohort.Set, o Options, emit func(ids []string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	lists := make(chan []string, membersAhead)
	group.Go(func() error {
		defer close(lists)
		return s.members(ctx, set, o, func(ids []string) error {
			select {
			case lists <- ids:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error {
		for ids := range lists {
			if err := emit(ids); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// members looks the IDs up, a segment after the other.
func (s *Service) members(ctx context.Context, set cohort.Set, o Options, emit func(ids []string) error) error {
	swaps, err := s.store.Swaps(ctx)
	if err != nil {
		return err
	}
	cat, err := s.store.Catalogue(ctx)
	if err != nil {
		return err
	}
	p, ids, err := s.newPlan(cat, []cohort.Set{set}, o.Engine)
	if err != nil || ids[0] == nothing {
		return err
	}
	for _, segment := range cat.Segments() {
		b, err := s.read(ctx, p, segment)
		if errors.Is(err, fault.ErrNoWrites) && o.Engine != Bitop {
			p.engine = Fold
			b, err = s.read(ctx, p, segment)
		}
		if err != nil {
			return err
		}
		if now, err := s.store.Swaps(ctx); err != nil || now != swaps {
			return errors.Join(err, replaced())
		}
		if err := s.emitIDs(ctx, b, uint32(segment)*uint32(s.store.SegmentBits()), emit); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) emitIDs(ctx context.Context, b []byte, base uint32, emit func(ids []string) error) error {
	offsets := make([]uint32, 0, membersAtOnce)
	flush := func() error {
		if len(offsets) == 0 {
			return nil
		}
		ids, err := s.store.IDs(ctx, offsets)
		if err != nil {
			return err
		}
		offsets = offsets[:0]
		return emit(ids)
	}
	for position := range bitmap.Ones(b) {
		if offsets = append(offsets, base+uint32(position)); len(offsets) == membersAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

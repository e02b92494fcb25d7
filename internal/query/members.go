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
	// membersAtOnce is how many IDs are looked up and handed over together.
	membersAtOnce = 1 << 15
	// membersAhead is how many such lists are looked up or wait to be handed over.
	membersAhead = 2
)

// sizeRow is the row of the counts of sets, whoever asks for them.
const sizeRow = "size"

// Size is how many users a set holds, beside all known users.
type Size struct{ Count, Known int64 }

// Size counts a set.
func (s *Service) Size(ctx context.Context, set cohort.Set, o Options) (Answer[Size], error) {
	return steady(ctx, s, o, func(cat *cohort.Catalogue) (Size, tally, error) {
		t, err := s.count(ctx, cat, []cohort.Set{set, cohort.KnownUsers()}, []cohort.Row{{Name: sizeRow, Sets: 2}}, o)
		if err != nil {
			return Size{}, t, err
		}
		return Size{t.counts[0], t.counts[1]}, t, nil
	})
}

// Sizes counts several sets together.
func (s *Service) Sizes(ctx context.Context, sets []cohort.Set, o Options) (Answer[[]int64], error) {
	if len(sets) == 0 {
		return Answer[[]int64]{ComputedAt: o.Now, Engine: Bitop}, nil
	}
	return steady(ctx, s, o, func(cat *cohort.Catalogue) ([]int64, tally, error) {
		t, err := s.count(ctx, cat, sets, []cohort.Row{{Name: sizeRow, Sets: len(sets)}}, o)
		return t.counts, t, err
	})
}

// Members hands the IDs of a set's users to emit in ascending order of
// offset, some thousands at a time, and stops at the first error. A list is
// emit's until it returns; the next are looked up meanwhile. It is ErrBusy when
// days were replaced while they were read: what was handed over is then worth
// nothing.
func (s *Service) Members(ctx context.Context, set cohort.Set, o Options, emit func(ids *cohort.IDList) error) error {
	group, ctx := errgroup.WithContext(ctx)
	l := &listing{Service: s, group: group, found: make(chan chan *someMembers, membersAhead)}
	group.Go(func() error {
		defer close(l.found)
		return l.read(ctx, set, o)
	})
	group.Go(func() error {
		for next := range l.found {
			select {
			case m := <-next:
				if err := emit(&m.ids); err != nil {
					return err
				}
				l.used.Put(m)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// listing is a list of members that is being made: it reads bitmaps, looks up
// some members side by side, and hands them over in order.
type listing struct {
	*Service
	group *errgroup.Group
	found chan chan *someMembers // in order, each still to be filled
	used  sync.Pool              // of *someMembers
}

// someMembers is consecutive members.
type someMembers struct {
	offsets []uint32
	ids     cohort.IDList
}

// read reads the bitmaps, a segment after the other.
func (l *listing) read(ctx context.Context, set cohort.Set, o Options) error {
	swaps, err := l.store.Swaps(ctx)
	if err != nil {
		return err
	}
	cat, err := l.store.Catalogue(ctx)
	if err != nil {
		return err
	}
	cat, known := l.withPast(ctx, cat, []cohort.Set{set}, o)
	p, ids, err := l.newPlan(cat, known, []cohort.Set{set}, o.Engine)
	if err != nil || ids[0] == nothing {
		return err
	}
	for _, segment := range cat.Segments() {
		b, err := l.readSegment(ctx, p, segment, o)
		for err != nil && len(known) > 0 && ctx.Err() == nil {
			known = known.less()
			if p, _, err = l.newPlan(cat, known, []cohort.Set{set}, o.Engine); err == nil {
				b, err = l.readSegment(ctx, p, segment, o)
			}
		}
		if err != nil {
			return err
		}
		if now, err := l.store.Swaps(ctx); err != nil || now != swaps {
			return errors.Join(err, replaced())
		}
		if err := l.lookUp(ctx, b, uint32(segment)*uint32(l.store.SegmentBits())); err != nil {
			return err
		}
	}
	return nil
}

// readSegment reads the bitmap of a plan in a segment.
func (l *listing) readSegment(ctx context.Context, p *plan, segment int, o Options) ([]byte, error) {
	b, err := l.Service.read(ctx, p, segment)
	if errors.Is(err, fault.ErrNoWrites) && o.Engine != Bitop {
		p.engine = Fold
		b, err = l.Service.read(ctx, p, segment)
	}
	return b, err
}

// lookUp looks up the members of a segment, which begins at an offset.
func (l *listing) lookUp(ctx context.Context, b []byte, base uint32) error {
	m := l.empty()
	for position := range bitmap.Ones(b) {
		if m.offsets = append(m.offsets, base+uint32(position)); len(m.offsets) == membersAtOnce {
			if err := l.find(ctx, m); err != nil {
				return err
			}
			m = l.empty()
		}
	}
	return l.find(ctx, m)
}

func (l *listing) empty() *someMembers {
	m, ok := l.used.Get().(*someMembers)
	if !ok {
		m = &someMembers{offsets: make([]uint32, 0, membersAtOnce)}
	}
	m.offsets = m.offsets[:0]
	m.ids.Reset()
	return m
}

// find looks up the IDs of members while others are handed over, and waits as
// long as too many are under way.
func (l *listing) find(ctx context.Context, m *someMembers) error {
	if len(m.offsets) == 0 {
		return nil
	}
	next := make(chan *someMembers, 1)
	select {
	case l.found <- next:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.group.Go(func() error {
		err := l.store.ListIDs(ctx, m.offsets, &m.ids)
		if err == nil {
			next <- m
		}
		return err
	})
	return nil
}

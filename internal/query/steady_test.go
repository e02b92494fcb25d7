package query_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// meddled is a real store on which somebody replaces a day while it is read.
type meddled struct {
	*store.Store
	times int // the day is replaced at most so often
	users []*roaring.Bitmap

	mu   sync.Mutex // segments are read side by side
	done int
}

func (m *meddled) replace(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done == m.times {
		return nil
	}
	m.done++
	y, err := m.BeginSync(ctx)
	if err != nil {
		return err
	}
	day := cohort.DayOfMetric("active", epoch)
	if err := y.Stage(ctx, map[cohort.Bitmap]*roaring.Bitmap{day: m.users[m.done%len(m.users)]}); err != nil {
		return err
	}
	_, err = y.Commit(ctx, true)
	return err
}

func (m *meddled) Run(ctx context.Context, segment int, inputs []cohort.Bitmap, p bitmap.Program) (bitmap.Result, error) {
	r, err := m.Store.Run(ctx, segment, inputs, p)
	return r, errors.Join(err, m.replace(ctx))
}

func (m *meddled) Fetch(ctx context.Context, segment int, inputs []cohort.Bitmap, from, to int, arena []byte) ([][]byte, error) {
	b, err := m.Store.Fetch(ctx, segment, inputs, from, to, arena)
	return b, errors.Join(err, m.replace(ctx))
}

// meddle makes a day of users in many segments, each of two sets whole.
func meddle(t *testing.T, times int) (*query.Service, *meddled) {
	t.Helper()
	m := &meddled{Store: storetest.Open(t, func(c *store.Config) { c.Dense, c.SegmentBits = true, 64 }), times: times}
	one, three := roaring.New(), roaring.New()
	for user := range uint32(640) {
		if user%64 == 0 {
			one.Add(user)
		}
		if user%64 < 3 {
			three.Add(user)
		}
	}
	m.users = []*roaring.Bitmap{one, three}
	if _, err := m.Merge(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{cohort.DayOfMetric("active", epoch): one}); err != nil {
		t.Fatal(err)
	}
	return query.New(m, workspace, query.Config{}), m
}

func TestNoAnswerIsHalfOldAndHalfNew(t *testing.T) {
	for _, engine := range []query.Engine{query.Bitop, query.Fold} {
		t.Run(string(engine), func(t *testing.T) {
			s, m := meddle(t, 1)
			day := cohort.ActiveOn("active", cohort.Range{From: epoch, To: epoch}, epoch)
			// Four segments are read at once, so that the replacement comes in between.
			got, err := s.Size(t.Context(), day, query.Options{Engine: engine})
			if err != nil || got.Value.Count != 30 || m.done != 1 {
				t.Errorf("counts %d users, %v; want the 30 of the day as it is now", got.Value.Count, err)
			}
		})
	}
}

func TestDaysThatKeepBeingReplaced(t *testing.T) {
	s, _ := meddle(t, 1_000)
	day := cohort.ActiveOn("active", cohort.Range{From: epoch, To: epoch}, epoch)
	if _, err := s.Size(t.Context(), day, query.Options{}); !errors.Is(err, fault.ErrBusy) {
		t.Errorf("counting gives %v, want ErrBusy", err)
	}
	err := s.Members(t.Context(), day, query.Options{}, func(*cohort.IDList) error { return nil })
	if !errors.Is(err, fault.ErrBusy) {
		t.Errorf("listing gives %v, want ErrBusy", err)
	}
}

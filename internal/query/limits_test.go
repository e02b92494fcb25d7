package query_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// dataDays is how many days, up to epoch, the store of the limit tests holds.
const dataDays = 400

// fullStore holds one user who is active on every day, and one on the last only.
func fullStore(t testing.TB) *query.Service {
	t.Helper()
	st := storetest.Open(t, func(c *store.Config) { c.Dense = true; c.SegmentBits = 64 })
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for d := range cohort.Day(dataDays) {
		marks[cohort.DayOfMetric("active", epoch-d)] = roaring.BitmapOf(7)
	}
	marks[cohort.DayOfMetric("active", epoch)].Add(9)
	if _, err := st.Merge(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	return query.New(st, workspace, query.Config{})
}

// A question within the limits must not take a number of steps that grows with
// the square of its range: each of these took minutes, or gigabytes, if it did.
func TestLargestQuestionsTakeSeconds(t *testing.T) {
	s := fullStore(t)
	longest := cohort.Range{From: epoch - cohort.MaxRangeDays + 1, To: epoch}
	rows := cohort.Range{From: epoch - cohort.MaxCells/(cohort.MaxPeriods+1) + 1, To: epoch}
	table := func(r cohort.Returning) int64 {
		q := cohort.RetentionQuestion{
			Start: "active", Return: "active", Range: rows, Periods: cohort.MaxPeriods, Membership: cohort.AnyTime, Returning: r, AsOf: epoch,
		}
		answer := ask(t, s, q).Rows
		return answer[len(answer)-dataDays].Cells[cohort.MaxPeriods].Count
	}
	for name, c := range map[string]struct {
		got  func() int64
		want int64
	}{
		"lifecycle": {func() int64 {
			points := ask(t, s, cohort.LifecycleQuestion{Metric: "active", Range: longest, AsOf: epoch})
			return points[len(points)-1].New
		}, 1},
		"stickiness": {func() int64 {
			return ask(t, s, cohort.StickinessQuestion{Metric: "active", Range: longest, AsOf: epoch})[dataDays-1].Exactly
		}, 1},
		"ratio": {func() int64 {
			points := ask(t, s, cohort.RatioQuestion{Metric: "active", Range: longest, Window: cohort.MaxWindow, AsOf: epoch})
			return points[len(points)-1].MAU
		}, 2},
		"retention on or after": {func() int64 { return table(cohort.OnOrAfter) }, 1},
		"retention every":       {func() int64 { return table(cohort.EveryPeriod) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			if diff := cmp.Diff(c.want, c.got()); diff != "" {
				t.Error(diff)
			}
			if took := time.Since(begin); took > 2*time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// stepCounter is a store that counts the steps it is asked to run.
type stepCounter struct {
	*store.Store
	steps atomic.Int64
}

func (c *stepCounter) Run(ctx context.Context, segment int, inputs []cohort.Bitmap, p bitmap.Program) (bitmap.Result, error) {
	c.steps.Add(int64(len(p.Steps)))
	return c.Store.Run(ctx, segment, inputs, p)
}

// Days without data cost no work in Redis or here, also where days are counted.
func TestDaysWithoutDataTakeNoSteps(t *testing.T) {
	const days = 30
	st := &stepCounter{Store: storetest.Open(t)}
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for d := range cohort.Day(days) {
		marks[cohort.DayOfMetric("active", epoch-d)] = roaring.BitmapOf(7, uint32(d))
	}
	if _, err := st.Merge(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	stickiness := func(length cohort.Day) (steps int64, points []cohort.StickinessPoint) {
		st.steps.Store(0)
		q := cohort.StickinessQuestion{Metric: "active", Range: cohort.Range{From: epoch - length + 1, To: epoch}, AsOf: epoch}
		a, err := query.Ask(t.Context(), query.New(st, workspace, query.Config{}), q, query.Options{Engine: query.Bitop})
		if err != nil {
			t.Fatal(err)
		}
		return st.steps.Load(), a.Value
	}
	steps, points := stickiness(days)
	stepsOfAll, all := stickiness(cohort.MaxRangeDays)
	if steps == 0 || stepsOfAll != steps {
		t.Errorf("%d steps for a range with data, %d for one that has more days without", steps, stepsOfAll)
	}
	if diff := cmp.Diff(points, all[:days]); diff != "" {
		t.Error(diff)
	}
}

func ask[T any](t testing.TB, s *query.Service, q query.Question[T]) T {
	t.Helper()
	a, err := query.Ask(t.Context(), s, q, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a.Value
}

func TestBitmapsTooLargeForOneCommandAreFolded(t *testing.T) {
	st := storetest.Open(t, func(c *store.Config) { c.Dense = true })
	day := cohort.DayOfMetric("active", epoch)
	if _, err := st.Merge(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{day: roaring.BitmapOf(1, 2)}); err != nil {
		t.Fatal(err)
	}
	today := cohort.ActiveOn("active", cohort.Range{From: epoch, To: epoch}, epoch)
	for _, test := range []struct {
		most int64
		want query.Engine
	}{{0, query.Bitop}, {1024, query.Bitop}, {1023, query.Fold}} {
		s := query.New(st, workspace, query.Config{MaxBitopBytes: test.most}) // a segment has 512 bytes
		a, err := s.Size(t.Context(), today, query.Options{Refresh: true})
		if err != nil || a.Engine != test.want || a.Value.Count != 2 {
			t.Errorf("max_bitop_bytes %d: %d users by %s, %v; want 2 by %s", test.most, a.Value.Count, a.Engine, err, test.want)
		}
		_, err = s.Size(t.Context(), today, query.Options{Refresh: true, Engine: query.Bitop})
		if f := fault.As(err); (test.want == query.Fold) != (f != nil && f.Field == "engine") {
			t.Errorf("max_bitop_bytes %d: bitop forced gives %v", test.most, err)
		}
	}
}

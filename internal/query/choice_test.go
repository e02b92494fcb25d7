package query_test

import (
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// The planner chooses by what a question costs: few steps stay in the store,
// many over the same bitmaps are made where each is read once.
func TestTheEngineThatIsChosen(t *testing.T) {
	last := epoch + 30
	month := cohort.Range{From: epoch, To: last}
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for d := epoch; d <= last; d++ {
		marks[cohort.DayOfMetric("active", d)] = roaring.BitmapOf(1, 2, 3)
	}
	st := storetest.Open(t, func(c *store.Config) { c.Dense, c.SegmentBits = true, 1<<20 })
	if _, err := st.Merge(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	s := query.New(st, workspace, query.Config{})
	size := func(expr string) query.Engine {
		a, err := s.Size(t.Context(), resolve(t, expr, last), query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a.Engine
	}
	active := func(window int) query.Engine {
		a, err := s.Active(t.Context(), cohort.ActiveQuestion{Metric: "active", Range: month, Window: window, AsOf: last}, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a.Engine
	}
	retention := func(days, periods int) query.Engine {
		a, err := query.Ask(t.Context(), s, cohort.RetentionQuestion{
			Start: "active", Return: "active", Range: cohort.Range{From: last - cohort.Day(days), To: last - 1},
			Periods: periods, Membership: cohort.AnyTime, AsOf: last,
		}, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a.Engine
	}
	for name, tt := range map[string]struct{ got, want query.Engine }{
		"one day":                         {size("active@today"), query.Bitop},
		"two days":                        {size("active@today & active@today-1d"), query.Bitop},
		"a complement":                    {size("!active@today"), query.Bitop},
		"a week":                          {size("active@today-6d..today"), query.Bitop},
		"active users of each day":        {active(1), query.Bitop},
		"active users of each week":       {active(7), query.Fold},
		"next-day retention of a day":     {retention(1, 1), query.Bitop},
		"next-day retention of many days": {retention(30, 1), query.Fold},
		"a retention table":               {retention(30, 30), query.Fold},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is computed by %s, want %s", name, tt.got, tt.want)
		}
	}
}

package query_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
)

// fading is a chronicle of a metric whose days are kept for some days only.
type fading struct {
	*chronicle
	keep int
	now  time.Time // noon
	gone map[string]map[cohort.Day]bool
}

func drawFading(t testing.TB, r *rapid.T) *fading {
	t.Helper()
	f := &fading{chronicle: drawChronicle(t, r), now: time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC), gone: map[string]map[cohort.Day]bool{}}
	f.keep = rapid.SampledFrom([]int{1, 2, 5, 20, 45}).Draw(r, "keep")
	w := workspace
	w.Metrics = []cohort.Metric{{Name: "active", Kind: cohort.KindDaily, Keep: f.keep}}
	f.Service = query.New(f.store, w, query.Config{TTLOpen: ttlOpen, SettleAfter: settleAfter})
	return f
}

func (f *fading) today() cohort.Day { return cohort.DayOf(f.now, time.UTC) }

func (f *fading) kept() cohort.Day { return f.today() - cohort.Day(f.keep) }

// change changes a day that is kept.
func (f *fading) change() {
	ctx, ids := context.Background(), f.drawIDs()
	d := cohort.Day(rapid.IntRange(int(f.kept()), int(f.today())).Draw(f.t, "day"))
	marks := map[cohort.Bitmap]*roaring.Bitmap{day(d): f.offsets(ids)}
	switch rapid.IntRange(0, 5).Draw(f.t, "change") {
	default:
		_, err := f.store.Merge(ctx, marks)
		f.must(err)
		f.setAll(ids, d, true)
	case 1:
		_, err := f.store.Clear(ctx, marks)
		f.must(err)
		f.setAll(ids, d, false)
	case 2:
		_, _ = f.store.Forget(ctx, ids[0]) // there may be nothing stored of the user
		delete(f.days, ids[0])
		delete(f.gone, ids[0])
	}
}

// pass lets as many days pass as a server may be away, and what is kept no
// longer go away.
func (f *fading) pass() {
	ctx := context.Background()
	was := f.kept()
	f.now = f.now.AddDate(0, 0, rapid.IntRange(1, min(7, (f.keep+1)/2)).Draw(f.t, "days pass"))
	for d := was; d < f.kept(); d++ {
		for segment := range 1 + 500/f.config.SegmentBits {
			f.must(f.client.Unlink(ctx, f.dayKey(segment, d)).Err())
		}
	}
	for id, days := range f.days {
		for d := range days {
			if d < f.kept() {
				if f.gone[id] == nil {
					f.gone[id] = map[cohort.Day]bool{}
				}
				f.gone[id][d] = true
				delete(days, d)
			}
		}
	}
	f.must(f.store.Scan(ctx))
}

// newIn returns the IDs with a kept day in a range and none before it, those
// that are gone included.
func (f *fading) newIn(r cohort.Range) []string {
	var ids []string
	for id, days := range f.days {
		in, before := false, false
		for d := range days {
			in, before = in || r.Has(d), before || d < r.From
		}
		for d := range f.gone[id] {
			before = before || d < r.From
		}
		if in && !before {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (f *fading) check(r cohort.Range, o query.Options) {
	f.t.Helper()
	var got []string
	f.must(f.Members(context.Background(), cohort.FirstOn("active", r, f.today()), o, func(ids *cohort.IDList) error {
		got = append(got, ids.Strings()...)
		return nil
	}))
	slices.Sort(got)
	if diff := cmp.Diff(f.newIn(r), got); diff != "" {
		f.t.Fatalf("keep %d, on %s: new from %s to %s, refreshed %t (-want +got):\n%s", f.keep, f.today(), r.From, r.To, o.Refresh, diff)
	}
}

func TestFirstDaysOutliveTheirBitmaps(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := drawFading(t, r)
		for range rapid.IntRange(1, 25).Draw(r, "rounds") {
			for range rapid.IntRange(0, 3).Draw(r, "changes") {
				f.change()
			}
			f.must(f.Remember(context.Background(), f.now))
			f.pass()
			week := workspace.Calendar.Start(cohort.Weekly, f.kept())
			month := workspace.Calendar.Start(cohort.Monthly, f.kept())
			from := cohort.Day(rapid.IntRange(int(f.kept()), int(f.today())).Draw(r, "from"))
			for _, engine := range []query.Engine{query.Bitop, query.Fold} {
				for _, start := range []cohort.Day{week, month, from} {
					f.check(cohort.Range{From: start, To: f.today()}, query.Options{Engine: engine, Now: f.now})
				}
			}
			f.check(cohort.Range{From: from, To: f.today()}, query.Options{Now: f.now, Refresh: true})
		}
		f.checkKeys()
	})
}

// Other questions about all days are about the days that are kept, as their
// expressions are.
func TestOnlyFirstDaysOutliveTheirBitmaps(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := drawFading(t, r)
		f.change()
		f.must(f.Remember(context.Background(), f.now))
		for range 10 {
			f.pass()
		}
		all := cohort.OnAny{Metric: "active", Days: cohort.Range{From: cohort.MinDay, To: f.today()}}
		size, err := f.Size(context.Background(), all, query.Options{Now: f.now})
		if want := len(f.newIn(cohort.Range{From: cohort.MinDay, To: f.today()})); err != nil || size.Value.Count != int64(want) {
			f.t.Fatalf("%d users on any day, %v; want %d", size.Value.Count, err, want)
		}
	})
}

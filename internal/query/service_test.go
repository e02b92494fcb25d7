package query_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

var (
	epoch = cohort.DayOfDate(2026, time.February, 25) // a leap-free month end inside
	week  = cohort.Range{From: epoch, To: epoch + 13}
)

var workspace = cohort.Workspace{
	Zone:     time.UTC,
	Calendar: cohort.Calendar{WeekStart: time.Monday},
	Metrics: []cohort.Metric{
		{Name: "active", Kind: cohort.KindDaily}, {Name: "bought", Kind: cohort.KindDaily},
		{Name: "activated", Kind: cohort.KindFlag}, {Name: "exposed", Kind: cohort.KindFlag},
	},
}

// bench is a service over a real store beside the model of what it holds.
type bench struct {
	*query.Service
	model *model
	store *store.Store
}

// kinds has the quicker kinds of stores more often.
var kinds = []storetest.Kind{
	storetest.OnRedis, storetest.OnRedis, storetest.OnRedis, storetest.OnCluster, storetest.OnCluster, storetest.OnMemory,
}

// drawBench fills a store of any kind with random events, over several short segments.
func drawBench(t testing.TB, r *rapid.T) bench {
	t.Helper()
	bits := rapid.SampledFrom([]int{64, 128, 4096}).Draw(r, "segment bits")
	kind := rapid.SampledFrom(kinds).Draw(r, "kind of store")
	b := bench{model: newModel(), store: kind.Open(t, func(c *store.Config) { c.Dense = true; c.SegmentBits = bits })}
	b.Service = query.New(b.store, workspace, query.Config{})
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for range rapid.IntRange(0, 120).Draw(r, "events") {
		user := rapid.Uint32Range(0, 300).Draw(r, "user")
		of := cohort.DayOfMetric(rapid.SampledFrom([]string{"active", "bought"}).Draw(r, "metric"), drawDay(r))
		if rapid.IntRange(0, 4).Draw(r, "flag?") == 0 {
			of = cohort.Flag(rapid.SampledFrom([]string{"activated", "exposed"}).Draw(r, "flag"))
		}
		b.model.mark(of, user)
		if marks[of] == nil {
			marks[of] = roaring.New()
		}
		marks[of].Add(user)
	}
	if _, err := b.store.Merge(context.Background(), marks); err != nil {
		t.Fatal(err)
	}
	return b
}

func drawDay(r *rapid.T) cohort.Day {
	return cohort.Day(rapid.IntRange(int(week.From), int(week.To)).Draw(r, "day"))
}

func drawRange(r *rapid.T) cohort.Range {
	a, b := drawDay(r), drawDay(r)
	return cohort.Range{From: min(a, b), To: max(a, b)}
}

var engines = []query.Engine{query.Auto, query.Bitop, query.Fold}

// drawExpr writes a random expression in the grammar of the product.
func drawExpr(r *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 9).Draw(r, "kind")
	if depth == 0 {
		kind %= 5
	}
	days := drawRange(r)
	metric := rapid.SampledFrom([]string{"active", "bought"}).Draw(r, "metric")
	on := fmt.Sprintf("%s@%s..%s", metric, days.From, days.To)
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"activated", "exposed"}).Draw(r, "flag")
	case 1:
		return on
	case 2:
		return "all(" + on + ")"
	case 3:
		return "first(" + on + ")"
	case 4:
		call := rapid.SampledFrom([]string{"atleast", "exactly"}).Draw(r, "call")
		return fmt.Sprintf("%s(%d, %s)", call, rapid.IntRange(1, days.Len()).Draw(r, "k"), on)
	case 5:
		return "!(" + drawExpr(r, depth-1) + ")"
	}
	op := rapid.SampledFrom([]string{"|", "&", "-"}).Draw(r, "op")
	return "(" + drawExpr(r, depth-1) + ") " + op + " (" + drawExpr(r, depth-1) + ")"
}

func resolve(t testing.TB, text string, asOf cohort.Day) cohort.Set {
	t.Helper()
	e, err := cohort.ParseExpr(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	set, err := e.Resolve(cohort.Scope{Workspace: workspace, AsOf: asOf})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return set
}

func TestSetsAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := drawBench(t, r)
		for range 5 {
			text := drawExpr(r, 3)
			set := resolve(t, text, drawDay(r))
			want := b.model.members(set)
			for _, engine := range engines {
				o := query.Options{Engine: engine}
				size, err := b.Size(t.Context(), set, o)
				if err != nil {
					r.Fatal(err)
				}
				if diff := cmp.Diff(query.Size{Count: int64(len(want)), Known: int64(len(b.model.known))}, size.Value); diff != "" {
					r.Fatalf("%s by %s (-want +got):\n%s", text, engine, diff)
				}
				if diff := cmp.Diff(want, b.list(r, set, o)); diff != "" {
					r.Fatalf("members of %s by %s (-want +got):\n%s", text, engine, diff)
				}
			}
			b.checkHolds(r, text, set, want)
		}
	})
}

// checkHolds asks of each known user whether a set with some members holds the user.
func (b bench) checkHolds(r *rapid.T, text string, set cohort.Set, members []uint32) {
	for user := range b.model.known {
		held, err := b.Holds(context.Background(), strconv.FormatUint(uint64(user), 10), []cohort.Set{cohort.KnownUsers(), set}, query.Options{})
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff([]bool{true, slices.Contains(members, user)}, held.Value); diff != "" {
			r.Fatalf("whether everybody and %s hold %d (-want +got):\n%s", text, user, diff)
		}
	}
}

// list returns the members that the service hands out, in its order.
func (b bench) list(r *rapid.T, set cohort.Set, o query.Options) []uint32 {
	var users []uint32
	err := b.Members(context.Background(), set, o, func(ids *cohort.IDList) error {
		for _, id := range ids.Strings() {
			n, err := strconv.ParseUint(id, 10, 32)
			if err != nil {
				return err
			}
			users = append(users, uint32(n))
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return users
}

func TestReportsCountWhatTheModelCounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := drawBench(t, r)
		asOf := drawDay(r)
		days := drawRange(r)
		granularity := rapid.SampledFrom([]cohort.Granularity{cohort.Daily, cohort.Weekly, cohort.Monthly}).Draw(r, "granularity")
		checkReport(r, b, cohort.LifecycleQuestion{Metric: "active", Range: days, Granularity: granularity, AsOf: asOf})
		checkReport(r, b, cohort.StickinessQuestion{Metric: "active", Range: days, Granularity: granularity, AsOf: asOf})
		checkReport(r, b, cohort.RatioQuestion{Metric: "active", Range: days, Window: rapid.IntRange(1, 10).Draw(r, "window"), AsOf: asOf})
		checkReport(r, b, cohort.RecencyQuestion{Metric: "bought", AsOf: asOf})
		checkReport(r, b, cohort.RetentionQuestion{
			Start: "active", Return: rapid.SampledFrom([]string{"active", "bought"}).Draw(r, "return"), Range: days, Granularity: granularity,
			Periods:    rapid.IntRange(0, 6).Draw(r, "periods"),
			Membership: rapid.SampledFrom([]cohort.Membership{cohort.FirstTime, cohort.AnyTime}).Draw(r, "cohorts"),
			Returning:  rapid.SampledFrom([]cohort.Returning{cohort.OnPeriod, cohort.OnOrAfter, cohort.EveryPeriod}).Draw(r, "returning"),
			AsOf:       asOf,
		})
	})
}

// checkReport compares a report with the one made from the model's counts.
func checkReport[T any](r *rapid.T, b bench, q query.Question[T]) {
	var counts []int64
	for _, s := range q.Sets(workspace.Calendar) {
		counts = append(counts, int64(len(b.model.members(s))))
	}
	want := q.Answer(workspace.Calendar, counts)
	for _, engine := range engines {
		got, err := query.Ask(context.Background(), b.Service, q, query.Options{Engine: engine})
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Value); diff != "" {
			r.Fatalf("%+v by %s (-want +got):\n%s", q, engine, diff)
		}
	}
}

func TestCalendarsAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := drawBench(t, r)
		q := cohort.CalendarQuestion{Metric: "active", Range: drawRange(r), AsOf: drawDay(r)}
		for user := range b.model.known {
			q.UserID = strconv.Itoa(int(user))
			got, err := b.Calendar(t.Context(), q, query.Options{})
			if err != nil {
				r.Fatal(err)
			}
			all := b.model.userDays("active", user)
			var want []cohort.Day
			for _, d := range all {
				if q.Range.Has(d) && d <= q.AsOf {
					want = append(want, d)
				}
			}
			if diff := cmp.Diff(want, got.Value.Days); diff != "" {
				r.Fatalf("days of %d (-want +got):\n%s", user, diff)
			}
			if diff := cmp.Diff(cohort.StreakOf(all, q.AsOf), got.Value.Streak); diff != "" {
				r.Fatalf("streak of %d (-want +got):\n%s", user, diff)
			}
		}
	})
}

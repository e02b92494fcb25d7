package query_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

const (
	ttlOpen     = time.Minute
	settleAfter = 2 * time.Hour
)

// later is long after all days of week are settled.
var later = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// cacheBench is a service over a store of its own, and a plain client for what
// other programs do.
type cacheBench struct {
	t      testing.TB
	s      *query.Service
	store  *store.Store
	config store.Config
	client *redis.Client
}

func newCacheBench(t testing.TB) *cacheBench {
	t.Helper()
	b := &cacheBench{t: t}
	b.store = storetest.Open(t, func(c *store.Config) {
		c.Dense, c.SegmentBits = true, 1<<20
		b.config = *c
	})
	b.s = b.another()
	options, err := redis.ParseURL(b.config.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.client = redis.NewClient(options)
	t.Cleanup(func() { b.client.Close() })
	return b
}

// another is the service of another process.
func (b *cacheBench) another() *query.Service {
	return query.New(b.store, workspace, query.Config{TTLOpen: ttlOpen, SettleAfter: settleAfter})
}

func day(d cohort.Day) cohort.Bitmap { return cohort.DayOfMetric("active", d) }

func (b *cacheBench) merge(of cohort.Bitmap, users ...uint32) {
	b.t.Helper()
	if _, err := b.store.Merge(b.t.Context(), map[cohort.Bitmap]*roaring.Bitmap{of: roaring.BitmapOf(users...)}); err != nil {
		b.t.Fatal(err)
	}
}

// setBit does what another program does that knows nothing of the catalogue.
func (b *cacheBench) setBit(of cohort.Bitmap, user int64) {
	b.t.Helper()
	name := fmt.Sprintf("%s:{s0}:day:%s:%s", b.config.Prefix, of.Metric, of.Day.Compact())
	if err := b.client.SetBit(b.t.Context(), name, user, 1).Err(); err != nil {
		b.t.Fatal(err)
	}
}

// cells is where the counts of an answer came from.
type cells struct{ computed, cached int }

// table asks for the retention of the days of a range, and returns the sizes of
// its cohorts added up, and where its counts came from.
func (b *cacheBench) table(r cohort.Range, asOf cohort.Day, change ...func(*query.Options)) (users int64, from cells) {
	b.t.Helper()
	q := cohort.RetentionQuestion{Start: "active", Return: "active", Range: r, Periods: 20, Membership: cohort.AnyTime, AsOf: asOf}
	o := query.Options{Now: later, Ledger: &query.Ledger{}}
	for _, c := range change {
		c(&o)
	}
	a, err := query.Ask(b.t.Context(), b.s, q, o)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, row := range a.Value.Rows {
		users += row.Size
	}
	from.computed, from.cached = o.Ledger.Cells()
	return users, from
}

// expect asks for the table of a fortnight.
func (b *cacheBench) expect(what string, users int64, from cells, change ...func(*query.Options)) {
	b.t.Helper()
	if got, cells := b.table(week, week.To, change...); got != users || cells != from {
		b.t.Errorf("%s: %d users, %+v; want %d, %+v", what, got, cells, users, from)
	}
}

func at(now time.Time) func(*query.Options) { return func(o *query.Options) { o.Now = now } }
func refresh(o *query.Options)              { o.Refresh = true }

// allCells is the cells of the table of a fortnight: a row of the first day has
// 14 and its size, one of the last day 1 and its size.
const allCells = 14*15/2 + 14

// fortnight writes 3 users on each day.
func (b *cacheBench) fortnight() {
	b.t.Helper()
	for d := week.From; d <= week.To; d++ {
		b.merge(day(d), 1, 2, 3)
	}
}

func TestCountsAreKept(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.expect("at first", 42, cells{allCells, 0})
	b.expect("again", 42, cells{0, allCells})
	b.s = b.another()
	b.expect("in another process", 42, cells{0, allCells})
	b.expect("refreshed", 42, cells{allCells, 0}, refresh)
	b.expect("a month later", 42, cells{allCells, 0}, at(later.AddDate(0, 1, 1)))
}

func TestComputedAtIsThatOfTheOldestCount(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	q := cohort.ActiveQuestion{Metric: "active", Window: 1, Range: cohort.Range{From: week.From, To: week.From + 3}, AsOf: week.To}
	if _, err := b.s.Active(t.Context(), q, query.Options{Now: later}); err != nil {
		t.Fatal(err)
	}
	q.Range = week
	a, err := b.s.Active(t.Context(), q, query.Options{Now: later.Add(time.Hour)})
	if err != nil || !a.ComputedAt.Equal(later) {
		t.Errorf("computed at %s, %v; want %s", a.ComputedAt, err, later)
	}
}

func TestALateEventIsInTheNextAnswer(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.expect("at first", 42, cells{allCells, 0})
	b.merge(day(week.To), 4)
	// The last day is a column of each row, and its own row has two cells.
	b.expect("after an event of the last day", 43, cells{15, allCells - 15})
	b.merge(day(week.From), 4)
	b.expect("after a backfill of the first day", 44, cells{15, allCells - 15})
}

func TestAMarkTakenBackIsNotInTheNextAnswer(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.expect("at first", 42, cells{allCells, 0})
	if _, err := b.store.Clear(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{day(week.From): roaring.BitmapOf(1)}); err != nil {
		t.Fatal(err)
	}
	b.expect("after a mark was taken back", 41, cells{15, allCells - 15})
}

func TestAFlagTakenBackIsNotInTheNextAnswer(t *testing.T) {
	b := newCacheBench(t)
	b.merge(cohort.Flag("exposed"), 1, 2)
	size := func() int64 {
		a, err := b.s.Size(t.Context(), cohort.Stored{Bitmap: cohort.Flag("exposed")}, query.Options{Now: later})
		if err != nil {
			t.Fatal(err)
		}
		return a.Value.Count
	}
	if n := size(); n != 2 {
		t.Errorf("%d users, want 2", n)
	}
	if _, err := b.store.Clear(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{cohort.Flag("exposed"): roaring.BitmapOf(1)}); err != nil {
		t.Fatal(err)
	}
	if n := size(); n != 1 {
		t.Errorf("%d users after one was taken out, want 1", n)
	}
}

func TestAReplacementIsInTheNextAnswer(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.expect("at first", 42, cells{allCells, 0})
	y, err := b.store.BeginSync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := y.Stage(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{day(week.From): roaring.BitmapOf(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := y.Commit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	b.expect("after the first day was replaced", 40, cells{15, allCells - 15})
}

// A writer that dies has changed something or nothing, and will never say so.
func TestAWriterThatDies(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.expect("before", 42, cells{allCells, 0})
	ctx, writes := t.Context(), b.config.Prefix+":{meta}:writes"
	entry := redis.Z{Member: "dead day:active:" + week.To.Compact(), Score: float64(time.Now().Add(time.Minute).UnixMilli())}
	if err := b.client.ZAdd(ctx, writes, entry).Err(); err != nil {
		t.Fatal(err)
	}
	b.merge(day(week.From), 1) // so that all columns of the first row are asked for anew
	b.expect("while it seems to live", 42, cells{15, allCells - 15})
	b.setBit(day(week.To), 9)
	b.expect("within the life of a count of what is being written", 42, cells{0, allCells})
	b.expect("after it", 42, cells{1, allCells - 1}, at(later.Add(ttlOpen)))
	entry.Score = 1
	if err := b.client.ZAdd(ctx, writes, entry).Err(); err != nil {
		t.Fatal(err)
	}
	b.expect("once it counts as dead", 43, cells{15, allCells - 15})
	if left := b.client.ZCard(ctx, writes).Val(); left != 0 {
		t.Errorf("%d writes are still open", left)
	}
}

func TestWhatIsBeingWrittenIsNotKeptForLong(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	entry := redis.Z{Member: "alive day:active:" + week.To.Compact(), Score: float64(time.Now().Add(time.Minute).UnixMilli())}
	if err := b.client.ZAdd(t.Context(), b.config.Prefix+":{meta}:writes", entry).Err(); err != nil {
		t.Fatal(err)
	}
	b.expect("during the write", 42, cells{allCells, 0})
	b.expect("a little later", 42, cells{0, allCells}, at(later.Add(ttlOpen-time.Second)))
	b.expect("when the counts with that day are too old", 42, cells{15, allCells - 15}, at(later.Add(ttlOpen)))
}

func TestAnEmptiedStoreHasNoCounts(t *testing.T) {
	b := &cacheBench{t: t}
	url, _ := storetest.Start(t)
	b.store = storetest.Open(t, func(c *store.Config) {
		c.Dense, c.SegmentBits, c.URL = true, 1<<20, url
		b.config = *c
	})
	b.s = b.another()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	b.client = redis.NewClient(options)
	defer b.client.Close()
	b.fortnight()
	b.expect("at first", 42, cells{allCells, 0})
	kept := map[string]string{}
	for _, name := range b.client.Keys(t.Context(), b.config.Prefix+":{c*").Val() {
		kept[name] = b.client.Dump(t.Context(), name).Val()
	}
	if len(kept) != 14 {
		t.Errorf("%d rows are kept, want 14", len(kept))
	}
	if err := b.client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for name, value := range kept { // the counts survive, the data do not
		if err := b.client.Restore(t.Context(), name, 0, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := b.table(week, week.To); got != 0 {
		t.Errorf("%d users in an emptied store", got)
	}
	b.merge(day(week.From), 1)
	if got, _ := b.table(week, week.To); got != 1 {
		t.Errorf("%d users after one was written", got)
	}
}

func TestADayChangedByAnotherProgram(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.expect("at first", 42, cells{allCells, 0})
	b.expect("refreshed, so that the days are known", 42, cells{allCells, 0}, refresh)
	b.setBit(day(week.To), 9)
	b.expect("before anybody looks", 42, cells{0, allCells})
	b.expect("refreshed", 43, cells{allCells, 0}, refresh)
	b.expect("after that", 43, cells{0, allCells})
	if _, known, err := b.store.Find(t.Context(), "9"); err != nil || !known {
		t.Errorf("the user is known: %v, %v", known, err)
	}
}

func TestAnOpenDayIsCountedAnewWithinItsTime(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	// The last day ended an hour ago: other programs may still write it.
	now := (week.To + 1).Start(time.UTC).Add(time.Hour)
	b.expect("at first", 42, cells{allCells, 0}, at(now))
	b.setBit(day(week.To), 9)
	b.expect("at once", 42, cells{0, allCells}, at(now.Add(time.Second)))
	b.expect("after the life of its counts", 43, cells{15, allCells - 15}, at(now.Add(ttlOpen)))
}

func TestMovingAsOfComputesACellACohort(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.merge(day(week.To+1), 1, 2)
	b.table(week, week.To)
	if _, from := b.table(week, week.To+1); from.computed > 14 {
		t.Errorf("%d cells are computed for 14 cohorts", from.computed)
	}
}

func TestMovingTheRangeComputesARow(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	b.table(cohort.Range{From: week.From, To: week.To - 1}, week.To)
	if _, from := b.table(cohort.Range{From: week.From + 1, To: week.To}, week.To); from.computed != 2 {
		t.Errorf("%d cells are computed for the row of the last day, want its size and its one cell", from.computed)
	}
}

func TestForcedEnginesComputeThemselves(t *testing.T) {
	b := newCacheBench(t)
	b.fortnight()
	engine := func(e query.Engine) func(*query.Options) { return func(o *query.Options) { o.Engine = e } }
	b.expect("fold", 42, cells{allCells, 0}, engine(query.Fold))
	b.expect("bitop", 42, cells{allCells, 0}, engine(query.Bitop))
	b.expect("bitop again", 42, cells{0, allCells}, engine(query.Bitop))
	b.expect("any", 42, cells{0, allCells})
}

func TestOneQuestionAskedByManyIsComputedOnce(t *testing.T) {
	st := storetest.Open(t, func(c *store.Config) { c.Dense, c.SegmentBits = true, 1<<20 })
	b := &cacheBench{t: t, store: st}
	b.s = b.another()
	for d := week.From; d <= week.To; d++ {
		b.merge(day(d), 1, 1<<20, 2<<20)
	}
	ledger := &query.Ledger{}
	var asking sync.WaitGroup
	for range 6 {
		asking.Go(func() { // each like a process of its own
			q := cohort.RetentionQuestion{Start: "active", Return: "active", Range: week, Periods: 20, Membership: cohort.AnyTime, AsOf: week.To}
			if _, err := query.Ask(context.WithoutCancel(t.Context()), b.another(), q, query.Options{Now: later, Ledger: ledger}); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if computed, cached := ledger.Cells(); computed != allCells || cached != 5*allCells {
		t.Errorf("%d counts were computed and %d kept, want %d and %d", computed, cached, allCells, 5*allCells)
	}
}

// unreadable is a real store whose kept counts cannot be read the second time.
type unreadable struct {
	*store.Store
	reads int
}

func (u *unreadable) ReadCells(ctx context.Context, rows []cohort.CellRow) error {
	if u.reads++; u.reads == 2 {
		return fault.Unavailable(nil, "the store is away")
	}
	return u.Store.ReadCells(ctx, rows)
}

func TestAClaimIsGivenBackAfterAnError(t *testing.T) {
	b := newCacheBench(t)
	for d := week.From; d <= week.To; d++ {
		b.merge(day(d), 1, 1<<20, 2<<20)
	}
	s := query.New(&unreadable{Store: b.store}, workspace, query.Config{TTLOpen: ttlOpen, SettleAfter: settleAfter})
	q := cohort.RetentionQuestion{Start: "active", Return: "active", Range: week, Periods: 20, Membership: cohort.AnyTime, AsOf: week.To}
	if _, err := query.Ask(t.Context(), s, q, query.Options{Now: later}); !errors.Is(err, fault.ErrUnavailable) {
		t.Fatalf("the question was answered, %v", err)
	}
	if left := b.client.Keys(t.Context(), b.config.Prefix+":{c*claim*").Val(); len(left) > 0 {
		t.Errorf("the claims %v are still held", left)
	}
}

package query_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/address"
	"bitboard/internal/store/storetest"
)

// months is the days whose histories are asked for; later is long after it.
var months = cohort.Range{From: cohort.DayOfDate(2025, time.December, 20), To: cohort.DayOfDate(2026, time.May, 10)}

// chronicle is a metric's random history in a store, beside each user's days.
type chronicle struct {
	*query.Service
	t      *rapid.T
	store  *store.Store
	config store.Config
	client redis.UniversalClient
	ids    []string
	days   map[string]map[cohort.Day]bool // by ID
}

// drawChronicle opens an empty store of any kind and ID scheme.
func drawChronicle(t testing.TB, r *rapid.T) *chronicle {
	t.Helper()
	c := &chronicle{t: r, days: map[string]map[cohort.Day]bool{}}
	dense := rapid.Bool().Draw(r, "dense")
	bits := rapid.SampledFrom([]int{64, 4096}).Draw(r, "segment bits")
	kind := rapid.SampledFrom(kinds).Draw(r, "kind of store")
	c.store = kind.Open(t, func(o *store.Config) {
		o.Dense, o.SegmentBits = dense, bits
		c.config = *o
	})
	c.client = clientOf(t, c.config.URL)
	for i := range 12 {
		id := strconv.Itoa(40 * i)
		if !dense {
			id = "user " + id
		}
		c.ids = append(c.ids, id)
	}
	c.Service = query.New(c.store, workspace, query.Config{TTLOpen: ttlOpen, SettleAfter: settleAfter})
	return c
}

// clientOf returns a plain client of a server or a cluster.
func clientOf(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	at, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	var client redis.UniversalClient = redis.NewClusterClient(&redis.ClusterOptions{Addrs: at.Servers})
	if at.Kind == address.Single {
		options, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		client = redis.NewClient(options)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func (c *chronicle) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *chronicle) drawDay() cohort.Day {
	return cohort.Day(rapid.IntRange(int(months.From), int(months.To)).Draw(c.t, "day"))
}

func (c *chronicle) drawIDs() []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(c.ids), 1, 4, rapid.ID[string]).Draw(c.t, "users")
}

// offsets returns the offsets of IDs, which become known.
func (c *chronicle) offsets(ids []string) *roaring.Bitmap {
	c.t.Helper()
	offsets, err := c.store.Assign(context.Background(), ids)
	c.must(err)
	return roaring.BitmapOf(offsets...)
}

func (c *chronicle) set(id string, d cohort.Day, on bool) {
	if c.days[id] == nil {
		c.days[id] = map[cohort.Day]bool{}
	}
	if delete(c.days[id], d); on {
		c.days[id][d] = true
	}
}

// change changes the history in one of the ways in which it can be.
func (c *chronicle) change() {
	ctx, d, ids := context.Background(), c.drawDay(), c.drawIDs()
	marks := map[cohort.Bitmap]*roaring.Bitmap{day(d): c.offsets(ids)}
	switch rapid.IntRange(0, 6).Draw(c.t, "change") {
	default:
		_, err := c.store.Merge(ctx, marks)
		c.must(err)
		c.setAll(ids, d, true)
	case 1:
		_, err := c.store.Clear(ctx, marks)
		c.must(err)
		c.setAll(ids, d, false)
	case 2:
		y, err := c.store.BeginSync(ctx)
		c.must(err)
		c.must(y.Stage(ctx, marks))
		_, err = y.Commit(ctx, true)
		c.must(err)
		c.setAll(c.ids, d, false)
		c.setAll(ids, d, true)
	case 3:
		if _, err := c.store.Forget(ctx, ids[0]); fault.As(err) == nil {
			c.must(err) // nothing may be stored of the user
		}
		delete(c.days, ids[0])
	case 4:
		_, err := c.store.Merge(ctx, marks) // the key is there, and known to be
		c.must(err)
		c.setAll(ids, d, true)
		c.setBit(d, c.ids[0])
	case 5:
		c.dropHistories()
	}
}

func (c *chronicle) setAll(ids []string, d cohort.Day, on bool) {
	for _, id := range ids {
		c.set(id, d, on)
	}
}

// setBit sets a bit as another program does, and asks for a refreshed answer.
func (c *chronicle) setBit(d cohort.Day, id string) {
	ctx := context.Background()
	offset := int(c.offsets([]string{id}).Minimum())
	c.must(c.client.SetBit(ctx, c.dayKey(offset/c.config.SegmentBits, d), int64(offset%c.config.SegmentBits), 1).Err())
	c.set(id, d, true)
	c.must(c.store.Scan(ctx))
	_, err := c.Size(ctx, cohort.FirstOn("active", months, months.To), query.Options{Now: later, Refresh: true})
	c.must(err)
}

func (c *chronicle) dayKey(segment int, d cohort.Day) string {
	return fmt.Sprintf("%s:{s%d}:day:active:%s", c.config.Prefix, segment, d.Compact())
}

// dropHistories removes the keys of some histories, as an eviction does.
func (c *chronicle) dropHistories() {
	for _, name := range c.historyKeys() {
		if rapid.Bool().Draw(c.t, "evicted?") {
			c.must(c.client.Unlink(context.Background(), name).Err())
		}
	}
}

func (c *chronicle) historyKeys() []string {
	ctx, pattern := context.Background(), c.config.Prefix+":{s*}:hist:*"
	cluster, ok := c.client.(*redis.ClusterClient)
	if !ok {
		return c.client.Keys(ctx, pattern).Val()
	}
	var mu sync.Mutex
	var names []string
	c.must(cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		found, err := node.Keys(ctx, pattern).Result()
		mu.Lock()
		defer mu.Unlock()
		names = append(names, found...)
		return err
	}))
	slices.Sort(names)
	return names
}

// firstIn returns the IDs whose first day lies in a range, by definition.
func (c *chronicle) firstIn(r cohort.Range) []string {
	var first []string
	for id, days := range c.days {
		if len(days) > 0 && r.Has(slices.Min(slices.Collect(maps.Keys(days)))) {
			first = append(first, id)
		}
	}
	slices.Sort(first)
	return first
}

// check compares who is new in some ranges of days, on both executors.
func (c *chronicle) check() {
	for range 2 {
		a, b := c.drawDay(), c.drawDay()
		r := cohort.Range{From: min(a, b), To: max(a, b)}
		want := c.firstIn(r)
		for _, engine := range engines {
			o := query.Options{Engine: engine, Now: later}
			set := cohort.FirstOn("active", r, months.To)
			size, err := c.Size(context.Background(), set, o)
			c.must(err)
			var got []string
			c.must(c.Members(context.Background(), set, o, func(ids *cohort.IDList) error {
				got = append(got, ids.Strings()...)
				return nil
			}))
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" || size.Value.Count != int64(len(want)) {
				c.t.Fatalf("new from %s to %s by %s: %d, and listed (-want +got):\n%s", r.From, r.To, engine, size.Value.Count, diff)
			}
		}
	}
}

func TestFirstDaysAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := drawChronicle(t, r)
		for range rapid.IntRange(1, 12).Draw(r, "rounds") {
			for range rapid.IntRange(1, 4).Draw(r, "changes") {
				c.change()
			}
			c.check()
		}
		c.must(c.store.Scan(context.Background()))
		c.checkKeys()
	})
}

// checkKeys makes sure that nothing stays of histories that are no more.
func (c *chronicle) checkKeys() {
	perSegment := map[string]int{}
	for _, name := range c.historyKeys() {
		if c.client.TTL(context.Background(), name).Val() > 0 {
			continue // of one that could not be made
		}
		stem := name[:strings.LastIndexByte(name, ':')]
		if perSegment[stem]++; perSegment[stem] > 1 {
			c.t.Fatalf("there are several %s:*", stem)
		}
	}
}

// inputCounter is a store that counts the bitmaps it is asked to read.
type inputCounter struct {
	*store.Store
	mu     sync.Mutex
	inputs int
}

func (c *inputCounter) count(inputs []cohort.Bitmap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs += len(inputs)
}

func (c *inputCounter) Run(ctx context.Context, segment int, inputs []cohort.Bitmap, p bitmap.Program) (bitmap.Result, error) {
	c.count(inputs)
	return c.Store.Run(ctx, segment, inputs, p)
}

func (c *inputCounter) Fetch(ctx context.Context, segment int, inputs []cohort.Bitmap, from, to int, arena []byte) ([][]byte, error) {
	c.count(inputs)
	return c.Store.Fetch(ctx, segment, inputs, from, to, arena)
}

// read returns how many bitmaps each of the questions about first days reads at
// the end of a number of months with data on each day, once histories exist.
func readAfter(t *testing.T, monthsOfData int) map[string]int {
	t.Helper()
	counter := &inputCounter{Store: storetest.Open(t, func(c *store.Config) { c.Dense = true })}
	s := query.New(counter, workspace, query.Config{SettleAfter: settleAfter})
	last := cohort.DayOfDate(2026, time.May, 31)
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for d := cohort.DayOfDate(2026, time.Month(6-monthsOfData), 1); d <= last; d++ {
		marks[day(d)] = roaring.BitmapOf(uint32(d-last+4000), 1)
	}
	if _, err := counter.Merge(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	week, month := cohort.Range{From: last - 6, To: last}, cohort.Range{From: last - 30, To: last}
	first := func(g cohort.Granularity, r cohort.Range) func(o query.Options) error {
		return func(o query.Options) error {
			q := cohort.RetentionQuestion{Start: "active", Return: "active", Range: r, Granularity: g, Periods: 3, AsOf: last}
			_, err := query.Ask(t.Context(), s, q, o)
			return err
		}
	}
	questions := map[string]func(query.Options) error{
		"daily cohorts": first(cohort.Daily, month), "weekly cohorts": first(cohort.Weekly, month), "monthly cohorts": first(cohort.Monthly, month),
		"lifecycle": func(o query.Options) error {
			_, err := query.Ask(t.Context(), s, cohort.LifecycleQuestion{Metric: "active", Range: month, AsOf: last}, o)
			return err
		},
		"recency": func(o query.Options) error {
			_, err := query.Ask(t.Context(), s, cohort.RecencyQuestion{Metric: "active", AsOf: last}, o)
			return err
		},
		"expression": func(o query.Options) error {
			_, err := s.Size(t.Context(), resolve(t, fmt.Sprintf("first(active@%s..%s)", week.From, week.To), last), o)
			return err
		},
		"members": func(o query.Options) error {
			return s.Members(t.Context(), resolve(t, fmt.Sprintf("first(active@%s..%s)", week.From, week.To), last), o, func(*cohort.IDList) error { return nil })
		},
	}
	read := map[string]int{}
	for name, ask := range questions {
		for _, engine := range []query.Engine{query.Bitop, query.Fold} {
			counter.inputs = 0
			if err := ask(query.Options{Now: later, Engine: engine}); err != nil {
				t.Fatal(err)
			}
			read[name+" by "+string(engine)] = counter.inputs
		}
	}
	return read
}

func TestFirstDaysReadNoMoreOfALongHistory(t *testing.T) {
	if diff := cmp.Diff(readAfter(t, 3), readAfter(t, 36)); diff != "" {
		t.Errorf("bitmaps read after three months and after three years (-want +got):\n%s", diff)
	}
}

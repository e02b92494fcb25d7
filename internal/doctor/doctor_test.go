package doctor_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/doctor"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

var (
	noon      = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)
	workspace = cohort.Workspace{Zone: time.UTC, Metrics: []cohort.Metric{
		{Name: "active", Kind: cohort.KindDaily}, {Name: "opened", Kind: cohort.KindDaily, Keep: 5},
	}}
)

func day(metric string, n int) cohort.Bitmap {
	return cohort.DayOfMetric(metric, cohort.DayOfDate(2026, time.March, n))
}

// bench is an open store to be examined, and a client that acts as other programs.
type bench struct {
	t      *testing.T
	store  *store.Store
	config store.Config
	*redis.Client
}

func newBench(t *testing.T, options ...func(*store.Config)) *bench {
	t.Helper()
	b := &bench{t: t, config: storetest.Config(t)}
	for _, o := range options {
		o(&b.config)
	}
	b.store = storetest.Open(t, func(c *store.Config) { *c = b.config })
	o, err := redis.ParseURL(b.config.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.Client = redis.NewClient(o)
	t.Cleanup(func() { b.Close() })
	return b
}

// merge marks users on days of a metric.
func (b *bench) merge(metric string, days []int, users ...uint32) {
	b.t.Helper()
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for _, n := range days {
		marks[day(metric, n)] = roaring.BitmapOf(users...)
	}
	if _, err := b.store.Merge(b.t.Context(), marks); err != nil {
		b.t.Fatal(err)
	}
}

// examine returns the lines of an examination at a time.
func (b *bench) examine(now time.Time) string {
	b.t.Helper()
	var lines strings.Builder
	err := doctor.Examine(b.t.Context(), doctor.Config{
		Store: b.store, Workspace: workspace, MaxOffset: b.config.MaxOffset, Dense: b.config.Dense, Now: now,
		Report: func(f doctor.Finding) { fmt.Fprintln(&lines, f) },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return lines.String()
}

func (b *bench) check(now time.Time, says ...string) {
	b.t.Helper()
	lines := b.examine(now)
	for _, s := range says {
		if !strings.Contains(lines, s) {
			b.t.Errorf("no line says %q:\n%s", s, lines)
		}
	}
}

func dense(c *store.Config) { c.Dense = true }

func TestReplacements(t *testing.T) {
	b := newBench(t, dense)
	meta := b.config.Prefix + ":{meta}:"
	job := strconv.FormatInt(noon.Add(-2*time.Hour).Unix(), 36) + "-X"
	b.Set(t.Context(), b.config.Prefix+":{s0}:tmp:"+job+":1", "staged", time.Minute)
	b.check(noon, "ok     replace: none is open", "wrong  temporary keys: 1 key older than an hour")

	b.Set(t.Context(), meta+"sync_lease", job, time.Minute)
	b.check(noon, "ok     replace: one is running", "ok     temporary keys: ")

	b.SAdd(t.Context(), meta+"syncs", job)
	b.check(noon, "ok     replace: one is running")

	b.SAdd(t.Context(), meta+"syncs", "another")
	b.check(noon, "wrong  replace: 1 import committed and not finished")
}

func TestDaysAreJudgedUpToYesterday(t *testing.T) {
	b := newBench(t, dense)
	b.merge("active", []int{6, 8}, 1)
	for _, c := range []struct {
		now  time.Time
		says string
	}{
		{noon.AddDate(0, 0, -4), "ok     days: none is missing"},
		{noon.AddDate(0, 0, -1), "hint   days: active has no data on 1 day: 2026-03-07; import"},
		{noon, "hint   days: active has no data on 2 days: 2026-03-07, 2026-03-09; import"},
		{noon.AddDate(0, 0, 10), "active has no data on 12 days: 2026-03-07, 2026-03-09, 2026-03-10, 2026-03-11, 2026-03-12 and 7 more; import"},
	} {
		b.check(c.now, c.says)
	}
}

func TestDaysPastTheirKeepAreNotMissed(t *testing.T) {
	b := newBench(t, dense)
	b.merge("opened", []int{2, 3, 5, 6, 7, 8, 9}, 1)
	for _, n := range []string{"20260302", "20260303"} {
		b.Del(t.Context(), b.config.Prefix+":{s0}:day:opened:"+n)
	}
	b.check(noon, "ok     catalogue: lists 6 bitmaps", "ok     days: none is missing")
	b.Del(t.Context(), b.config.Prefix+":{s0}:day:opened:20260306")
	b.check(noon, "wrong  catalogue: 1 bitmap listed and no longer there, evicted or deleted: opened on 2026-03-06", "hint   days: opened has no data on 1 day: 2026-03-06")
	b.check(noon, "ok     catalogue: lists 5 bitmaps", "hint   days: opened has no data on 1 day: 2026-03-06")
}

func TestListsAreKnownAndMissed(t *testing.T) {
	b := newBench(t, dense)
	b.merge("active", []int{8, 9}, 1, 2)
	version, err := b.store.WriteList(t.Context(), "loyal", roaring.BitmapOf(1))
	if err != nil {
		t.Fatal(err)
	}
	err = b.store.ChangeCohort(t.Context(), "loyal", func(cohort.SavedCohorts) (*cohort.Saved, error) {
		return &cohort.Saved{Name: "loyal", List: version}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.check(noon, "ok     catalogue: lists 4 bitmaps")
	report := b.examine(noon)
	if strings.Contains(report, "wrong") {
		t.Errorf("with a list it says\n%s", report)
	}
	b.Del(t.Context(), b.config.Prefix+":{s0}:list:loyal:"+strconv.FormatUint(version, 36))
	b.check(noon, "wrong  lists: 1 saved list lost a part, evicted or deleted: loyal; upload each again")
}

func TestDenseIDsNeedNoDictionary(t *testing.T) {
	b := newBench(t, dense)
	b.merge("active", []int{9}, 7, 4_000_000)
	lines := b.examine(noon)
	if strings.Contains(lines, "  dictionary: ") {
		t.Errorf("the dictionary is examined:\n%s", lines)
	}
	if !strings.Contains(lines, "hint   density: 2 known users on 4,000,001 offsets (0.00 %)") {
		t.Errorf("the density is not said:\n%s", lines)
	}
}

func TestMarksAreComparedInEverySegment(t *testing.T) {
	b := newBench(t, dense, func(c *store.Config) { c.SegmentBits = 64 })
	var days []int
	for n := 1; n <= 9; n++ {
		days = append(days, n)
	}
	b.merge("active", days, 1, 70, 700)
	b.check(noon, "ok     known users: each mark is of a known user")
	for _, key := range []string{":{s1}:day:active:20260303", ":{s10}:day:active:20260309", ":{s2}:flag:exposed"} {
		b.SetBit(t.Context(), b.config.Prefix+key, 63, 1)
	}
	b.check(noon, "wrong  known users: 3 marks of nobody known",
		"1 mark in active on 2026-03-03 in segment 1, 1 mark in active on 2026-03-09 in segment 10, 1 mark in flag exposed in segment 2;")
}

func TestCluster(t *testing.T) {
	nodes := storetest.StartCluster(t).URL()
	s := storetest.Open(t, dense, func(c *store.Config) { c.URL, c.SegmentBits = nodes, 64 })
	marks := map[cohort.Bitmap]*roaring.Bitmap{day("active", 8): roaring.New(), day("active", 9): roaring.New()}
	for _, users := range marks {
		users.AddRange(0, 1280)
	}
	if _, err := s.Merge(t.Context(), marks); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: s, config: store.Config{Dense: true, MaxOffset: 10_000}}
	lines := b.examine(noon)
	if strings.Contains(lines, "wrong") || strings.Contains(lines, "hint") || strings.Count(lines, "Redis 7.") != 3 {
		t.Errorf("a sound cluster:\n%s", lines)
	}
	b.check(noon, "catalogue: lists 60 bitmaps", "density: 1,280 known users on 1,280 offsets")

	_, servers, _ := strings.Cut(nodes, "://")
	last := strings.Split(servers, ",")[2]
	node := redis.NewClient(&redis.Options{Addr: last})
	t.Cleanup(func() { node.Close() })
	if err := node.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	b.check(noon, "wrong  eviction: "+last+" has maxmemory-policy allkeys-lru")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if _, err := s.Merge(t.Context(), marks); errors.Is(err, fault.ErrUnavailable) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a cluster of which one server evicts is written to")
		}
	}
}

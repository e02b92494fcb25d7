package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/pattern"
	"bitboard/internal/store/storetest"
)

// othersWorkspace has the same activity in our own layout and in each form in
// which other programs keep it.
var othersWorkspace = cohort.Workspace{
	Zone: time.UTC, Calendar: cohort.Calendar{WeekStart: time.Monday}, KnownKey: true,
	Metrics: []cohort.Metric{
		{Name: "active", Kind: cohort.KindDaily},
		{Name: "whole", Kind: cohort.KindDaily, Source: cohort.ExistingBitmaps},
		{Name: "cut", Kind: cohort.KindDaily, Source: cohort.ExistingBitmaps},
		{Name: "exposed", Kind: cohort.KindFlag},
		{Name: "feature", Kind: cohort.KindFlag, Source: cohort.ExistingBitmaps},
		{Name: "sign", Kind: cohort.KindDaily, Source: cohort.UserMonths},
	},
}

// othersBench is a store with keys of other programs.
type othersBench struct {
	*query.Service
	store  *store.Store
	client redis.UniversalClient
	name   func(format string, args ...any) string
	// written are the keys of other programs.
	written map[string]bool
}

func newOthersBench(t *testing.T, k storetest.Kind) othersBench {
	t.Helper()
	c := k.Config(t)
	c.Dense = true
	name := func(format string, args ...any) string {
		return "other-" + c.Prefix + ":" + fmt.Sprintf(format, args...)
	}
	key := func(text string) pattern.Pattern {
		p, err := pattern.Parse(name("%s", text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c.Known = key("everyone")
	c.Existing = map[string]store.Existing{
		"whole": {Key: key("whole:{date:2006-1-2}")}, "cut": {Key: key("cut:{segment}:{date:20060102}"), SegmentBits: 1000},
		"feature": {Key: key("feature")}, "sign": {Key: key("sign:{user}:{date:200601}")},
	}
	st := storetest.Open(t, func(o *store.Config) { *o = c })
	return othersBench{query.New(st, othersWorkspace, query.Config{}), st, plainClient(t, c.URL), name, map[string]bool{}}
}

// plainClient is a client of another program.
func plainClient(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	if nodes, ok := strings.CutPrefix(url, "redis+cluster://"); ok {
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(nodes, ",")})
		t.Cleanup(func() { client.Close() })
		return client
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// dump returns all that other programs keep.
func (b othersBench) dump(t *testing.T, keys map[string]bool) map[string]string {
	t.Helper()
	all := map[string]string{}
	for key := range keys {
		value, err := b.client.Get(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		all[key] = value + b.client.TTL(t.Context(), key).String()
	}
	return all
}

// set sets a bit in a key of another program.
func (b othersBench) set(t *testing.T, key string, bit uint32) {
	t.Helper()
	b.written[key] = true
	if err := b.client.SetBit(t.Context(), key, int64(bit), 1).Err(); err != nil {
		t.Fatal(err)
	}
}

// mark marks a user on a day in every form.
func (b othersBench) mark(t *testing.T, own map[cohort.Bitmap]*roaring.Bitmap, d cohort.Day, user uint32) {
	t.Helper()
	day := cohort.DayOfMetric("active", d)
	if own[day] == nil {
		own[day] = roaring.New()
	}
	own[day].Add(user)
	y, m, n := d.Date()
	b.set(t, b.name("whole:%d-%d-%d", y, m, n), user)
	b.set(t, b.name("cut:%d:%s", user/1000, d.Compact()), user%1000)
	b.set(t, b.name("sign:%d:%04d%02d", user, y, m), uint32(n-1))
	b.set(t, b.name("everyone"), user)
}

func TestBitmapsOfOtherProgramsAgreeWithOurs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, k storetest.Kind) {
		b := newOthersBench(t, k)
		random := rand.New(rand.NewPCG(3, 4))
		own := map[cohort.Bitmap]*roaring.Bitmap{cohort.Flag("exposed"): roaring.New()}
		users := []uint32{0, 7, 999, 1000, 1001, 4095, 4096, 8191, 40_000, 40_001}
		for d := epoch; d < epoch+5; d++ {
			for _, user := range users {
				if random.IntN(2) == 0 {
					b.mark(t, own, d, user)
				}
			}
		}
		for _, user := range users[3:] {
			own[cohort.Flag("exposed")].Add(user)
			b.set(t, b.name("feature"), user)
			b.set(t, b.name("everyone"), user)
		}
		if _, err := b.store.Merge(t.Context(), own); err != nil {
			t.Fatal(err)
		}
		before := b.dump(t, b.written)
		for _, expr := range []string{
			"METRIC@today", "METRIC@today-4d..today", "all(METRIC@today-1d..today)", "atleast(2, METRIC@today-4d..today)",
			"!METRIC@today", "first(METRIC@today-2d..today)", "METRIC@today - FLAG", "FLAG & METRIC@yesterday", "!(FLAG | METRIC@today)",
		} {
			b.compare(t, expr)
		}
		b.compareTables(t)
		for _, user := range users {
			b.compareCalendars(t, fmt.Sprint(user))
		}
		if diff := cmp.Diff(before, b.dump(t, b.written)); diff != "" {
			t.Error("keys of other programs were changed:", diff)
		}
	})
}

// compare asks for a set in all forms, on which the answers must agree.
func (b othersBench) compare(t *testing.T, expr string) {
	t.Helper()
	members := func(metric, flag string) string {
		text := strings.NewReplacer("METRIC", metric, "FLAG", flag).Replace(expr)
		e, err := cohort.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		set, err := e.Resolve(cohort.Scope{Workspace: othersWorkspace, AsOf: epoch + 4})
		if err != nil {
			t.Fatal(err)
		}
		size, err := b.Size(t.Context(), set, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		if err := b.Members(t.Context(), set, query.Options{}, func(l *cohort.IDList) error { ids = append(ids, l.Strings()...); return nil }); err != nil {
			t.Fatal(err)
		}
		if int(size.Value.Count) != len(ids) {
			t.Errorf("%s: %d users and %d members", text, size.Value.Count, len(ids))
		}
		return fmt.Sprint(size.Value, ids)
	}
	want := members("active", "exposed")
	for _, metric := range []string{"whole", "cut"} {
		if got := members(metric, "feature"); got != want {
			t.Errorf("%s by %s is %s, want %s", expr, metric, got, want)
		}
	}
}

func (b othersBench) compareTables(t *testing.T) {
	t.Helper()
	table := func(metric string) cohort.Retention {
		return ask(t, b.Service, cohort.RetentionQuestion{
			Start: metric, Return: metric, Range: cohort.Range{From: epoch, To: epoch + 4}, Periods: 4, Membership: cohort.FirstTime, AsOf: epoch + 4,
		})
	}
	for _, metric := range []string{"whole", "cut"} {
		if diff := cmp.Diff(table("active"), table(metric)); diff != "" {
			t.Errorf("retention of %s: %s", metric, diff)
		}
	}
}

func (b othersBench) compareCalendars(t *testing.T, id string) {
	t.Helper()
	calendar := func(metric string) (cohort.CalendarAnswer, error) {
		q := cohort.CalendarQuestion{UserID: id, Metric: metric, Range: cohort.Range{From: epoch, To: epoch + 3}, AsOf: epoch + 3}
		a, err := b.Calendar(t.Context(), q, query.Options{})
		return a.Value, err
	}
	want, err := calendar("active")
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{"whole", "cut", "sign"} {
		got, err := calendar(metric)
		if metric == "sign" && want.Streak.Total == 0 && fault.As(err) != nil {
			continue // nobody who is in no month is known there
		}
		if metric == "sign" {
			got.Suspect, got.Since = want.Suspect, want.Since
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("calendar of %s by %s: %v %s", id, metric, err, diff)
		}
	}
}

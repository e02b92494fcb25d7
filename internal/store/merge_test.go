package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// model is what a store should hold.
type model struct {
	bitmaps marks
	known   *roaring.Bitmap
}

func newModel() *model { return &model{marks{}, roaring.New()} }

func (m *model) merge(add marks) (w store.Written) {
	before := m.known.GetCardinality()
	for b, users := range add {
		if m.bitmaps[b] == nil {
			m.bitmaps[b] = roaring.New()
		}
		w.BitsNew += int64(users.GetCardinality() - users.AndCardinality(m.bitmaps[b]))
		m.bitmaps[b].Or(users)
		m.known.Or(users)
	}
	w.UsersNew = int64(m.known.GetCardinality() - before)
	return w
}

func (m *model) clear(take marks) (cleared int64) {
	for b, users := range take {
		if m.bitmaps[b] != nil {
			cleared += int64(users.AndCardinality(m.bitmaps[b]))
			m.bitmaps[b].AndNot(users)
		}
	}
	return cleared
}

func (m *model) compare(t testing.TB, s *store.Store) {
	t.Helper()
	for b, want := range m.bitmaps {
		if got := users(t, s, b); !got.Equals(want) {
			t.Errorf("%v holds %v, want %v", b, got, want)
		}
	}
	if got := users(t, s, cohort.Known()); !got.Equals(m.known) {
		t.Errorf("known are %v, want %v", got, m.known)
	}
}

// drawMarks draws marks that lie close together or far apart, few or many.
func drawMarks(t *rapid.T, name string) marks {
	of := []cohort.Bitmap{active(1), active(2), exposed, activated}
	drawn := marks{}
	for _, b := range rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, 4, rapid.ID).Draw(t, name) {
		users := bits(rapid.SliceOfN(rapid.Uint32Range(0, 20_000), 0, 30).Draw(t, "users")...)
		if rapid.Bool().Draw(t, "a run too") {
			start := rapid.Uint64Range(0, 15_000).Draw(t, "start")
			users.AddRange(start, start+rapid.Uint64Range(1, 2500).Draw(t, "length"))
		}
		drawn[b] = users
	}
	return drawn
}

func mergeAndClearAgreeWithTheModel(t *testing.T, k storetest.Kind) {
	for _, c := range []struct {
		name        string
		segmentBits int
	}{{"segments of 64", 64}, {"segments of 4096", 4096}, {"one segment", 1 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				s := k.Open(t, func(o *store.Config) { o.SegmentBits = c.segmentBits })
				defer s.Close()
				want := newModel()
				for range rapid.IntRange(1, 3).Draw(r, "merges") {
					add := drawMarks(r, "add")
					if got, want := mustMerge(t, s, add), want.merge(add); got != want {
						r.Errorf("merging %v wrote %+v, want %+v", add, got, want)
					}
				}
				take := drawMarks(r, "take back")
				cleared, err := s.Clear(t.Context(), take)
				if err != nil {
					r.Fatal(err)
				}
				if want := want.clear(take); cleared != want {
					r.Errorf("clearing %v cleared %d, want %d", take, cleared, want)
				}
				want.compare(t, s)
			})
		})
	}
}

func mergeTwiceChangesNothing(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	add := marks{active(1): bits(1, 2, 5000), exposed: bits(2)}
	mustMerge(t, s, add)
	if got := mustMerge(t, s, add); got != (store.Written{}) {
		t.Errorf("the second time wrote %+v", got)
	}
}

func highestOffset(t *testing.T, k storetest.Kind) {
	s := k.Open(t, func(c *store.Config) { c.SegmentBits, c.MaxOffset = 1<<20, 1<<32-1 })
	mustMerge(t, s, marks{active(1): bits(0, 1<<32-1)})
	if got := users(t, s, active(1)); !got.Equals(bits(0, 1<<32-1)) {
		t.Errorf("got %v", got)
	}
}

func clearLeavesAbsentBitmapsAbsent(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1)})
	cleared, err := s.Clear(t.Context(), marks{active(1): bits(1, 9000), exposed: bits(1)})
	if err != nil || cleared != 1 {
		t.Fatalf("cleared %d, %v", cleared, err)
	}
	if left := keysOf(t, raw(t, c.URL), c.Prefix, "exposed"); len(left) > 0 {
		t.Errorf("clearing made %v", left)
	}
	if _, ok, err := s.Find(t.Context(), ""); ok || err != nil {
		t.Error(ok, err)
	}
	if got := users(t, s, cohort.Known()); !got.Equals(bits(1)) {
		t.Errorf("known are %v: a user whose mark was taken back stays known", got)
	}
}

// keptConfig keeps the metric kept for 30 days after a day far in the future,
// so that nothing expires during a test.
func keptConfig(t *testing.T, k storetest.Kind) (c store.Config, kept, lasting cohort.Bitmap, at time.Time) {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		t.Fatal(err)
	}
	c = k.Config(t)
	c.Zone, c.Location, c.Keep = "Europe/Oslo", zone, map[string]int{"kept": 30}
	day := cohort.DayOfDate(2090, time.June, 15)
	return c, cohort.DayOfMetric("kept", day), cohort.DayOfMetric("lasting", day), time.Date(2090, time.July, 16, 0, 0, 0, 0, zone)
}

// checkExpiry checks that the keys of the kept metric expire at a time, that
// other lasting keys stay, and that no temporary key would stay.
func checkExpiry(t *testing.T, c store.Config, at time.Time) {
	t.Helper()
	client := raw(t, c.URL)
	names := keysOf(t, client, c.Prefix, "{s")
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, ":kept:") }) {
		t.Errorf("no key of the kept metric among %v", names)
	}
	for _, name := range names {
		got := client.ExpireTime(t.Context(), name).Val()
		switch {
		case strings.Contains(name, ":tmp:"):
			if got < 0 {
				t.Errorf("%s would stay for ever", name)
			}
		case strings.Contains(name, ":kept:"):
			if got != time.Duration(at.Unix())*time.Second {
				t.Errorf("%s expires at %v, want %v", name, time.Unix(int64(got.Seconds()), 0), at)
			}
		case got >= 0:
			t.Errorf("%s expires", name)
		}
	}
}

func mergeKeepsExpiry(t *testing.T, k storetest.Kind) {
	few, many := bits(1, 2, 3), roaring.New()
	many.AddRange(0, 3000)
	for _, c := range []struct {
		name          string
		first, second *roaring.Bitmap
	}{{"few then many", few, many}, {"many then few", many, few}, {"many twice", many, many}} {
		t.Run(c.name, func(t *testing.T) {
			config, kept, lasting, at := keptConfig(t, k)
			s := open(t, config)
			mustMerge(t, s, marks{kept: c.first, lasting: c.first, exposed: c.first})
			checkExpiry(t, config, at)
			mustMerge(t, s, marks{kept: c.second, lasting: c.second, exposed: c.second})
			checkExpiry(t, config, at)
			if _, err := s.Clear(t.Context(), marks{kept: c.second, lasting: c.first}); err != nil {
				t.Fatal(err)
			}
			checkExpiry(t, config, at)
		})
	}
}

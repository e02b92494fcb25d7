package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// today is the day on which the tests take place.
var today = mustDay("2026-03-10")

func mustDay(s string) cohort.Day {
	d, err := cohort.ParseRelativeDay("day", s, 0)
	if err != nil {
		panic(err)
	}
	return d
}

// metrics and events are the workspace of the tests.
var (
	metrics = []cohort.Metric{
		{Name: "active", Kind: cohort.KindDaily},
		{Name: "signed_in", Kind: cohort.KindDaily, Keep: 30},
		{Name: "played", Kind: cohort.KindDaily},
		{Name: "activated", Kind: cohort.KindFlag},
		{Name: "online", Kind: cohort.KindPresence},
	}
	events = map[string][]string{
		"login":    {"active", "signed_in"},
		"activate": {"activated", "active"},
		"played":   {"signed_in"},
	}
)

// bench is a service over a real store, and that store.
type bench struct {
	*Service
	store *store.Store
}

// newBench returns a service with the tests' workspace over a Redis.
func newBench(t testing.TB, change ...func(*Config, *store.Config)) bench {
	t.Helper()
	return newBenchOn(t, storetest.OnRedis, change...)
}

// newBenchOn is newBench over a store of a kind.
func newBenchOn(t testing.TB, k storetest.Kind, change ...func(*Config, *store.Config)) bench {
	t.Helper()
	c := Config{
		Workspace: cohort.Workspace{Zone: time.UTC, Metrics: metrics},
		Events:    events,
		MaxOffset: 3_435_973_836,
	}
	st := k.Open(t, func(sc *store.Config) {
		for _, f := range change {
			f(&c, sc)
		}
	})
	c.Store = st
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return bench{s, st}
}

// users returns the IDs in a bitmap, in order of their offsets.
func (b bench) users(t testing.TB, of cohort.Bitmap) []string {
	t.Helper()
	ctx := t.Context()
	catalogue, err := b.store.Catalogue(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var offsets []uint32
	for _, segment := range catalogue.SegmentsOf(of) {
		stored, err := b.store.Fetch(ctx, segment, []cohort.Bitmap{of}, 0, b.store.SegmentBits()/8, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(stored[0]) * 8 {
			if stored[0][i/8]&(0x80>>(i%8)) != 0 {
				offsets = append(offsets, uint32(segment*b.store.SegmentBits()+i))
			}
		}
	}
	ids, err := b.store.IDs(ctx, offsets)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// on names the bitmap of a metric's day.
func on(metric, day string) cohort.Bitmap { return cohort.DayOfMetric(metric, mustDay(day)) }

// has fails the test when a bitmap does not hold exactly these users, blank
// separated and in any order.
func (b bench) has(t testing.TB, of cohort.Bitmap, want string) {
	t.Helper()
	got := map[string]bool{}
	for _, id := range b.users(t, of) {
		got[id] = true
	}
	wanted := map[string]bool{}
	for id := range strings.FieldsSeq(want) {
		wanted[id] = true
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("users of %s: %s", describe(of), diff)
	}
}

// text is a source of a text.
func text(name, content string) Source {
	return Source{Name: name, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func zipped(t testing.TB, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// run imports sources and returns the summary and the rejects' lines and codes.
func (b bench) run(t testing.TB, o Options, sources ...Source) (Summary, []refusal, error) {
	t.Helper()
	o.Today = today
	var refused []refusal
	summary, err := b.Import(t.Context(), o, sources, Observer{Reject: func(_ string, r Reject) error {
		refused = append(refused, refusal{r.Line, r.Code})
		return nil
	}})
	return summary, refused, err
}

// load is run for imports that must succeed.
func (b bench) load(t testing.TB, o Options, content string) (Summary, []refusal) {
	t.Helper()
	summary, refused, err := b.run(t, o, text("events.csv", content))
	if err != nil {
		t.Fatal(err)
	}
	return summary, refused
}

// refusal is a reject without its message.
type refusal struct {
	Line int64
	Code string
}

// broken is a store that hands out no offsets.
type broken struct {
	*store.Store
	err error
}

func (b broken) Assign(context.Context, []string) ([]uint32, error) { return nil, b.err }

// forgetful is a store that says it wrote what it did not.
type forgetful struct{ *store.Store }

func (f forgetful) Merge(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (store.Written, error) {
	// The users are known but for their marks.
	return f.Store.Merge(ctx, map[cohort.Bitmap]*roaring.Bitmap{cohort.Flag("activated"): roaring.FastOr(slices.Collect(maps.Values(marks))...)})
}

func TestNewRefusesEventsThatMarkNoMetric(t *testing.T) {
	for name, events := range map[string]map[string][]string{
		"no such metric": {"login": {"active", "nope"}},
		"no metric":      {"login": nil},
		"no event":       {"": {"active"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{Workspace: cohort.Workspace{Metrics: metrics}, Events: events})
			if !errors.Is(err, fault.ErrInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

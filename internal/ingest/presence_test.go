package ingest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// noon is an instant of the day on which the tests take place.
var noon = time.Date(2026, time.March, 10, 12, 0, 30, 0, time.UTC)

func (b bench) sign(t *testing.T, sign Sign, at time.Time, ids ...string) int64 {
	t.Helper()
	changed, err := b.Presence(t.Context(), "online", ids, sign, at)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// there returns how many users are there, and how many had a heartbeat in the
// minute of an instant.
func (b bench) there(t *testing.T, at time.Time) (online, recent int64) {
	t.Helper()
	present, err := b.store.Present(t.Context(), "online")
	if err != nil {
		t.Fatal(err)
	}
	beats, err := b.store.Recent(t.Context(), "online", at, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range present {
		online += n
	}
	for _, n := range beats {
		recent += n
	}
	return online, recent
}

func TestPresence(t *testing.T) {
	b := newBench(t)
	for _, step := range []struct {
		sign                    Sign
		ids                     []string
		after                   time.Duration
		changed, online, recent int64
	}{
		{Departure, []string{"nobody"}, 0, 0, 0, 0},
		{Arrival, []string{"u1", "u2", "u2"}, 0, 2, 2, 2},
		{Heartbeat, []string{"u2", "u3"}, 0, 1, 2, 3},
		{Heartbeat, []string{"u2", "u3"}, time.Second, 0, 2, 3},
		{Heartbeat, []string{"u3"}, time.Minute, 1, 2, 1},
		{Departure, []string{"u1", "u3"}, time.Minute, 1, 1, 1},
		{Arrival, []string{"u2"}, time.Minute, 0, 1, 2},
		{Heartbeat, nil, time.Minute, 0, 1, 2},
	} {
		at := noon.Add(step.after)
		if changed := b.sign(t, step.sign, at, step.ids...); changed != step.changed {
			t.Errorf("sign %d of %v changes %d, want %d", step.sign, step.ids, changed, step.changed)
		}
		if online, recent := b.there(t, at); online != step.online || recent != step.recent {
			t.Errorf("after sign %d of %v %d are online and %d recent, want %d and %d", step.sign, step.ids, online, recent, step.online, step.recent)
		}
	}
	catalogue, err := b.store.Catalogue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	offsets, err := b.store.FindAll(t.Context(), []string{"u1", "u2", "u3", "nobody"})
	if err != nil || len(offsets) != 3 {
		t.Errorf("known are %v, %v", offsets, err)
	}
	day := cohort.DayOfMetric("online", today)
	for id, offset := range offsets {
		marks, err := b.store.Marks(t.Context(), offset, []cohort.Bitmap{day})
		if err != nil || !marks[0] {
			t.Errorf("%s is not marked on the day: %v", id, err)
		}
	}
	if segments := catalogue.SegmentsOf(day); len(segments) == 0 {
		t.Error("the day is not in the catalogue")
	}
}

// The day of a heartbeat is that of the workspace's zone.
func TestHeartbeatsOverMidnight(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *Config, _ *store.Config) { c.Workspace.Zone = zone })
	b.sign(t, Heartbeat, time.Date(2026, 3, 10, 15, 59, 59, 0, time.UTC), "u1")
	b.sign(t, Heartbeat, time.Date(2026, 3, 10, 16, 0, 0, 0, time.UTC), "u1")
	marks, err := b.store.Marks(t.Context(), 0, []cohort.Bitmap{cohort.DayOfMetric("online", today), cohort.DayOfMetric("online", today+1), cohort.DayOfMetric("online", today+2)})
	if err != nil || !marks[0] || !marks[1] || marks[2] {
		t.Errorf("marked on %v, %v", marks, err)
	}
}

// What is remembered of stored heartbeats does not outlive the data.
func TestHeartbeatsAfterTheStoreWasEmptied(t *testing.T) {
	url, _ := storetest.Start(t)
	b := newBench(t, func(_ *Config, sc *store.Config) { sc.URL = url })
	b.sign(t, Heartbeat, noon, "u1", "u2")
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if changed := b.sign(t, Heartbeat, noon, "u2"); changed != 1 {
		t.Errorf("changes %d, want 1", changed)
	}
	if _, recent := b.there(t, noon); recent != 1 {
		t.Errorf("%d recent, want 1", recent)
	}
}

func TestPresenceThatIsRefused(t *testing.T) {
	b := newBench(t)
	tooMany := make([]string, MaxEvents+1)
	for i := range tooMany {
		tooMany[i] = fmt.Sprint("u", i)
	}
	for name, tt := range map[string]struct {
		metric string
		ids    []string
		want   error
	}{
		"a flag":           {"activated", []string{"u1"}, fault.ErrInvalid},
		"unknown":          {"nope", []string{"u1"}, fault.ErrNotFound},
		"an empty ID":      {"online", []string{"u1", ""}, fault.ErrInvalid},
		"too many at once": {"online", tooMany, fault.ErrTooLarge},
	} {
		if _, err := b.Presence(t.Context(), tt.metric, tt.ids, Arrival, noon); !errors.Is(err, tt.want) {
			t.Errorf("%s gives %v, want %v", name, err, tt.want)
		}
	}
	if online, recent := b.there(t, noon); online != 0 || recent != 0 {
		t.Errorf("%d are online, %d recent", online, recent)
	}
}

package app

import (
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func TestServeRemembersFirstDays(t *testing.T) {
	c := settings(t, map[string]string{"redis": storetest.Redis(t), "prefix": storetest.Prefix()})
	c.Workspace.Metrics[0].Keep = 20
	metric := c.Workspace.Metrics[0].Name
	st, err := store.Open(t.Context(), storeConfig(c, c.Redis))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	oldest := cohort.DayOfMetric(metric, cohort.DayOf(time.Now(), c.Workspace.Zone)-18)
	if _, err := st.Merge(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{oldest: roaring.BitmapOf(1)}); err != nil {
		t.Fatal(err)
	}
	serving(t, c)
	deadline := time.Now().Add(5 * time.Second)
	for {
		cat, err := st.Catalogue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if h := cat.Histories(metric); len(h) > 0 && h[0].Day == oldest.Day {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the histories are %v, want one through %s", cat.Histories(metric), oldest.Day)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

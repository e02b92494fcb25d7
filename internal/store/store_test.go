package store_test

import (
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/store/storetest"
)

func TestSmoke(t *testing.T) {
	s := storetest.Open(t)
	ctx := t.Context()
	offsets, err := s.Assign(ctx, []string{"a", "b", "a", "007"})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := s.IDs(ctx, slices.Compact(slices.Sorted(slices.Values(offsets))))
	if err != nil {
		t.Fatal(err)
	}
	t.Log(offsets, ids)
	day := cohort.DayOfMetric("active", 20000)
	w, err := s.Merge(ctx, map[cohort.Bitmap]*roaring.Bitmap{day: roaring.BitmapOf(0, 2, 5000), cohort.Flag("exposed"): roaring.BitmapOf(0, 3_000_000_000)})
	t.Log(w, err)
	c, err := s.Catalogue(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(c.Segments(), c.SegmentsOf(day), c.SegmentsOf(cohort.Flag("exposed")))
	r, err := s.Run(ctx, 0, []cohort.Bitmap{day, cohort.Flag("exposed")}, bitmap.Program{Inputs: 2, Steps: []bitmap.Step{
		{Op: bitmap.Minus, Dst: 2, Src: []int{0, 1}}, {Op: bitmap.Count, Src: []int{2}}, {Op: bitmap.Count, Src: []int{0}}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{1, 2}, r.Counts); diff != "" {
		t.Error(diff)
	}
	o, ok, err := s.Find(ctx, "a")
	t.Log(o, ok, err)
}

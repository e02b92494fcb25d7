package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/store/storetest"
)

func fetchedRanges(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustMerge(t, s, marks{active(1): bits(0, 9, 23)}) // 80 40 01
	for _, c := range []struct {
		name     string
		from, to int
		want     string
	}{
		{"all", 0, 512, "\x80\x40\x01"},
		{"the first byte", 0, 1, "\x80"},
		{"the middle", 1, 2, "\x40"},
		{"past the end", 2, 9, "\x01"},
		{"only past the end", 3, 9, ""},
		{"nothing at the start", 0, 0, ""},
		{"nothing inside", 2, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Fetch(t.Context(), 0, []cohort.Bitmap{active(1), active(2)}, c.from, c.to, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 2 || len(got[1]) != 0 {
				t.Fatalf("got %q, want two bitmaps and the second empty", got)
			}
			if diff := cmp.Diff(c.want, string(got[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGenerationChangesWithTheData(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	generation := func() string {
		t.Helper()
		g, err := s.Generation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	first := generation()
	mustMerge(t, s, marks{active(1): bits(1)})
	if got := generation(); got != first {
		t.Errorf("a write changed the generation from %q to %q", first, got)
	}
	if err := raw(t, url).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if got := generation(); got == first {
		t.Errorf("the generation of an emptied store is still %q", got)
	}
}

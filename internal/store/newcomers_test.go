package store_test

import (
	"fmt"
	"slices"
	"testing"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// people returns n IDs from a first one on.
func people(first, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("person-%d", first+i)
	}
	return ids
}

func assign(t *testing.T, s *store.Store, ids []string) []uint32 {
	t.Helper()
	offsets, err := s.Assign(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return offsets
}

// A writer that meets only new IDs stops looking them up. Those that another
// writer brought in keep their offsets, and few offsets are wasted on them.
func TestNewcomersAreExpectedAfterNewcomers(t *testing.T) {
	c := storetest.Config(t)
	open := func() *store.Store {
		s, err := store.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	const part = 2000
	theirs := assign(t, open(), people(0, 3*part))
	s := open()
	assign(t, s, people(10*part, part)) // so that newcomers are expected
	for i := range 3 {
		want := theirs[i*part : (i+1)*part]
		if got := assign(t, s, people(i*part, part)); !slices.Equal(got, want) {
			t.Fatalf("part %d has other offsets than another writer gave it", i)
		}
	}
	last := slices.Max(assign(t, s, people(20*part, 10)))
	if most := uint32(3*part + part + part + 10); last >= most {
		t.Errorf("offset %d was handed out, want one below %d: one part wasted at most", last, most)
	}
	if ids, err := s.IDs(t.Context(), theirs); err != nil || !slices.Equal(ids, people(0, 3*part)) {
		t.Errorf("the offsets do not lead back to their IDs: %v", err)
	}
}

package store_test

import (
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// march is the history through the end of March 2026 in some state.
func march(state uint64) cohort.Bitmap { return cohort.HistoryOf("active", active(31).Day, state) }

// derived merges users on two days and derives a history of them.
func derived(t *testing.T, k storetest.Kind) (*store.Store, store.Config) {
	t.Helper()
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 5000), active(2): bits(2)})
	mustDerive(t, s, march(7), active(1), active(2))
	return s, c
}

func mustDerive(t *testing.T, s *store.Store, h cohort.Bitmap, of ...cohort.Bitmap) {
	t.Helper()
	if _, err := s.Derive(t.Context(), mustCatalogue(t, s), h, of); err != nil {
		t.Fatal(err)
	}
}

// readsHistory reports whether a history can be read in segment 1, by both ways
// of reading.
func readsHistory(t *testing.T, s *store.Store, h cohort.Bitmap) bool {
	t.Helper()
	const segment = 1
	_, err := s.Fetch(t.Context(), segment, []cohort.Bitmap{h}, 0, 8, nil)
	count := bitmap.Program{Inputs: 1, Steps: []bitmap.Step{{Op: bitmap.Count, Src: []int{0}}}}
	if _, other := s.Run(t.Context(), segment, []cohort.Bitmap{h}, count); (err == nil) != (other == nil) {
		t.Errorf("%v was read with %v by one way, with %v by the other", h, err, other)
	}
	return err == nil
}

func historyIsTheUnionOfItsDays(t *testing.T, k storetest.Kind) {
	s, c := derived(t, k)
	if diff := cmp.Diff(bits(1, 2, 5000).ToArray(), users(t, s, march(7)).ToArray()); diff != "" {
		t.Error(diff)
	}
	other := open(t, c)
	if diff := cmp.Diff([]cohort.Bitmap{march(7)}, mustCatalogue(t, other).Histories("active")); diff != "" {
		t.Errorf("what another process knows (-want +got):\n%s", diff)
	}
	mustMerge(t, s, marks{active(3): bits(3)})
	mustDerive(t, s, march(8), march(7), active(3))
	if diff := cmp.Diff(bits(1, 2, 3, 5000).ToArray(), users(t, other, march(8)).ToArray()); diff != "" {
		t.Error(diff)
	}
	if got := mustCatalogue(t, other).SegmentsOf(march(7)); got != nil {
		t.Errorf("the history before is still said to be in segments %v", got)
	}
	left := keysOf(t, raw(t, c.URL), c.Prefix, ":hist:")
	want := []string{c.Prefix + ":{s0}:hist:active:20260331:8", c.Prefix + ":{s1}:hist:active:20260331:8"}
	left = slices.DeleteFunc(left, func(key string) bool { return key == c.Prefix+":{meta}:segments:hist:active:20260331" })
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// A history reads as many days as there are, more than one BITOP takes.
func historyOfManyDays(t *testing.T, k storetest.Kind) {
	for _, most := range []int64{0, 1} { // the fewest sources a command
		s := k.Open(t, func(c *store.Config) { c.Dense, c.MaxBitopBytes = true, most })
		all, want := marks{}, roaring.New()
		var days []cohort.Bitmap
		for n := 1; n <= 31; n++ {
			all[active(n)] = bits(uint32(n), 100)
			want.Or(all[active(n)])
			days = append(days, active(n))
		}
		mustMerge(t, s, all)
		mustDerive(t, s, march(1), days...)
		if got := users(t, s, march(1)); !got.Equals(want) {
			t.Errorf("max_bitop_bytes %d: the history holds %v, want %v", most, got, want)
		}
	}
}

// Where all days of a segment are empty, the history is empty and is there.
func historyOfNobody(t *testing.T, k storetest.Kind) {
	s, c := derived(t, k)
	drop(t, raw(t, c.URL), c.Prefix+":{s1}:day:active:20260301")
	mustDerive(t, s, march(8), active(1), active(2))
	if !readsHistory(t, s, march(8)) || !users(t, s, march(8)).Equals(bits(1, 2)) {
		t.Errorf("the history holds %v, want 1 and 2", users(t, s, march(8)))
	}
}

func historyThatIsGoneIsAnError(t *testing.T, k storetest.Kind) {
	s, c := derived(t, k)
	if !readsHistory(t, s, march(7)) {
		t.Fatal("the history cannot be read")
	}
	drop(t, raw(t, c.URL), c.Prefix+":{s1}:hist:active:20260331:7")
	if readsHistory(t, s, march(7)) {
		t.Error("a history that is gone was read")
	}
	if got := mustCatalogue(t, s).Histories("active"); len(got) > 0 {
		t.Errorf("once its reader has noticed, there is still %v", got)
	}
	mustDerive(t, s, march(7), active(1), active(2))
	if !readsHistory(t, s, march(7)) {
		t.Error("it cannot be read once it was made again")
	}
}

// What is made from a history that is gone would lack its users.
func historyIsNotDerivedFromOneThatIsGone(t *testing.T, k storetest.Kind) {
	s, c := derived(t, k)
	drop(t, raw(t, c.URL), c.Prefix+":{s0}:hist:active:20260331:7")
	april := cohort.HistoryOf("active", active(61).Day, 9)
	if _, err := s.Derive(t.Context(), mustCatalogue(t, s), april, []cohort.Bitmap{march(7), active(2)}); err == nil {
		t.Error("it was")
	}
	if got := mustCatalogue(t, s).SegmentsOf(april); got != nil {
		t.Errorf("it is said to be in segments %v", got)
	}
}

func scanSweepsHistories(t *testing.T, k storetest.Kind) {
	s, c := derived(t, k)
	client := raw(t, c.URL)
	drop(t, client, c.Prefix+":{s1}:hist:active:20260331:7")
	orphan, making := c.Prefix+":{s0}:hist:bought:20260331:1", c.Prefix+":{s0}:hist:bought:20260430:1"
	for key, ttl := range map[string]int{orphan: 0, making: 60} {
		if err := client.Set(t.Context(), key, "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if ttl > 0 {
			client.Expire(t.Context(), key, c.TempTTL)
		}
	}
	for range 2 {
		if err := s.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{making}, keysOf(t, client, c.Prefix, ":hist:")); diff != "" {
		t.Errorf("keys left (-want +got):\n%s", diff)
	}
	if got := mustCatalogue(t, s).Histories("active"); len(got) > 0 {
		t.Errorf("there is still %v", got)
	}
	if !users(t, s, active(1)).Equals(bits(1, 5000)) {
		t.Errorf("the day holds %v", users(t, s, active(1)))
	}
}

func forgottenUsersAreInNoHistory(t *testing.T, k storetest.Kind) {
	for _, dense := range []bool{true, false} {
		s := k.Open(t, func(c *store.Config) { c.Dense = dense })
		offsets, err := s.Assign(t.Context(), []string{"3", "4"})
		if err != nil {
			t.Fatal(err)
		}
		mustMerge(t, s, marks{active(1): bits(offsets...)})
		mustDerive(t, s, march(7), active(1))
		if _, err := s.Forget(t.Context(), "4"); err != nil {
			t.Fatal(err)
		}
		if got := users(t, s, march(7)); !got.Equals(bits(offsets[0])) {
			t.Errorf("dense %t: the history holds %v, want %d", dense, got, offsets[0])
		}
	}
}

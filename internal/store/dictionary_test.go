package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// oddIDs are IDs that a careless dictionary would change or mix up.
var oddIDs = []string{
	"7", "007", " 7", "7 ", "+7", "0", "00", "-1", "é", "e\u0301", "A", "a", "a\r\nb", "a,b", `"a"`, "\t",
	"\x01", "{s1}", "*", "日本語", "🙂", strings.Repeat("x", 256), strings.Repeat("x", 255), strings.Repeat("é", 128),
}

func manyIDs(n int) []string {
	ids := slices.Clone(oddIDs)
	for i := len(ids); i < n; i++ {
		ids = append(ids, fmt.Sprintf("user-%d", i))
	}
	return ids
}

func concurrentWritersAgreeOnOffsets(t *testing.T, k storetest.Kind) {
	const writers = 8
	prefix := storetest.Prefix()
	ids := manyIDs(5000)
	of := make([]map[string]uint32, writers)
	var wg sync.WaitGroup
	for w := range writers {
		s := k.Open(t, prefixed(prefix))
		mine := slices.Clone(ids)
		rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
		wg.Go(func() { of[w] = assignInParts(t, s, mine) })
	}
	wg.Wait()
	for _, other := range of[1:] {
		if diff := cmp.Diff(of[0], other); diff != "" {
			t.Fatalf("two writers disagree:\n%s", diff)
		}
	}
	idsAt := map[uint32]string{}
	var offsets []uint32
	for id, offset := range of[0] {
		if other, taken := idsAt[offset]; taken {
			t.Errorf("%q and %q share offset %d", id, other, offset)
		}
		idsAt[offset] = id
		offsets = append(offsets, offset)
	}
	slices.Sort(offsets)
	back, err := k.Open(t, prefixed(prefix)).IDs(t.Context(), offsets)
	if err != nil {
		t.Fatal(err)
	}
	for i, offset := range offsets {
		if back[i] != idsAt[offset] {
			t.Errorf("offset %d of %q was turned back into %q", offset, idsAt[offset], back[i])
		}
	}
}

func assignInParts(t *testing.T, s *store.Store, ids []string) map[string]uint32 {
	t.Helper()
	found := map[string]uint32{}
	for part := range slices.Chunk(ids, 700) {
		offsets, err := s.Assign(t.Context(), part)
		if err != nil {
			t.Error(err)
			return nil
		}
		for i, id := range part {
			found[id] = offsets[i]
		}
	}
	return found
}

func assignKeepsOrderAndRepeats(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	got, err := s.Assign(t.Context(), []string{"a", "b", "a", "c", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{0, 1, 0, 2, 1}, got); diff != "" {
		t.Error(diff)
	}
	again, err := s.Assign(t.Context(), []string{"c", "d", "a"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{2, 3, 0}, again); diff != "" {
		t.Error(diff)
	}
}

func assignMoreThanAPipelineTakes(t *testing.T, k storetest.Kind) {
	prefix := storetest.Prefix()
	ids := manyIDs(12_345)
	offsets, err := k.Open(t, prefixed(prefix)).Assign(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	fresh := k.Open(t, prefixed(prefix))
	again, err := fresh.Assign(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(offsets, again) {
		t.Error("a second store gives other offsets")
	}
	back, err := fresh.IDs(t.Context(), offsets)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids, back) {
		t.Error("the offsets were turned back into other IDs")
	}
}

func malformedIDAssignsNothing(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	offsets, err := s.Assign(t.Context(), []string{"good", "bad\x00"})
	if !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), `"bad\x00"`) || offsets != nil {
		t.Errorf("got %v, %v", offsets, err)
	}
}

func offsetsEndAtTheHighest(t *testing.T, k storetest.Kind) {
	s := k.Open(t, func(c *store.Config) { c.MaxOffset = 3 })
	offsets, err := s.Assign(t.Context(), []string{"a", "b", "c", "d", "e", "f"})
	if f := fault.As(err); f == nil || f.Code != "offset_too_high" || !strings.Contains(f.Message, `"e"`) || offsets != nil {
		t.Fatalf("got %v, %v; want offset_too_high of e", offsets, err)
	}
	got, err := s.Assign(t.Context(), []string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{0, 1, 2, 3}, got); diff != "" {
		t.Errorf("the refused IDs used offsets up: %s", diff)
	}
}

func retriedReverseEntryIsHarmless(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	offsets, err := s.Assign(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	again := string([]byte{byte(offsets[0]), 0, 'a'})
	if err := raw(t, c.URL).Append(t.Context(), c.Prefix+":{i0}:r", again).Err(); err != nil {
		t.Fatal(err)
	}
	got, err := s.IDs(t.Context(), offsets)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

func offsetThatNobodyHasHasNoID(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	if _, err := s.Assign(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.IDs(t.Context(), []uint32{0, 1, 500_000})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "", ""}, got); diff != "" {
		t.Error(diff)
	}
}

func find(t *testing.T, k storetest.Kind) {
	for _, dense := range []bool{false, true} {
		t.Run(fmt.Sprintf("dense %v", dense), func(t *testing.T) {
			s := k.Open(t, func(c *store.Config) { c.Dense = dense })
			offsets, err := s.Assign(t.Context(), []string{"7", "8"})
			if err != nil {
				t.Fatal(err)
			}
			mustMerge(t, s, marks{active(1): bits(offsets[0])})
			if offset, ok, err := s.Find(t.Context(), "7"); offset != offsets[0] || !ok || err != nil {
				t.Errorf("a known user: got %d, %v, %v", offset, ok, err)
			}
			for _, id := range []string{"8", "9", "", "\xff", "007"} {
				if _, ok, err := s.Find(t.Context(), id); ok || err != nil {
					t.Errorf("%q: got %v, %v; want not found", id, ok, err)
				}
			}
		})
	}
}

func denseIDsAreTheirOffsets(t *testing.T, k storetest.Kind) {
	s := k.Open(t, func(c *store.Config) { c.Dense = true })
	offsets, err := s.Assign(t.Context(), []string{"0", "3400000000", "7"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{0, 3_400_000_000, 7}, offsets); diff != "" {
		t.Error(diff)
	}
	ids, err := s.IDs(t.Context(), []uint32{7, 3_400_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"7", "3400000000"}, ids); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Assign(t.Context(), []string{"1", "01"}); !errors.Is(err, fault.ErrInvalid) || got != nil {
		t.Errorf("got %v, %v; want an ErrInvalid", got, err)
	}
}

func emptiedStoreHandsOutOffsetsAfresh(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	if _, err := s.Assign(t.Context(), []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	client := raw(t, c.URL)
	drop(t, client, keysOf(t, client, c.Prefix, "")...)
	got, err := s.Assign(t.Context(), []string{"b", "a"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{0, 1}, got); diff != "" {
		t.Errorf("remembered offsets of data that are gone: %s", diff)
	}
	if n := client.Exists(t.Context(), c.Prefix+":{meta}:layout").Val(); n != 1 {
		t.Error("the layout record was not written again")
	}
}

func findAllLeavesOutWhoIsNotKnown(t *testing.T, k storetest.Kind) {
	for _, dense := range []bool{false, true} {
		s := k.Open(t, func(c *store.Config) { c.Dense = dense })
		offsets, err := s.Assign(t.Context(), []string{"5", "6", "7"})
		if err != nil {
			t.Fatal(err)
		}
		mustMerge(t, s, marks{active(1): bits(offsets[0], offsets[2])})
		got, err := s.FindAll(t.Context(), []string{"7", "6", "5", "7", "8", "", "07\x00"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]uint32{"5": offsets[0], "7": offsets[2]}, got); diff != "" {
			t.Errorf("dense %v: %s", dense, diff)
		}
	}
}

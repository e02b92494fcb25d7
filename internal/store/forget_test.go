package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// victim is an ID that no other text contains.
const victim = "Vic-71c9€"

func mustForget(t testing.TB, s *store.Store, id string) int64 {
	t.Helper()
	n, err := s.Forget(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// mustNotHoldVictim fails when a key or a value under the prefix holds the victim's ID.
func mustNotHoldVictim(t testing.TB, c store.Config) {
	t.Helper()
	client := raw(t, c.URL)
	for _, key := range keysOf(t, client, c.Prefix, "") {
		var value string
		switch kind := client.Type(t.Context(), key).Val(); kind {
		case "string":
			value = client.Get(t.Context(), key).Val()
		case "hash":
			value = fmt.Sprint(client.HGetAll(t.Context(), key).Val())
		case "list":
			value = fmt.Sprint(client.LRange(t.Context(), key, 0, -1).Val())
		case "set":
			value = fmt.Sprint(client.SMembers(t.Context(), key).Val())
		case "zset":
			value = fmt.Sprint(client.ZRange(t.Context(), key, 0, -1).Val())
		default:
			t.Fatalf("%s is a %s", key, kind)
		}
		if strings.Contains(key, victim) || strings.Contains(value, victim) {
			t.Errorf("%s still holds %q", key, victim)
		}
	}
}

// mustHaveNoBit fails when any bitmap under the prefix has an offset.
func mustHaveNoBit(t testing.TB, c store.Config, offset uint32) {
	t.Helper()
	client := raw(t, c.URL)
	segment, bit := int64(offset)/int64(c.SegmentBits), int64(offset)%int64(c.SegmentBits)
	for _, key := range keysOf(t, client, c.Prefix, fmt.Sprintf(":{s%d}:", segment)) {
		if client.Type(t.Context(), key).Val() == "string" && client.GetBit(t.Context(), key, bit).Val() == 1 {
			t.Errorf("%s still has offset %d", key, offset)
		}
	}
}

// crowd writes three users, the victim among them, and returns their offsets.
func crowd(t testing.TB, s *store.Store) (before, of, after uint32) {
	t.Helper()
	o := mustAssign(t, s, "before", victim, "after")
	mustMerge(t, s, marks{
		active(1): bits(o...), active(2): bits(o[1]), active(3): bits(o[0]),
		dayOf("gone_metric", 1): bits(o...), exposed: bits(o[1], o[2]), activated: bits(o[0]),
	})
	return o[0], o[1], o[2]
}

func forget(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	before, of, after := crowd(t, s)
	foreign := c.Prefix + ":{s0}:day:foreign:20251224" // by another program, and in no catalogue
	for _, offset := range []uint32{of, 100} {
		client.SetBit(t.Context(), foreign, int64(offset), 1)
	}
	if n := mustForget(t, s, victim); n != 5 {
		t.Errorf("%d marks were cleared, want 5", n)
	}
	mustNotHoldVictim(t, c)
	mustHaveNoBit(t, c, of)
	checkUsers(t, s, active(1), bits(before, after))
	checkUsers(t, s, exposed, bits(after))
	if client.GetBit(t.Context(), foreign, 100).Val() != 1 {
		t.Error("another user's bit was cleared")
	}
	if diff := cmp.Diff([]string{"before", "", "after"}, mustIDs(t, s, before, of, after)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Forget(t.Context(), victim); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("forgotten again: %v, want an ErrNotFound", err)
	}
	if back := mustAssign(t, s, victim, "before"); back[0] == of || back[1] != before {
		t.Errorf("the same ID has offset %d again, or another user lost theirs", back[0])
	}
	mustBeOneToOne(t, c)
}

func forgottenOffsetIsNeverGivenAgain(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustTakeIn(t, s, store.Pair{victim, 7})
	if n := mustForget(t, s, victim); n != 0 {
		t.Errorf("%d marks of an ID without any", n)
	}
	for _, id := range []string{victim, "other"} {
		if _, err := takeIn(t, s, store.Pair{id, 7}); err == nil || !strings.Contains(err.Error(), "forgotten") {
			t.Errorf("%s was given the offset: %v", id, err)
		}
	}
}

func usersOfWhomNothingIsStored(t *testing.T, k storetest.Kind) {
	for _, dense := range []bool{false, true} {
		s := k.Open(t, func(c *store.Config) { c.Dense = dense })
		mustMerge(t, s, marks{active(1): bits(mustAssign(t, s, "5")...)})
		for _, id := range []string{"6", "", "\xff", "05", strings.Repeat("x", 300)} {
			if _, err := s.Forget(t.Context(), id); !errors.Is(err, fault.ErrNotFound) {
				t.Errorf("dense %v, %q: %v, want an ErrNotFound", dense, id, err)
			}
		}
	}
}

func forgetOfDenseIDs(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	c.Dense = true
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(3, 9000), active(2): bits(9000), exposed: bits(9000)})
	if n := mustForget(t, s, "9000"); n != 3 {
		t.Errorf("%d marks were cleared, want 3", n)
	}
	mustHaveNoBit(t, c, 9000)
	checkUsers(t, s, active(1), bits(3))
}

func forgetMakesNoBitmapLonger(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	offsets := mustAssign(t, s, manyIDs(3000)...)
	last := offsets[len(offsets)-1]
	mustMerge(t, s, marks{active(1): bits(0), active(2): bits(last)})
	mustForget(t, s, manyIDs(3000)[2999])
	if n := raw(t, c.URL).StrLen(t.Context(), c.Prefix+":{s0}:day:active:20260301").Val(); n != 1 {
		t.Errorf("a day with one user has %d bytes", n)
	}
}

func forgetErasesWhatLosersLeft(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	crowd(t, s)
	first, err := s.ReserveOnly(t.Context(), []string{"x", victim})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AppendOnly(t.Context(), first, []string{"x", victim}); err != nil {
		t.Fatal(err)
	}
	mustForget(t, s, victim)
	mustNotHoldVictim(t, c)
	mustBeOneToOne(t, c)
}

// TestWriterThatRemembers holds two processes against each other, of which one
// asked for the offset before the other forgot the user.
func writerThatRemembers(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, other := open(t, c), open(t, c)
	before, of, _ := crowd(t, s)
	if got := mustAssign(t, other, victim); got[0] != of {
		t.Fatal("the two stores disagree")
	}
	mustForget(t, s, victim)
	// What was between Assign and Merge is written without the user.
	mustMerge(t, other, marks{active(5): bits(before, of), exposed: bits(of)})
	mustHaveNoBit(t, c, of)
	checkUsers(t, s, active(5), bits(before))
	if back := mustAssign(t, other, victim); back[0] == of {
		t.Error("a warm cache gave the forgotten offset out")
	}
	mustBeOneToOne(t, c)
}

func scanClearsWhatADeadWriterLeft(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	before, of, _ := crowd(t, s)
	mustForget(t, s, victim)
	// A writer that looked before the forgetting, and died before it looked again.
	for _, key := range []string{"known", "day:active:20260301", "flag:exposed"} {
		client.SetBit(t.Context(), c.Prefix+":{s0}:"+key, int64(of), 1)
	}
	if err := s.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustHaveNoBit(t, c, of)
	if !users(t, s, active(1)).Contains(before) {
		t.Error("another user was cleared")
	}
}

func forgetDuringAReplace(t *testing.T, k storetest.Kind) {
	for applied := range 3 {
		t.Run(fmt.Sprintf("%d segments applied", applied), func(t *testing.T) {
			c := k.Config(t)
			s := open(t, c)
			before, of, _ := crowd(t, s)
			y := begin(t, s, marks{active(1): bits(before, of, 5000), exposed: bits(of)})
			if applied == 0 {
				mustForget(t, open(t, c), victim)
				if err := y.Stage(t.Context(), marks{active(2): bits(of, 6000)}); err != nil {
					t.Fatal(err)
				}
				if _, err := y.Commit(t.Context(), true); err != nil {
					t.Fatal(err)
				}
			} else {
				// Committed, and killed on the way; the forgetting opens the store.
				if err := y.CommitOnly(t.Context(), applied-1); err != nil {
					t.Fatal(err)
				}
				mustForget(t, s, victim)
			}
			checkUsers(t, open(t, c), active(1), bits(before, 5000))
			mustHaveNoBit(t, c, of)
			mustNotHoldVictim(t, c)
		})
	}
}

func forgetWhileOthersWrite(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	var gone []uint32
	for range 25 {
		offsets := make(chan []uint32)
		for range 3 {
			writer := open(t, c)
			go func() {
				var used []uint32
				for range 8 {
					o, err := writer.Assign(t.Context(), []string{victim, "stays"})
					if err == nil {
						_, err = writer.Merge(t.Context(), marks{active(1): bits(o...), exposed: bits(o...)})
					}
					if err != nil {
						t.Error(err)
						break
					}
					used = append(used, o[0])
				}
				offsets <- used
			}()
		}
		if _, err := s.Forget(t.Context(), victim); err != nil && !errors.Is(err, fault.ErrNotFound) {
			t.Error(err)
		}
		for range 3 {
			gone = append(gone, <-offsets...)
		}
	}
	mustForgetIfThere(t, s)
	mustNotHoldVictim(t, c)
	slices.Sort(gone)
	for _, offset := range slices.Compact(gone) {
		mustHaveNoBit(t, c, offset)
	}
	checkUsers(t, s, active(1), bits(mustAssign(t, s, "stays")...))
	mustBeOneToOne(t, c)
}

func mustForgetIfThere(t testing.TB, s *store.Store) {
	t.Helper()
	if _, err := s.Forget(t.Context(), victim); err != nil && !errors.Is(err, fault.ErrNotFound) {
		t.Fatal(err)
	}
}

func forgetKilledAfterEachStep(t *testing.T, k storetest.Kind) {
	for step := range store.ForgetSteps + 1 {
		for _, comesBack := range []bool{false, true} {
			t.Run(fmt.Sprintf("step %d, comes back %v", step, comesBack), func(t *testing.T) {
				c := k.Config(t)
				s := open(t, c)
				before, of, after := crowd(t, s)
				if err := s.ForgetOnly(t.Context(), victim, step); err != nil {
					t.Fatal(err)
				}
				second := open(t, c)
				if comesBack {
					mustMerge(t, second, marks{active(9): bits(mustAssign(t, second, victim)...)})
				}
				mustForgetIfThere(t, second)
				mustNotHoldVictim(t, c)
				mustHaveNoBit(t, c, of)
				checkUsers(t, second, active(1), bits(before, after))
				if comesBack {
					checkUsers(t, second, active(9), bits())
				}
				if left := raw(t, c.URL).SMembers(t.Context(), c.Prefix+":{meta}:forgetting").Val(); len(left) > 0 {
					t.Errorf("%v are still being forgotten", left)
				}
				mustBeOneToOne(t, c)
			})
		}
	}
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// begin opens a sync and stages marks in it.
func begin(t testing.TB, s *store.Store, staged ...marks) *store.Sync {
	t.Helper()
	y, err := s.BeginSync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := y.Drop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	for _, m := range staged {
		if err := y.Stage(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	return y
}

func checkUsers(t *testing.T, s *store.Store, b cohort.Bitmap, want *roaring.Bitmap) {
	t.Helper()
	if got := users(t, s, b); !got.Equals(want) {
		t.Errorf("%v holds %v, want %v", b, got, want)
	}
}

// checkNothingLeft checks that a sync left nothing behind.
func checkNothingLeft(t *testing.T, c store.Config) {
	t.Helper()
	client := raw(t, c.URL)
	if left := append(keysOf(t, client, c.Prefix, ":tmp:"), keysOf(t, client, c.Prefix, "sync")...); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func syncReplacesDays(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 2, 5000, 9000), active(2): bits(1), exposed: bits(1)})
	y := begin(t, s, marks{active(1): bits(2, 3), exposed: bits(2)}, marks{active(1): bits(20_000)})
	checkUsers(t, s, active(1), bits(1, 2, 5000, 9000))
	got, err := y.Commit(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Written{BitsNew: 3, UsersNew: 2}, got); diff != "" {
		t.Errorf("written: %s", diff)
	}
	checkUsers(t, s, active(1), bits(2, 3, 20_000))
	checkSegments(t, s, active(1), 0, 4)
	checkUsers(t, s, active(2), bits(1))
	checkUsers(t, s, exposed, bits(1, 2))
	checkUsers(t, s, cohort.Known(), bits(1, 2, 3, 5000, 9000, 20_000))
	checkNothingLeft(t, c)
}

func syncAgreesWithTheModel(t *testing.T, k storetest.Kind) {
	rapid.Check(t, func(r *rapid.T) {
		c := k.Config(t)
		c.SegmentBits = rapid.SampledFrom([]int{512, 4096, 1 << 20}).Draw(r, "segment bits")
		s := open(t, c)
		defer s.Close()
		want := newModel()
		before := drawMarks(r, "before")
		mustMerge(t, s, before)
		want.merge(before)
		first, second := drawMarks(r, "staged"), drawMarks(r, "staged too")
		got, err := begin(t, s, first, second).Commit(t.Context(), true)
		if err != nil {
			r.Fatal(err)
		}
		if expect := want.replace(first, second); got != expect {
			r.Errorf("wrote %+v, want %+v", got, expect)
		}
		want.compare(t, s)
		checkNothingLeft(t, c)
	})
}

// replace does what a sync should do.
func (m *model) replace(staged ...marks) (w store.Written) {
	all := newModel()
	for _, s := range staged {
		all.merge(s)
	}
	for b, users := range all.bitmaps {
		before := m.bitmaps[b]
		if before == nil {
			before = roaring.New()
		}
		w.BitsNew += int64(users.GetCardinality() - users.AndCardinality(before))
		m.bitmaps[b] = users
		if b.Kind == cohort.FlagBitmap {
			m.bitmaps[b] = roaring.Or(users, before)
		}
	}
	w.UsersNew = int64(all.known.GetCardinality() - all.known.AndCardinality(m.known))
	m.known.Or(all.known)
	return w
}

func syncToNobodyLeavesAMarker(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 5000)})
	if _, err := begin(t, s, marks{active(1): bits(), active(2): bits()}).Commit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	march := cohort.Range{From: active(1).Day, To: active(31).Day}
	for range 2 {
		if diff := cmp.Diff([]cohort.Day{active(1).Day, active(2).Day}, mustCatalogue(t, s).Days("active", march)); diff != "" {
			t.Errorf("the empty days are not there: %s", diff)
		}
		if got := mustCatalogue(t, s).SegmentsOf(active(1)); len(got) > 0 {
			t.Errorf("an empty day has segments %v", got)
		}
		if err := s.Scan(t.Context()); err != nil { // and a scan changes nothing
			t.Fatal(err)
		}
	}
}

func syncRemovesWhatOtherProgramsWrote(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(2): bits(5000)})
	foreign := c.Prefix + ":{s1}:day:active:20260301"
	raw(t, c.URL).SetBit(t.Context(), foreign, 7, 1)
	if _, err := begin(t, s, marks{active(1): bits(1)}).Commit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if n := raw(t, c.URL).Exists(t.Context(), foreign).Val(); n != 0 {
		t.Error("an old segment that the catalogue did not list is still there")
	}
}

func droppedSyncChangesNothing(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 2)})
	y := begin(t, s, marks{active(1): bits(7), exposed: bits(9)})
	if err := y.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkUsers(t, s, active(1), bits(1, 2))
	checkUsers(t, s, exposed, bits())
	checkUsers(t, s, cohort.Known(), bits(1, 2))
	checkNothingLeft(t, c)
}

func syncThatShrinksADayIsRefused(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	hundred := roaring.New()
	hundred.AddRange(0, 100)
	mustMerge(t, s, marks{active(1): hundred})
	_, err := begin(t, s, marks{active(1): bits(1, 2)}).Commit(t.Context(), false)
	f := fault.As(err)
	if f == nil || !errors.Is(err, fault.ErrConflict) || f.Code != "would_shrink" {
		t.Fatalf("got %v, want would_shrink", err)
	}
	if !strings.Contains(f.Message, "active on 2026-03-01 from 100 users to 2") {
		t.Errorf("the message is %q", f.Message)
	}
	checkUsers(t, s, active(1), hundred)
	checkNothingLeft(t, c)
	if _, err := begin(t, s, marks{active(1): bits(1, 2)}).Commit(t.Context(), true); err != nil {
		t.Fatalf("forced: %v", err)
	}
	checkUsers(t, s, active(1), bits(1, 2))
}

func halfOfADayIsNotTooLittle(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	hundred, half := roaring.New(), roaring.New()
	hundred.AddRange(0, 100)
	half.AddRange(0, 50)
	mustMerge(t, s, marks{active(1): hundred, active(2): bits(1, 2, 3)})
	if _, err := begin(t, s, marks{active(1): half, active(2): bits(1)}).Commit(t.Context(), false); err != nil {
		t.Error(err)
	}
}

func interruptedSyncIsFinished(t *testing.T, k storetest.Kind) {
	for applied := range 4 {
		for _, running := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d segments applied, by a running process %v", applied, running), func(t *testing.T) {
				c := k.Config(t)
				s := open(t, c)
				mustMerge(t, s, marks{active(1): bits(1, 5000, 9000)})
				staged := marks{active(1): bits(2, 5001), exposed: bits(3)}
				if err := begin(t, s, staged).CommitOnly(t.Context(), applied); err != nil {
					t.Fatal(err)
				}
				if !running {
					open(t, c)
				} else if err := begin(t, s).Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				checkUsers(t, s, active(1), bits(2, 5001))
				checkSegments(t, s, active(1), 0, 1)
				checkUsers(t, s, exposed, bits(3))
				checkUsers(t, s, cohort.Known(), bits(1, 2, 3, 5000, 5001, 9000))
				checkNothingLeft(t, c)
			})
		}
	}
}

func writesAfterAnInterruptedSyncStay(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(5000)})
	if err := begin(t, s, marks{active(1): bits(1)}).CommitOnly(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	mustMerge(t, s, marks{active(1): bits(2, 5002)})
	open(t, c)
	checkUsers(t, s, active(1), bits(1, 2, 5002))
}

func syncInterruptedBeforeItsCommitChangesNothing(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1)})
	begin(t, s, marks{active(1): bits(2)})
	checkUsers(t, open(t, c), active(1), bits(1))
	for _, name := range keysOf(t, raw(t, c.URL), c.Prefix, ":tmp:") {
		if raw(t, c.URL).TTL(t.Context(), name).Val() <= 0 {
			t.Errorf("%s would stay for ever", name)
		}
	}
}

func syncWhoseStagedMarksAreGoneChangesNothing(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1)})
	y := begin(t, s, marks{active(1): bits(2)})
	client := raw(t, c.URL)
	client.Del(t.Context(), keysOf(t, client, c.Prefix, ":tmp:")[0])
	if _, err := y.Commit(t.Context(), true); !errors.Is(err, fault.ErrUnavailable) {
		t.Errorf("got %v, want an ErrUnavailable", err)
	}
	checkUsers(t, s, active(1), bits(1))
	checkNothingLeft(t, c)
}

func syncKeepsExpiry(t *testing.T, k storetest.Kind) {
	for _, interrupted := range []bool{false, true} {
		c, kept, lasting, at := keptConfig(t, k)
		s := open(t, c)
		mustMerge(t, s, marks{kept: bits(1, 5000), lasting: bits(1), exposed: bits(1)})
		y := begin(t, s, marks{kept: bits(1, 2), lasting: bits(9000), exposed: bits(9000)})
		checkExpiry(t, c, at)
		if interrupted {
			if err := y.CommitOnly(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			checkExpiry(t, c, at)
			open(t, c)
		} else if _, err := y.Commit(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		checkExpiry(t, c, at)
	}
}

func oneSyncAtATime(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	first := begin(t, s, marks{active(1): bits(1)})
	began := make(chan error)
	go func() {
		second, err := s.BeginSync(t.Context())
		if err == nil {
			err = second.Drop(t.Context())
		}
		began <- err
	}()
	select {
	case err := <-began:
		t.Fatalf("a second sync did not wait: %v", err)
	default:
	}
	if _, err := first.Commit(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := <-began; err != nil {
		t.Errorf("after the first ended: %v", err)
	}
}

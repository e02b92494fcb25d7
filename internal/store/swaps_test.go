package store_test

import (
	"testing"
	"time"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func mustSwaps(t testing.TB, s *store.Store) string {
	t.Helper()
	name, err := s.Swaps(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func swapsChangeWithEachReplacement(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustMerge(t, s, marks{active(1): bits(1)})
	before := mustSwaps(t, s)
	mustMerge(t, s, marks{active(1): bits(2)})
	if now := mustSwaps(t, s); now != before {
		t.Errorf("a merge changes the replacements from %q to %q", before, now)
	}
	if _, err := begin(t, s, marks{active(1): bits(3)}).Commit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if now := mustSwaps(t, s); now == before {
		t.Errorf("a replacement leaves the replacements at %q", now)
	}
}

func swapsFinishWhatNobodyDoes(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 5000, 9000)})
	if err := begin(t, s, marks{active(1): bits(2, 5001)}).CommitOnly(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	mustSwaps(t, s)
	if took := time.Since(begun); took > time.Second {
		t.Errorf("waits %s for a process that has ended", took)
	}
	checkUsers(t, s, active(1), bits(2, 5001))
	checkNothingLeft(t, c)
}

func swapsGiveARunningProcessItsTime(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 5000)})
	y := begin(t, s, marks{active(1): bits(2, 5001)})
	if err := y.CommitOnly(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	// It died without giving its lease back.
	client := raw(t, c.URL)
	id := client.SMembers(t.Context(), c.Prefix+":{meta}:syncs").Val()[0]
	if err := client.Set(t.Context(), c.Prefix+":{meta}:sync_lease", id, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	mustSwaps(t, s)
	if took := time.Since(begun); took < time.Second || took > 10*time.Second {
		t.Errorf("waits %s for a process that holds the lease, want a few seconds", took)
	}
	checkUsers(t, s, active(1), bits(2, 5001))
}

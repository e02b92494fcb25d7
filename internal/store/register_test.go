package store_test

import (
	"context"
	"testing"

	"bitboard/internal/store/storetest"
)

func failedMergeLeavesNoEmptyDay(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustMerge(t, s, marks{active(1): bits(1)})
	foreign := c.Prefix + ":{s0}:known"
	client.Rename(t.Context(), foreign, c.Prefix+":{s0}:kept")
	client.HSet(t.Context(), foreign, "not", "a bitmap")
	if _, err := s.Merge(t.Context(), marks{active(1): bits(9000), active(2): bits(9000), active(3): bits(1, 9000)}); err == nil {
		t.Fatal("the merge did not fail")
	}
	checkSegments(t, s, active(1), 0)
	checkSegments(t, s, active(2))
	checkSegments(t, s, active(3), 0) // written beside what failed
}

func TestMergeThatFailsBecauseMemoryIsFullLeavesNoEmptyDay(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	mustMerge(t, s, marks{active(1): bits(1)})
	if err := s.Register(t.Context(), marks{active(1): bits(5000), active(2): bits(1)}); err != nil {
		t.Fatal(err)
	}
	checkSegments(t, s, active(2), 0)
	setServer(t, s, url, "maxmemory", "1")
	_, err := s.Merge(t.Context(), marks{active(1): bits(5000), active(2): bits(1)})
	checkUnavailable(t, err, "has no memory left for writes")
	checkSegments(t, s, active(1), 0)
	checkSegments(t, s, active(2))
}

func interruptedMergeLeavesNoEmptyDay(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustMerge(t, s, marks{active(1): bits(1)})
	if err := s.Register(t.Context(), marks{active(2): bits(1)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Merge(ctx, marks{active(2): bits(1)}); err == nil {
		t.Fatal("the merge did not fail")
	}
	checkSegments(t, s, active(2))
}

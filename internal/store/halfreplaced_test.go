package store_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func checkHalfReplaced(t *testing.T, s *store.Store, want ...cohort.Bitmap) {
	t.Helper()
	got, err := s.HalfReplaced(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var expected map[cohort.Bitmap]bool
	for _, b := range want {
		if expected == nil {
			expected = map[cohort.Bitmap]bool{}
		}
		expected[b] = true
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("half replaced: %s", diff)
	}
}

// dated rewrites the time of the one commit record.
func dated(t *testing.T, client redis.UniversalClient, prefix, at string) {
	t.Helper()
	name := keysOf(t, client, prefix, "{meta}:sync:")[0]
	text := client.Get(t.Context(), name).Val()
	changed := regexp.MustCompile(`"at":\d+`).ReplaceAllString(text, `"at":`+at)
	if err := client.Set(t.Context(), name, changed, 0).Err(); err != nil || changed == text {
		t.Fatalf("the record %s has no time: %v", text, err)
	}
}

func syncThatNobodyFinishedInTimeIsReported(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustMerge(t, s, marks{active(1): bits(1, 5000), active(2): bits(1), active(3): bits(9000), active(4): bits(1)})
	staged := marks{active(1): bits(2, 5001), active(2): bits(2), active(3): bits(9001), exposed: bits(5002)}
	if err := begin(t, s, staged).CommitOnly(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	dated(t, client, c.Prefix, "1000000000")
	for _, name := range keysOf(t, client, c.Prefix, ":tmp:") {
		client.Del(t.Context(), name) // what expires
	}
	late := open(t, c)
	// Of the first segment, too, nobody can tell any more that it was done.
	checkHalfReplaced(t, late, active(1), active(2), active(3), exposed)
	day, counts := active(2).Day, map[cohort.Day]int64{active(2).Day: 1}
	found := cohort.Suspects(mustCatalogue(t, s), "active", cohort.Range{From: day, To: day}, day+1, counts)
	if found[day] != cohort.HalfReplaced {
		t.Errorf("the day is %q, want half_replaced", found[day])
	}
	checkNothingLeft(t, c)

	if _, err := begin(t, s, marks{active(1): bits(2, 5001), active(2): bits()}).Commit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	checkHalfReplaced(t, s, active(3), exposed)
	mustMerge(t, s, marks{active(3): bits(9001)})
	checkHalfReplaced(t, s, active(3), exposed)
	if _, err := begin(t, s, marks{active(3): bits(9001), exposed: bits(5002)}).Commit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	checkHalfReplaced(t, s)
	if found := cohort.Suspects(mustCatalogue(t, late), "active", cohort.Range{From: day, To: day}, day+1, counts); found[day] != "" {
		t.Errorf("a day that was replaced again is %q", found[day])
	}
}

func lateSyncWithEverythingStagedIsFinished(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 5000)})
	if err := begin(t, s, marks{active(1): bits(2, 5001)}).CommitOnly(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	dated(t, raw(t, c.URL), c.Prefix, "1000000000")
	open(t, c)
	checkHalfReplaced(t, s)
	checkUsers(t, s, active(1), bits(2, 5001))
}

func evictedStagedKeyChangesNothingInItsSegment(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustMerge(t, s, marks{active(1): bits(1, 5000), active(2): bits(1, 5000)})
	staged := marks{active(1): bits(2, 5001), active(2): bits(2, 5001)}
	if err := begin(t, s, staged).CommitOnly(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for _, name := range keysOf(t, client, c.Prefix, "{s1}:tmp:") {
		if !strings.HasSuffix(name, ":pending") {
			client.Del(t.Context(), name)
			break
		}
	}
	open(t, c)
	checkUsers(t, s, active(1), bits(2, 5000))
	checkUsers(t, s, active(2), bits(2, 5000))
	checkHalfReplaced(t, s, active(1), active(2))
}

func commitSaysWhatItLost(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustMerge(t, s, marks{active(1): bits(1)})
	y := begin(t, s, marks{active(1): bits(2)})
	_, err := y.CommitAfter(t.Context(), func() {
		for _, name := range keysOf(t, client, c.Prefix, "{s0}:tmp:") {
			if !strings.HasSuffix(name, ":pending") {
				client.Del(t.Context(), name)
			}
		}
	})
	if !errors.Is(err, fault.ErrUnavailable) || !strings.Contains(err.Error(), "day:active:20260301 may be half replaced") {
		t.Errorf("got %v, want what is half replaced", err)
	}
	checkUsers(t, s, active(1), bits(1))
	checkHalfReplaced(t, s, active(1))
}

func syncWithoutItsRecordIsForgotten(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustMerge(t, s, marks{active(1): bits(1)})
	if err := begin(t, s, marks{active(1): bits(2)}).CommitOnly(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	drop(t, client, keysOf(t, client, c.Prefix, "{meta}:sync:")...)
	open(t, c)
	checkUsers(t, s, active(1), bits(1))
	if n := client.SCard(t.Context(), c.Prefix+":{meta}:syncs").Val(); n != 0 {
		t.Error("the sync stays open for ever")
	}
}

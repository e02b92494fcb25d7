package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// setServer changes the configuration of a running server, and lets a store
// notice it as it would after a while.
func setServer(t *testing.T, s *store.Store, url, name, value string) {
	t.Helper()
	if err := raw(t, url).ConfigSet(t.Context(), name, value).Err(); err != nil {
		t.Fatal(err)
	}
	s.AskAboutEviction()
}

// writesOf are all ways to write.
func writesOf(t *testing.T, s *store.Store) map[string]func() error {
	t.Helper()
	return map[string]func() error{
		"merge": func() error { _, err := s.Merge(t.Context(), marks{active(1): bits(1)}); return err },
		"clear": func() error { _, err := s.Clear(t.Context(), marks{exposed: bits(1)}); return err },
		"new ID": func() error {
			_, err := s.Assign(t.Context(), []string{storetest.Prefix()})
			return err
		},
		"replace": func() error {
			y, err := s.BeginSync(t.Context())
			if err != nil {
				return err
			}
			return y.Drop(t.Context())
		},
	}
}

func TestEvictionPolicyRefusesWrites(t *testing.T) {
	url, _ := storetest.Start(t, "--maxmemory-policy", "allkeys-lru")
	s := open(t, configOf(t, url))
	for _, policy := range []string{"allkeys-lru", "volatile-ttl", "noeviction", "allkeys-random", "noeviction"} {
		setServer(t, s, url, "maxmemory-policy", policy)
		for name, write := range writesOf(t, s) {
			err := write()
			if policy == "noeviction" {
				if err != nil {
					t.Errorf("%s under noeviction: %v", name, err)
				}
				continue
			}
			checkUnavailable(t, err, "maxmemory-policy "+policy)
			if f := fault.As(err); f == nil || f.Code != "eviction_policy" || !strings.Contains(f.Message, "CONFIG SET maxmemory-policy noeviction") {
				t.Errorf("%s under %s: %v does not say what to do", name, policy, err)
			}
		}
		if _, err := s.Catalogue(t.Context()); err != nil {
			t.Errorf("reading under %s: %v", policy, err)
		}
	}
}

func TestPolicyThatChangesDuringAReplaceStopsIt(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	mustMerge(t, s, marks{active(1): bits(1)})
	y := begin(t, s, marks{active(1): bits(2)})
	setServer(t, s, url, "maxmemory-policy", "allkeys-lfu")
	checkUnavailable(t, y.Stage(t.Context(), marks{active(1): bits(3)}), "allkeys-lfu")
	if _, err := y.Commit(t.Context(), true); !errors.Is(err, fault.ErrUnavailable) {
		t.Errorf("the commit: %v, want an ErrUnavailable", err)
	}
	checkUsers(t, s, active(1), bits(1))
}

func TestEvictedKeysMakeDaysSuspect(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	many := roaring.New()
	many.AddRange(0, 4000)
	mustMerge(t, s, marks{active(1): many, active(2): many})
	judge := func() cohort.Suspicion {
		s.AskAboutEviction()
		day, c := active(1).Day, mustCatalogue(t, s)
		return cohort.Suspects(c, "active", cohort.Range{From: day, To: day}, day+1, map[cohort.Day]int64{day: 4000})[day]
	}
	if got := judge(); got != "" {
		t.Errorf("before: %q", got)
	}
	client := raw(t, url)
	if err := client.Set(t.Context(), "other:program", strings.Repeat("x", 1<<20), 1<<40).Err(); err != nil {
		t.Fatal(err)
	}
	setServer(t, s, url, "maxmemory-policy", "volatile-ttl")
	setServer(t, s, url, "maxmemory", "1100000")
	if got := judge(); got != cohort.Evicted {
		t.Errorf("after an eviction: %q, want evicted", got)
	}
	before := mustCatalogue(t, s)
	if mustCatalogue(t, s) != before {
		t.Error("a catalogue with a doubt is read again and again")
	}
	setServer(t, s, url, "maxmemory", "0")
	setServer(t, s, url, "maxmemory-policy", "noeviction")
	if got := judge(); got != cohort.Evicted {
		t.Errorf("after the policy was put right: %q, want evicted still", got)
	}
	// Who seems new may be a user whose dictionary entry is gone.
	_, err := s.Assign(t.Context(), []string{"newcomer"})
	checkUnavailable(t, err, "lest a known user be counted twice")
	if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s.AskAboutEviction()
	mustAssign(t, s, "newcomer")
}

func TestFullServerIsStillRead(t *testing.T) {
	url, _ := storetest.Start(t)
	c := configOf(t, url)
	mustMerge(t, open(t, c), marks{active(1): bits(1)})
	if err := raw(t, url).ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	s := open(t, c)
	mustSwaps(t, s)
	checkUsers(t, s, active(1), bits(1))
}

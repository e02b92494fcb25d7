package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

var flags = cohort.Workspace{Metrics: []cohort.Metric{{Name: "activated", Kind: cohort.KindFlag}, {Name: "exposed", Kind: cohort.KindFlag}}}

// save saves a cohort by the rules, whether it is there or not. What happens
// comes between the check and the change, the first time.
func save(t testing.TB, s *store.Store, name, expr string, happens ...func()) error {
	t.Helper()
	return s.ChangeCohort(t.Context(), name, func(all cohort.SavedCohorts) (*cohort.Saved, error) {
		at := time.Date(2026, 3, 10, 12, 0, 0, int(time.Millisecond), time.UTC)
		c, err := all.CheckChange(flags, active(10).Day, cohort.Saved{Name: name, Title: "标题 of " + name, Expr: expr, Created: at, Updated: at})
		for _, f := range happens {
			f()
		}
		happens = nil
		return &c, err
	})
}

func mustSave(t testing.TB, s *store.Store, name, expr string) {
	t.Helper()
	if err := save(t, s, name, expr); err != nil {
		t.Fatal(err)
	}
}

// remove deletes a saved cohort by the rules, as save saves it.
func remove(t testing.TB, s *store.Store, name string, happens ...func()) error {
	t.Helper()
	return s.ChangeCohort(t.Context(), name, func(all cohort.SavedCohorts) (*cohort.Saved, error) {
		err := all.CheckDelete(name)
		for _, f := range happens {
			f()
		}
		happens = nil
		return nil, err
	})
}

// checkSaved compares the saved cohorts, as NAME = EXPR.
func checkSaved(t testing.TB, s *store.Store, want ...string) {
	t.Helper()
	all, err := s.SavedCohorts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range all.List() {
		got = append(got, c.Name+" = "+c.Expr)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the saved cohorts (-want +got):\n%s", diff)
	}
}

func savedCohortsAreSharedBetweenStores(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, other := open(t, c), open(t, c)
	checkSaved(t, s)
	mustSave(t, s, "aa", "activated")
	checkSaved(t, other, "aa = activated")
	mustSave(t, other, "bb", "cohort(aa) - exposed")
	checkSaved(t, s, "aa = activated", "bb = cohort(aa) - exposed")
	mustSave(t, s, "aa", "exposed")
	checkSaved(t, other, "aa = exposed", "bb = cohort(aa) - exposed")
	all, err := other.SavedCohorts(t.Context())
	at := time.Date(2026, 3, 10, 12, 0, 0, int(time.Millisecond), time.UTC)
	if want := (cohort.Saved{Name: "aa", Title: "标题 of aa", Expr: "exposed", Created: at, Updated: at}); err != nil || all["aa"] != want {
		t.Errorf("got %+v, %v; want %+v", all["aa"], err, want)
	}
	if err := remove(t, other, "bb"); err != nil {
		t.Fatal(err)
	}
	checkSaved(t, s, "aa = exposed")
}

func savedCohortIsCheckedOnWhatOthersChanged(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, other := open(t, c), open(t, c)
	mustSave(t, s, "aa", "activated")
	mustSave(t, s, "bb", "exposed")
	err := save(t, s, "aa", "cohort(bb)", func() { mustSave(t, other, "bb", "cohort(aa)") })
	if f := fault.As(err); f == nil || f.Code != "cohort_cycle" {
		t.Errorf("two writers make a cycle: %v", err)
	}
	checkSaved(t, s, "aa = activated", "bb = cohort(aa)")
	mustSave(t, s, "bb", "exposed")
	err = remove(t, s, "aa", func() { mustSave(t, other, "bb", "cohort(aa)") })
	if f := fault.As(err); f == nil || f.Code != "cohort_in_use" {
		t.Errorf("a cohort that another writer began to use is deleted: %v", err)
	}
	err = save(t, s, "cc", "cohort(bb)", func() {
		if err := remove(t, other, "bb"); err != nil {
			t.Error(err)
		}
	})
	if f := fault.As(err); f == nil || f.Code != "unknown_cohort" {
		t.Errorf("a cohort that another writer deleted is used: %v", err)
	}
	checkSaved(t, other, "aa = activated")
}

func savedCohortsOfManyWriters(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	var want []string
	var writers sync.WaitGroup
	for i := range 8 {
		name := fmt.Sprintf("c%d", i)
		want = append(want, name+" = activated")
		s := open(t, c)
		writers.Go(func() {
			for {
				err := save(t, s, name, "activated")
				if err == nil {
					return
				}
				if !errors.Is(err, fault.ErrBusy) {
					t.Errorf("saving %s: %v", name, err)
					return
				}
			}
		})
	}
	writers.Wait()
	checkSaved(t, open(t, c), want...)
}

func repeatedChangeOfASavedCohort(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	first, second, err := s.PutCohortTwice(t.Context(), "aa", cohort.Saved{Expr: "activated"})
	if err != nil || !first || !second {
		t.Errorf("sent twice it was done %v and %v, %v", first, second, err)
	}
	checkSaved(t, s, "aa = activated")
}

func emptiedStoreHasNoSavedCohorts(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustSave(t, s, "aa", "activated")
	checkSaved(t, s, "aa = activated")
	drop(t, client, keysOf(t, client, c.Prefix, "")...)
	checkSaved(t, s)
	mustSave(t, s, "bb", "activated")
	checkSaved(t, s, "bb = activated")
}

func savedCohortsAreRecords(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustSave(t, s, "aa", "activated")
	var seen []string
	if err := s.Survey(t.Context(), func(key store.Key) {
		if key.Family == store.RecordFamily && key.Type == key.WantType {
			seen = append(seen, key.Name[len(key.Name)-len("cohorts"):])
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(seen, "cohorts") || !slices.Contains(seen, "version") {
		t.Errorf("a survey sees records that end in %q only", seen)
	}
}

func TestFullServerSavesNoCohort(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	mustSave(t, s, "aa", "activated")
	if err := raw(t, url).ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	checkUnavailable(t, save(t, s, "aa", "exposed"), "has no memory left for writes")
	checkSaved(t, s, "aa = activated")
}

func TestEvictingServerSavesNoCohort(t *testing.T) {
	url, _ := storetest.Start(t, "--maxmemory-policy", "allkeys-lru")
	s := open(t, configOf(t, url))
	checkUnavailable(t, save(t, s, "aa", "activated"), "removes keys when its memory is full")
}

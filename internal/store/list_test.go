package store_test

import (
	"errors"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// saveList saves users as a list under a name, whether it is there or not.
func saveList(t testing.TB, s *store.Store, name string, users *roaring.Bitmap) cohort.Bitmap {
	t.Helper()
	version, err := s.WriteList(t.Context(), name, users)
	if err != nil {
		t.Fatal(err)
	}
	err = s.ChangeCohort(t.Context(), name, func(all cohort.SavedCohorts) (*cohort.Saved, error) {
		c, err := all.CheckChange(flags, active(10).Day, cohort.Saved{Name: name, List: version})
		return &c, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return cohort.ListOf(name, version)
}

// checkList compares the users in a list.
func checkList(t testing.TB, what string, s *store.Store, list cohort.Bitmap, want *roaring.Bitmap) {
	t.Helper()
	if got := users(t, s, list); !got.Equals(want) {
		t.Errorf("%s: the list holds %v, want %v", what, got, want)
	}
}

// listKeys returns how many keys of lists there are.
func listKeys(t testing.TB, s *store.Store) (n int) {
	t.Helper()
	err := s.Survey(t.Context(), func(k store.Key) {
		if k.Bitmap.Kind != cohort.ListBitmap {
			return
		}
		if n++; k.Family != store.BitmapFamily || k.Type != k.WantType || !k.Expires.IsZero() {
			t.Errorf("the survey takes %s for %+v", k.Name, k)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// usersOfSegments is a user in the first segment and two in the third.
func usersOfSegments(c store.Config) *roaring.Bitmap {
	third := uint32(2 * c.SegmentBits)
	return roaring.BitmapOf(5, third, third+7)
}

func listIsSharedBetweenStores(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	c.Dense = true
	s, other := open(t, c), open(t, c)
	mustMerge(t, s, marks{activated: roaring.BitmapOf(1)})
	want := usersOfSegments(c)
	list := saveList(t, s, "loyal", want)
	checkList(t, "elsewhere", other, list, want)
	if got := users(t, other, cohort.Known()); !got.Equals(roaring.BitmapOf(1)) {
		t.Errorf("known are %v: a list makes nobody known", got)
	}
	all, err := other.SavedCohorts(t.Context())
	if err != nil || all["loyal"].List != list.Print {
		t.Errorf("elsewhere the cohort is %+v (%v)", all["loyal"], err)
	}
}

func listThatIsNoCohortAnyMoreIsRemoved(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	c.Dense = true
	s := open(t, c)
	saveList(t, s, "loyal", usersOfSegments(c))
	list := saveList(t, s, "loyal", roaring.BitmapOf(8))
	checkList(t, "after another upload", s, list, roaring.BitmapOf(8))
	if n := listKeys(t, s); n != 1 {
		t.Errorf("after another upload there are %d keys of lists, want 1", n)
	}
	mustSave(t, s, "loyal", "activated")
	if n := listKeys(t, s); n != 0 {
		t.Errorf("%d keys are left of a list that became an expression", n)
	}
	saveList(t, s, "loyal", usersOfSegments(c))
	if err := remove(t, s, "loyal"); err != nil {
		t.Fatal(err)
	}
	if n := listKeys(t, s); n != 0 {
		t.Errorf("%d keys are left of a deleted list", n)
	}
	for b := range mustCatalogue(t, s).All() {
		if b.Kind == cohort.ListBitmap {
			t.Errorf("the catalogue still has %+v", b)
		}
	}
}

func listThatIsGoneIsAnError(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	c.Dense = true
	s := open(t, c)
	list := saveList(t, s, "loyal", usersOfSegments(c))
	client := raw(t, c.URL)
	for _, key := range keysOf(t, client, c.Prefix, ":{s2}:") {
		client.Del(t.Context(), key)
	}
	for _, scanned := range []bool{false, true} {
		if scanned {
			if err := s.Scan(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, segment := range mustCatalogue(t, s).SegmentsOf(list) {
			_, err := s.Fetch(t.Context(), segment, []cohort.Bitmap{list}, 0, s.SegmentBits()/8, nil)
			if lost := segment == 2; lost != errors.Is(err, fault.ErrBusy) {
				t.Errorf("segment %d, scanned %t: %v", segment, scanned, err)
			}
		}
	}
}

func forgottenUsersAreInNoList(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	offsets := mustAssign(t, s, "a", victim, "c")
	mustMerge(t, s, marks{activated: roaring.BitmapOf(offsets...)})
	list := saveList(t, s, "loyal", roaring.BitmapOf(offsets...))
	before := mustCatalogue(t, s).Token(list)
	mustForget(t, s, victim)
	checkList(t, "after forgetting", s, list, roaring.BitmapOf(offsets[0], offsets[2]))
	if mustCatalogue(t, s).Token(list) == before {
		t.Error("the list has the token that it had before")
	}
	late := saveList(t, s, "late", roaring.BitmapOf(offsets...))
	checkList(t, "written by who did not know", s, late, roaring.BitmapOf(offsets[0], offsets[2]))
}

func scanSweepsLists(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	c.Dense = true
	s := open(t, c)
	kept := saveList(t, s, "loyal", roaring.BitmapOf(5))
	if _, err := s.WriteList(t.Context(), "unfinished", roaring.BitmapOf(6)); err != nil {
		t.Fatal(err)
	}
	mustMerge(t, s, marks{cohort.ListOf("old", 1): roaring.BitmapOf(7)})
	if err := s.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkList(t, "after a scan", s, kept, roaring.BitmapOf(5))
	if n := listKeys(t, s); n != 2 {
		t.Errorf("after a scan there are %d keys of lists, want those of the cohort and of the one that may be on its way", n)
	}
}

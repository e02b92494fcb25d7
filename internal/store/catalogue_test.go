package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func checkSegments(t *testing.T, s *store.Store, b cohort.Bitmap, want ...int) {
	t.Helper()
	if diff := cmp.Diff(want, mustCatalogue(t, s).SegmentsOf(b)); diff != "" {
		t.Errorf("segments of %v: %s", b, diff)
	}
}

func catalogueIsSharedBetweenStores(t *testing.T, k storetest.Kind) {
	prefix := storetest.Prefix()
	a, b := k.Open(t, prefixed(prefix)), k.Open(t, prefixed(prefix))
	if got := mustCatalogue(t, b).Segments(); got != nil {
		t.Errorf("a new store has segments %v", got)
	}
	mustMerge(t, a, marks{active(1): bits(1, 5000), exposed: bits(1)})
	checkSegments(t, b, active(1), 0, 1)
	checkSegments(t, b, exposed, 0)
	checkSegments(t, b, cohort.Known(), 0, 1)
	mustMerge(t, b, marks{active(1): bits(3_000_000_000), active(2): bits(1)})
	checkSegments(t, a, active(1), 0, 1, 732421)
	checkSegments(t, a, active(2), 0)
}

func unchangedCatalogueIsTheSameSnapshot(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustMerge(t, s, marks{active(1): bits(1)})
	before := mustCatalogue(t, s)
	if mustCatalogue(t, s) != before {
		t.Error("there is a new snapshot although nothing was written")
	}
	mustMerge(t, s, marks{active(1): bits(2)})
	if now := mustCatalogue(t, s); now.Token(active(1)) == before.Token(active(1)) || now.Writing(active(1)) {
		t.Errorf("after a write the token is %d, writing %v", now.Token(active(1)), now.Writing(active(1)))
	}
	mustMerge(t, s, marks{active(2): bits(2)})
	if got := before.SegmentsOf(active(2)); got != nil {
		t.Errorf("a snapshot taken earlier changed: %v", got)
	}
}

func scanFindsKeysOfOtherPrograms(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	for _, key := range []string{":{s2}:day:active:20260301", ":{s3}:flag:exposed", ":{s3}:known"} {
		if err := client.SetBit(t.Context(), c.Prefix+key, 7, 1).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{":{s2}:day:active:20260231", ":{s2}:tmp:x:1", ":{s999999999999}:known"} {
		if err := client.Set(t.Context(), c.Prefix+key, "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.HSet(t.Context(), c.Prefix+":{s9}:known", "not", "a bitmap").Err(); err != nil {
		t.Fatal(err)
	}
	mustMerge(t, s, marks{active(1): bits(1)})
	if err := s.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkSegments(t, s, active(1), 0, 2)
	checkSegments(t, s, exposed, 3)
	checkSegments(t, s, cohort.Known(), 0, 3)
	if diff := cmp.Diff([]int{0, 2, 3}, mustCatalogue(t, s).Segments()); diff != "" {
		t.Error(diff)
	}
}

func scanDropsKeysThatAreGone(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	other := open(t, c)
	mustMerge(t, s, marks{active(1): bits(1, 5000), active(2): bits(1)})
	mustCatalogue(t, other)
	for _, key := range []string{":{s1}:day:active:20260301", ":{s0}:day:active:20260302"} {
		if n := client.Del(t.Context(), c.Prefix+key).Val(); n != 1 {
			t.Fatalf("%s was not there", key)
		}
	}
	if err := s.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkSegments(t, other, active(1), 0)
	march := cohort.Range{From: active(1).Day, To: active(31).Day}
	if diff := cmp.Diff([]cohort.Day{active(1).Day}, mustCatalogue(t, other).Days("active", march)); diff != "" {
		t.Errorf("a day without keys is still there: %s", diff)
	}
	mustMerge(t, other, marks{active(2): bits(1)})
	checkSegments(t, s, active(2), 0)
}

func scanKeepsWhatIsWrittenMeanwhile(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, writer := open(t, c), open(t, c)
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for {
			if err := s.Scan(t.Context()); err != nil {
				stopped <- err
				return
			}
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
		}
	}()
	for n := range 200 {
		mustMerge(t, writer, marks{cohort.DayOfMetric("active", cohort.Day(n)): bits(uint32(n) * 4096)})
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		checkSegments(t, writer, cohort.DayOfMetric("active", cohort.Day(n)), n)
	}
}

func emptiedStoreHasAnEmptyCatalogue(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustMerge(t, s, marks{active(1): bits(1), active(2): bits(1)})
	mustCatalogue(t, s)
	drop(t, client, keysOf(t, client, c.Prefix, "")...)
	if got := mustCatalogue(t, s).Segments(); got != nil {
		t.Errorf("got segments %v of data that are gone", got)
	}
	mustMerge(t, s, marks{active(3): bits(1), active(4): bits(1)})
	checkSegments(t, s, active(1))
	checkSegments(t, s, active(3), 0)
}

func olderCatalogueIsReadFromNothing(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s, client := open(t, c), raw(t, c.URL)
	mustMerge(t, s, marks{active(1): bits(1)})
	older := c.Prefix + ":{meta}:"
	dump := map[string]string{}
	for _, name := range keysOf(t, client, c.Prefix, "{meta}") {
		dump[name] = client.Dump(t.Context(), name).Val()
	}
	mustMerge(t, s, marks{active(2): bits(1)})
	checkSegments(t, s, active(2), 0)
	drop(t, client, keysOf(t, client, c.Prefix, "{meta}")...)
	for name, value := range dump {
		if err := client.Restore(t.Context(), name, 0, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if client.Exists(t.Context(), older+"catalogue").Val() != 1 {
		t.Fatal("the older catalogue was not restored")
	}
	checkSegments(t, s, active(2))
	checkSegments(t, s, active(1), 0)
}

func writeIsSeenWithoutItsEntry(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	a, b, client := open(t, c), open(t, c), raw(t, c.URL)
	mustMerge(t, a, marks{active(1): bits(1)})
	before := mustCatalogue(t, b)
	drop(t, client, c.Prefix+":{meta}:catalogue")
	mustMerge(t, a, marks{active(1): bits(2)})
	if now := mustCatalogue(t, b); now.Token(active(1)) == before.Token(active(1)) {
		t.Error("a day has the token that it had before it was written")
	}
}

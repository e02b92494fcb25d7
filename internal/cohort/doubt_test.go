package cohort_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
)

func TestDoubtsGiveWayToWhatIsSeen(t *testing.T) {
	const first = cohort.Day(20_000)
	day := func(n int) cohort.Bitmap { return cohort.DayOfMetric("active", first+cohort.Day(n)) }
	c := cohort.NewCatalogue(map[cohort.Bitmap][]int{
		day(0): {0, 1}, day(1): {0}, day(2): {0, 1}, day(3): {0}, day(5): {0}, day(6): {0},
	})
	half := map[cohort.Bitmap]bool{day(3): true, day(4): true}
	counts := map[cohort.Day]int64{}
	for _, n := range []cohort.Day{0, 1, 2, 3, 5, 6} {
		counts[first+n] = 10
	}
	judge := func(c *cohort.Catalogue) map[cohort.Day]cohort.Suspicion {
		return cohort.Suspects(c, "active", cohort.Range{From: first, To: first + 6}, first+6, counts)
	}
	plain := map[cohort.Day]cohort.Suspicion{first + 1: cohort.MissingSegment, first + 4: cohort.Missing}
	if diff := cmp.Diff(plain, judge(c)); diff != "" {
		t.Error(diff)
	}
	want := map[cohort.Day]cohort.Suspicion{
		first: cohort.Evicted, first + 1: cohort.MissingSegment, first + 2: cohort.Evicted, first + 3: cohort.HalfReplaced,
		first + 4: cohort.Missing, first + 5: cohort.Evicted,
	}
	if diff := cmp.Diff(want, judge(c.Doubting(cohort.Doubts{Evicted: true, HalfReplaced: half}))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(plain, judge(c)); diff != "" {
		t.Errorf("the catalogue doubts its own days now: %s", diff)
	}
}

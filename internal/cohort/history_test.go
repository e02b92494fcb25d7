package cohort_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
)

func TestHistoriesOfACatalogue(t *testing.T) {
	end := func(m time.Month) cohort.Day { return cohort.DayOfDate(2026, m, 1).MonthEnd() }
	of := func(m time.Month, state uint64) cohort.Bitmap { return cohort.HistoryOf("active", end(m), state) }
	day := cohort.DayOfMetric("active", 5)
	before := cohort.NewCatalogue(map[cohort.Bitmap][]int{day: {1}})
	cat := before.WithHistories(map[cohort.Bitmap][]int{of(3, 1): {1}, of(1, 1): {}, of(2, 1): {1, 2}})
	after := cat.WithHistories(map[cohort.Bitmap][]int{of(2, 2): {2}, of(3, 9): nil}).With(map[cohort.Bitmap][]int{day: {2}}, nil)
	for _, c := range []struct {
		name string
		of   *cohort.Catalogue
		want []cohort.Bitmap
	}{
		{"at first", before, []cohort.Bitmap{}}, {"with three", cat, []cohort.Bitmap{of(1, 1), of(2, 1), of(3, 1)}},
		{"one replaced, one removed, a day changed", after, []cohort.Bitmap{of(1, 1), of(2, 2)}},
	} {
		if diff := cmp.Diff(c.want, c.of.Histories("active")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if after.Has(of(2, 1), 2) || !after.Has(of(2, 2), 2) || !cat.Has(of(2, 1), 1) || len(before.SegmentsOf(of(2, 1))) > 0 {
		t.Error("a history is told to be where one of another print is")
	}
	for b := range after.All() {
		if b != day {
			t.Errorf("%v is among the data", b)
		}
	}
}

func TestMonthEnd(t *testing.T) {
	for day, want := range map[string]string{"20240201": "20240229", "20260228": "20260228", "20251231": "20251231", "20260415": "20260430"} {
		d, _ := cohort.ParseCompactDay(day)
		if got := d.MonthEnd().Compact(); got != want {
			t.Errorf("the month of %s ends on %s, want %s", day, got, want)
		}
	}
}

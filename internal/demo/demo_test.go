package demo_test

import (
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/demo"
)

// today is a Tuesday.
var today = cohort.DayOfDate(2026, time.December, 1)

type marks map[cohort.Bitmap]*roaring.Bitmap

func (m marks) on(metric string, d cohort.Day) *roaring.Bitmap {
	if b := m[cohort.DayOfMetric(metric, d)]; b != nil {
		return b
	}
	return roaring.New()
}

func (m marks) active(d cohort.Day) float64 { return float64(m.on(demo.Active, d).GetCardinality()) }

func TestTheProductLooksLikeARealOne(t *testing.T) {
	m := marks(demo.Marks(today, 0.5))
	yearAgo := today - 364
	tests := []struct {
		name      string
		part, all float64
		from, to  float64 // bounds of the part's share of all
	}{
		{"a Sunday has fewer visits than the Monday after", m.active(today - 9), m.active(today - 8), 0.4, 0.7},
		{"the last days of the year are quiet", m.active(cohort.DayOfDate(2025, time.December, 30)), m.active(cohort.DayOfDate(2025, time.December, 16)), 0.5, 0.85},
		{"it has grown in a year", m.active(yearAgo), m.active(today - 7), 0.02, 0.25},
		{"half of today is over", m.active(today), m.active(today - 7), 0.4, 0.6},
		{"most data of a Tuesday were lost", m.active(today - 49), m.active(today - 56), 0.1, 0.2},
		{"some have activated", float64(m[cohort.Flag(demo.Activated)].GetCardinality()), demo.Users, 0.3, 0.6},
		{"some of these never saw the feature", float64(roaring.AndNot(m[cohort.Flag(demo.Activated)], m[cohort.Flag(demo.Exposed)]).GetCardinality()), demo.Users, 0.05, 0.5},
		{"few activate on a day", float64(m.on(demo.ActivatedOn, today-7).GetCardinality()), m.active(today - 7), 0.005, 0.05},
		{"newcomers of a day stay for a month", returned(m, today-200, 30), 1, 0.08, 0.4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if share := tt.part / tt.all; !(share >= tt.from && share <= tt.to) {
				t.Errorf("%g of %g is %.3f, want %g to %g", tt.part, tt.all, share, tt.from, tt.to)
			}
		})
	}
}

// returned is the share of the users of one day who come on another, later by so many days.
func returned(m marks, d cohort.Day, after int) float64 {
	return float64(m.on(demo.Active, d).AndCardinality(m.on(demo.Active, d+cohort.Day(after)))) / m.active(d)
}

func TestOneDayFailedAndNoOther(t *testing.T) {
	m := marks(demo.Marks(today, 1))
	for d := today - demo.Days + 1; d <= today; d++ {
		empty, failed := m.active(d) == 0, d == today-20
		if empty != failed {
			t.Errorf("%s (%s): no data is %t", d, d.Weekday(), empty)
		}
	}
	if m.active(today+1)+m.active(today-demo.Days) != 0 {
		t.Error("there are visits before the first day or after today")
	}
}

func TestWhoSignsInIsActive(t *testing.T) {
	m := marks(demo.Marks(today, 1))
	for d := today - demo.Days + 1; d <= today; d++ {
		for _, metric := range []string{demo.SignedIn, demo.ActivatedOn} {
			if extra := roaring.AndNot(m.on(metric, d), m.on(demo.Active, d)); !extra.IsEmpty() {
				t.Fatalf("%s: %d users have %s without being active", d, extra.GetCardinality(), metric)
			}
		}
	}
}

func TestTheSameDayAndHourMakeTheSameData(t *testing.T) {
	first, second := demo.Marks(today, 0.25), demo.Marks(today, 0.25)
	if len(first) != len(second) {
		t.Fatalf("%d bitmaps, then %d", len(first), len(second))
	}
	for b, users := range first {
		if !users.Equals(second[b]) {
			t.Errorf("%v differs", b)
		}
	}
}

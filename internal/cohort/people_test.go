package cohort_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"bitboard/internal/cohort"
)

func TestLifecycleExprsNameThePeopleCounted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		of := drawHistories(r)
		calendar := cohort.Calendar{WeekStart: time.Monday}
		q := cohort.LifecycleQuestion{
			Metric: "s", Range: drawRange(r), Granularity: rapid.SampledFrom(granularities).Draw(r, "granularity"),
			AsOf: begin + cohort.Day(rapid.IntRange(0, 75).Draw(r, "as of")),
		}
		for _, p := range q.Answer(calendar, count(of, q.Sets(calendar), users)) {
			e := q.Exprs(calendar, p.Date)
			checkExpr(r, of, e.New, q.AsOf, p.New)
			checkExpr(r, of, e.Returning, q.AsOf, p.Returning)
			checkExpr(r, of, e.Resurrected, q.AsOf, p.Resurrected)
			checkExpr(r, of, e.Dormant, q.AsOf, p.Dormant)
		}
	})
}

func TestStickinessExprsNameThePeopleCounted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		of := drawHistories(r)
		calendar := cohort.Calendar{WeekStart: time.Monday}
		q := cohort.StickinessQuestion{
			Metric: "s", Range: drawRange(r), Granularity: rapid.SampledFrom(granularities).Draw(r, "granularity"),
			AsOf: begin + cohort.Day(rapid.IntRange(0, 75).Draw(r, "as of")),
		}
		for _, p := range q.Answer(calendar, count(of, q.Sets(calendar), users)) {
			for text, want := range map[string]int64{q.AtLeastExpr(calendar, p.Periods): p.AtLeast, q.ExactlyExpr(calendar, p.Periods): p.Exactly} {
				if text != "" {
					checkExpr(r, of, text, q.AsOf, want)
				}
			}
		}
	})
}

func TestStickinessExprsOfTwoMonthsOfWeeksAreThere(t *testing.T) {
	calendar := cohort.Calendar{WeekStart: time.Monday}
	from := cohort.DayOfDate(2026, time.January, 5)
	q := cohort.StickinessQuestion{Metric: "active", Range: cohort.Range{From: from, To: from + 55}, Granularity: cohort.Weekly, AsOf: from + 60}
	for k := 1; k <= 8; k++ {
		if q.AtLeastExpr(calendar, k) == "" || q.ExactlyExpr(calendar, k) == "" {
			t.Errorf("%d of 8 weeks cannot be said", k)
		}
	}
	q.Range.To, q.AsOf = from+7*52-1, from+400
	if text := q.AtLeastExpr(calendar, 26); text != "" {
		t.Errorf("26 of 52 weeks are said in %d bytes", len(text))
	}
}

func TestRecencyExprsNameThePeopleCounted(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		of := drawHistories(r)
		q := cohort.RecencyQuestion{Metric: "s", AsOf: begin + cohort.Day(rapid.IntRange(0, 120).Draw(r, "as of"))}
		exprs := q.Exprs(begin - 100)
		for i, p := range q.Answer(cohort.Calendar{}, count(of, q.Sets(cohort.Calendar{}), users)) {
			checkExpr(r, of, exprs[i], q.AsOf, p.Users)
		}
	})
}

package query_test

import (
	"testing"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
)

// save makes name a saved cohort, or another one than it was.
func (b *cacheBench) save(name, expr string) {
	b.t.Helper()
	err := b.store.ChangeCohort(b.t.Context(), name, func(all cohort.SavedCohorts) (*cohort.Saved, error) {
		c, err := all.CheckChange(workspace, week.To, cohort.Saved{Name: name, Expr: expr})
		return &c, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// size counts an expression, and says where the counts came from.
func (b *cacheBench) size(expr string) (count int64, from cells) {
	b.t.Helper()
	people, err := b.s.Parse(b.t.Context(), expr, week.To)
	if err != nil {
		b.t.Fatal(err)
	}
	o := query.Options{Now: later, Ledger: &query.Ledger{}}
	size, err := b.s.Size(b.t.Context(), people.Set, o)
	if err != nil {
		b.t.Fatal(err)
	}
	from.computed, from.cached = o.Ledger.Cells()
	return size.Value.Count, from
}

// TestAnEditedCohortNeverGivesAnOldCount keeps counts of a cohort, also within
// another and as a filter, and changes it.
func TestAnEditedCohortNeverGivesAnOldCount(t *testing.T) {
	b := newCacheBench(t)
	b.merge(day(week.From), 1, 2, 3)
	b.merge(day(week.From+1), 1, 2)
	first, second := "active@"+week.From.String(), "active@"+(week.From+1).String()
	b.save("some", first)
	b.save("outer", "cohort(some) & "+first)
	for _, step := range []struct {
		expr string
		save string
		want int64
		from cells
	}{
		{"cohort(some)", "", 3, cells{2, 0}},
		{"cohort(some)", "", 3, cells{0, 2}},
		{first, "", 3, cells{0, 2}}, // what it is called does not matter
		{"cohort(outer)", "", 3, cells{1, 1}},
		{"cohort(some)", second, 2, cells{1, 1}},
		{"cohort(outer)", second, 2, cells{1, 1}},
		{"cohort(some)", first, 3, cells{0, 2}},
		{"cohort(outer)", first, 3, cells{0, 2}},
	} {
		if step.save != "" {
			b.save("some", step.save)
		}
		if n, from := b.size(step.expr); n != step.want || from != step.from {
			t.Errorf("%s, with some = %q: %d, %+v; want %d, %+v", step.expr, step.save, n, from, step.want, step.from)
		}
	}
}

func TestAnEditedCohortNeverGivesAnOldReport(t *testing.T) {
	b := newCacheBench(t)
	b.merge(day(week.From), 1, 2, 3)
	b.merge(day(week.From+1), 1, 2)
	for _, step := range []struct {
		save string
		want int64
	}{{"active@" + week.From.String(), 3}, {"active@" + (week.From + 1).String(), 2}, {"!active@" + week.From.String(), 0}} {
		b.save("some", step.save)
		for range 2 {
			people, err := b.s.Parse(t.Context(), "cohort(some)", week.To)
			if err != nil {
				t.Fatal(err)
			}
			q := cohort.RetentionQuestion{
				Start: "active", Return: "active", Range: cohort.Range{From: week.From, To: week.From}, Periods: 3,
				Membership: cohort.AnyTime, AsOf: week.To, Filter: people.Set,
			}
			a, err := query.Ask(t.Context(), b.s, q, query.Options{Now: later.Add(time.Second)})
			if err != nil || a.Value.Rows[0].Size != step.want {
				t.Errorf("filtered by %s: %+v, %v; want a size of %d", step.save, a.Value.Rows, err, step.want)
			}
		}
	}
}

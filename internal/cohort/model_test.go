package cohort_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
)

// history is each user's days of one metric: the definitions are checked on
// it user by user, with no set algebra in between.
type history map[string]map[cohort.Day]bool

func (h history) onAny(user string, r cohort.Range) bool {
	for d := range h[user] {
		if r.Has(d) {
			return true
		}
	}
	return false
}

func (h history) first(user string) (cohort.Day, bool) {
	var days []cohort.Day
	for d := range h[user] {
		days = append(days, d)
	}
	if len(days) == 0 {
		return 0, false
	}
	return slices.Min(days), true
}

// holds decides membership in a set over metrics "s" and "r".
func holds(of map[string]history, s cohort.Set, user string) bool {
	in := func(s cohort.Set) bool { return holds(of, s, user) }
	switch s := s.(type) {
	case cohort.OnAny:
		return of[s.Metric].onAny(user, s.Days)
	case cohort.Intersection:
		return !slices.ContainsFunc(s.Of, func(s cohort.Set) bool { return !in(s) })
	case cohort.Union:
		return slices.ContainsFunc(s.Of, in)
	case cohort.Difference:
		return in(s.From) && !in(s.Without)
	case cohort.AtLeast:
		n := 0
		for _, s := range s.Of {
			if in(s) {
				n++
			}
		}
		return n >= s.K
	}
	return false
}

func count(of map[string]history, sets []cohort.Set, users []string) []int64 {
	counts := make([]int64, len(sets))
	for i, s := range sets {
		for _, u := range users {
			if holds(of, s, u) {
				counts[i]++
			}
		}
	}
	return counts
}

var (
	users = []string{"a", "b", "c", "d", "e"}
	begin = cohort.DayOfDate(2026, time.March, 1)
)

func drawHistories(r *rapid.T) map[string]history {
	of := map[string]history{"s": {}, "r": {}}
	for _, h := range of {
		for _, u := range users {
			h[u] = map[cohort.Day]bool{}
			for range rapid.IntRange(0, 8).Draw(r, "days") {
				h[u][begin+cohort.Day(rapid.IntRange(0, 69).Draw(r, "day"))] = true
			}
		}
	}
	return of
}

func drawRange(r *rapid.T) cohort.Range {
	a, b := rapid.IntRange(0, 69).Draw(r, "from"), rapid.IntRange(0, 69).Draw(r, "to")
	return cohort.Range{From: begin + cohort.Day(min(a, b)), To: begin + cohort.Day(max(a, b))}
}

var granularities = []cohort.Granularity{cohort.Daily, cohort.Weekly, cohort.Monthly}

// period returns the days of the n-th period after the one that holds d, cut
// at asOf, found by walking day by day.
func period(g cohort.Granularity, weekStart time.Weekday, d cohort.Day, n int, asOf cohort.Day) cohort.Range {
	begins := func(d cohort.Day) bool {
		_, _, day := d.Date()
		return g == cohort.Daily || g == cohort.Weekly && d.Weekday() == weekStart || g == cohort.Monthly && day == 1
	}
	for !begins(d) {
		d--
	}
	for ; n > 0; n-- {
		for d++; !begins(d); d++ {
		}
	}
	end := d + 1
	for !begins(end) {
		end++
	}
	return cohort.Range{From: d, To: min(end-1, asOf)}
}

func TestRetentionFollowsItsDefinition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		of := drawHistories(r)
		calendar := cohort.Calendar{WeekStart: rapid.SampledFrom([]time.Weekday{time.Monday, time.Sunday}).Draw(r, "week start")}
		q := cohort.RetentionQuestion{
			Start: "s", Return: rapid.SampledFrom([]string{"s", "r"}).Draw(r, "return"), Range: drawRange(r),
			Granularity: rapid.SampledFrom(granularities).Draw(r, "granularity"), Periods: rapid.IntRange(0, 5).Draw(r, "periods"),
			Membership: rapid.SampledFrom([]cohort.Membership{cohort.FirstTime, cohort.AnyTime}).Draw(r, "cohorts"),
			Returning:  rapid.SampledFrom([]cohort.Returning{cohort.OnPeriod, cohort.OnOrAfter, cohort.EveryPeriod}).Draw(r, "returning"),
			AsOf:       begin + cohort.Day(rapid.IntRange(0, 75).Draw(r, "as of")),
		}
		got := q.Answer(calendar, count(of, q.Sets(calendar), users))
		for _, row := range got.Rows {
			at := func(n int) cohort.Range { return period(q.Granularity, calendar.WeekStart, row.Date, n, q.AsOf) }
			var members []string
			for _, u := range users {
				first, ever := of["s"].first(u)
				if q.Membership == cohort.FirstTime && ever && at(0).Has(first) || q.Membership == cohort.AnyTime && of["s"].onAny(u, at(0)) {
					members = append(members, u)
				}
			}
			want := cohort.CohortRow{Date: row.Date, Size: int64(len(members))}
			for n := 0; n <= q.Periods && at(n).From <= q.AsOf; n++ {
				cell := cohort.Cell{Bracket: cohort.Bracket{From: n, To: n}, Complete: at(n+1).From <= q.AsOf}
				for _, u := range members {
					if cameBack(of[q.Return], u, q, n, at) {
						cell.Count++
					}
				}
				want.Cells = append(want.Cells, cell)
			}
			if diff := cmp.Diff(want, row); diff != "" {
				r.Fatalf("%+v (-want +got):\n%s", q, diff)
			}
			checkExpr(r, of, q.MembersExpr(calendar, row.Date), q.AsOf, row.Size)
			for _, cell := range row.Cells {
				checkExpr(r, of, q.CellExpr(calendar, row.Date, cell.Bracket), q.AsOf, cell.Count)
			}
		}
	})
}

// checkExpr checks that an expression names as many users as a report counts.
func checkExpr(r *rapid.T, of map[string]history, text string, asOf cohort.Day, want int64) {
	e, err := cohort.ParseExpr(text)
	if err != nil {
		r.Fatalf("%s: %v", text, err)
	}
	set, err := e.Resolve(cohort.Scope{AsOf: asOf, Workspace: cohort.Workspace{Metrics: []cohort.Metric{{Name: "s"}, {Name: "r"}}}})
	if err != nil {
		r.Fatalf("%s: %v", text, err)
	}
	if got := count(of, []cohort.Set{set}, users)[0]; got != want {
		r.Fatalf("%s names %d users, the report counts %d", text, got, want)
	}
}

func cameBack(h history, user string, q cohort.RetentionQuestion, n int, at func(int) cohort.Range) bool {
	switch q.Returning {
	case cohort.OnOrAfter:
		return h.onAny(user, cohort.Range{From: at(n).From, To: q.AsOf})
	case cohort.EveryPeriod:
		for i := 1; i <= n; i++ {
			if !h.onAny(user, at(i)) {
				return false
			}
		}
		return true
	}
	return h.onAny(user, at(n))
}

func TestLifecycleFollowsItsDefinition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		of := drawHistories(r)
		calendar := cohort.Calendar{WeekStart: time.Monday}
		q := cohort.LifecycleQuestion{
			Metric: "s", Range: drawRange(r), Granularity: rapid.SampledFrom(granularities).Draw(r, "granularity"),
			AsOf: begin + cohort.Day(rapid.IntRange(0, 75).Draw(r, "as of")),
		}
		for _, got := range q.Answer(calendar, count(of, q.Sets(calendar), users)) {
			now := period(q.Granularity, time.Monday, got.Date, 0, q.AsOf)
			before := period(q.Granularity, time.Monday, got.Date-1, 0, q.AsOf)
			want := cohort.LifecyclePoint{Date: got.Date, Complete: got.Complete}
			for _, u := range users {
				first, _ := of["s"].first(u)
				here, then := of["s"].onAny(u, now), of["s"].onAny(u, before)
				switch {
				case here && now.Has(first):
					want.New++
				case here && then:
					want.Returning++
				case here:
					want.Resurrected++
				case then:
					want.Dormant++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("%+v (-want +got):\n%s", q, diff)
			}
		}
	})
}

func TestStickinessSumsToTheUsersOfTheRange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		of := drawHistories(r)
		calendar := cohort.Calendar{WeekStart: time.Monday}
		q := cohort.StickinessQuestion{Metric: "s", Range: drawRange(r), Granularity: rapid.SampledFrom(granularities).Draw(r, "granularity"), AsOf: begin + 80}
		points := q.Answer(calendar, count(of, q.Sets(calendar), users))
		want := make([]int64, len(points))
		for _, u := range users {
			n := 0
			for d := calendar.Start(q.Granularity, q.Range.From); d <= q.Range.To; d = calendar.Add(q.Granularity, d, 1) {
				if of["s"].onAny(u, calendar.Period(q.Granularity, d)) {
					n++
				}
			}
			if n > 0 {
				want[n-1]++
			}
		}
		for i, p := range points {
			if p.Exactly != want[i] {
				r.Fatalf("%d users in exactly %d periods, want %d", p.Exactly, p.Periods, want[i])
			}
		}
	})
}

func TestAFilterAsksAboutItsMembersAlone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		of := drawHistories(r)
		calendar := cohort.Calendar{WeekStart: time.Monday}
		days, g, asOf := drawRange(r), rapid.SampledFrom(granularities).Draw(r, "granularity"), begin+cohort.Day(rapid.IntRange(0, 75).Draw(r, "as of"))
		filter := cohort.ActiveOn("r", drawRange(r), cohort.MaxDay)
		members := slices.DeleteFunc(slices.Clone(users), func(u string) bool { return !holds(of, filter, u) })
		sets := func(filter cohort.Set) [][]cohort.Set {
			return [][]cohort.Set{
				cohort.LifecycleQuestion{Metric: "s", Range: days, Granularity: g, Filter: filter, AsOf: asOf}.Sets(calendar),
				cohort.StickinessQuestion{Metric: "s", Range: days, Granularity: g, Filter: filter, AsOf: asOf}.Sets(calendar),
				cohort.RatioQuestion{Metric: "s", Range: days, Window: 7, Filter: filter, AsOf: asOf}.Sets(calendar),
				cohort.RecencyQuestion{Metric: "s", Filter: filter, AsOf: asOf}.Sets(calendar),
			}
		}
		all := sets(nil)
		for i, narrowed := range sets(filter) {
			if diff := cmp.Diff(count(of, all[i], members), count(of, narrowed, users)); diff != "" {
				r.Fatalf("question %d (-members alone +filter):\n%s", i, diff)
			}
		}
	})
}

func TestStreaksFollowTheirDefinition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var days []cohort.Day
		for d := range cohort.Day(30) {
			if rapid.IntRange(0, 2).Draw(r, "marked") > 0 {
				days = append(days, begin+d)
			}
		}
		asOf := begin + cohort.Day(rapid.IntRange(-2, 33).Draw(r, "as of"))
		marked := func(d cohort.Day) bool { return d <= asOf && slices.Contains(days, d) }
		runTo := func(d cohort.Day) int {
			n := 0
			for ; marked(d); d-- {
				n++
			}
			return n
		}
		var want cohort.Streak
		for d := begin; d <= asOf; d++ {
			if marked(d) {
				if want.Total == 0 {
					want.First = d
				}
				want.Total++
				want.Last = d
			}
			if run := runTo(d); run > 0 && run >= want.Longest {
				want.Longest, want.LongestEnd = run, d
			}
		}
		if want.Current = runTo(asOf); !marked(asOf) {
			want.Current = runTo(asOf - 1)
		}
		if diff := cmp.Diff(want, cohort.StreakOf(days, asOf)); diff != "" {
			r.Fatalf("as of %s (-want +got):\n%s", asOf, diff)
		}
	})
}

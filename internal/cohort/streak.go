package cohort

import (
	"cmp"
	"slices"
)

// Streak sums up one user's days of one metric, over all history up to as_of.
type Streak struct {
	Total int
	// Current is the run that ends on as_of or, while as_of has no mark, on
	// the day before.
	Current int
	// Longest is the longest run of consecutive days, LongestEnd the last day of
	// the latest such run; it is meaningless when Total is 0.
	Longest    int
	LongestEnd Day
	// First and Last are meaningless when Total is 0.
	First, Last Day
}

// StreakOf sums up ascending days, leaving out those after asOf.
func StreakOf(days []Day, asOf Day) Streak {
	var s Streak
	run := 0
	for _, d := range days {
		if d > asOf {
			break
		}
		if s.Total == 0 {
			s.First = d
		}
		if s.Total > 0 && d == s.Last+1 {
			run++
		} else {
			run = 1
		}
		s.Total++
		s.Last = d
		if run >= s.Longest {
			s.Longest, s.LongestEnd = run, d
		}
	}
	if s.Total > 0 && s.Last >= asOf-1 {
		s.Current = run
	}
	return s
}

// Gap is a run of days without a mark, between two marks or after the last one.
type Gap struct {
	Range
	// NoData is how many of the days have no data at all, so that nobody can tell
	// whether the user came.
	NoData int
}

// LongestGaps returns the longest runs of at least so many days on which a user did
// not come, the longest first, the later of two alike; at most so many of them. Days
// are the user's, ascending, stored those that have data. What comes before the first
// day, and asOf itself, which is not over, are no gap.
func LongestGaps(days, stored []Day, asOf Day, least, most int) []Gap {
	var gaps []Gap
	add := func(r Range) {
		if r.Len() >= least {
			gaps = append(gaps, Gap{r, r.Len() - within(stored, r)})
		}
	}
	for i, d := range days {
		switch {
		case i+1 < len(days) && days[i+1] <= asOf:
			add(Range{From: d + 1, To: days[i+1] - 1})
		case d < asOf:
			add(Range{From: d + 1, To: asOf - 1})
		}
	}
	slices.SortStableFunc(gaps, func(a, b Gap) int { return cmp.Or(b.Len()-a.Len(), int(b.From-a.From)) })
	return gaps[:min(most, len(gaps))]
}

// within counts the days of a range among ascending days.
func within(days []Day, r Range) int {
	from, _ := slices.BinarySearch(days, r.From)
	to, _ := slices.BinarySearch(days, r.To+1)
	return to - from
}

// CalendarQuestion asks on which days of a range one user had a metric.
type CalendarQuestion struct {
	UserID string
	Metric string
	Range  Range
	AsOf   Day
}

// The absences that a calendar names.
const (
	// LeastGap is the length from which an absence is named, in days.
	LeastGap = 7
	// GapsNamed is how many are, at most.
	GapsNamed = 5
)

// CalendarAnswer is one user's days in the range, ascending, and the streaks
// over all history.
type CalendarAnswer struct {
	Days    []Day
	Suspect map[Day]Suspicion
	Streak  Streak
	// Gaps are the longest absences over all history, the longest first.
	Gaps []Gap
	// Since is the first day of what is kept; HasSince is false when all is.
	Since    Day
	HasSince bool
}

// Check reports the first thing that is wrong with the question.
func (q CalendarQuestion) Check(w Workspace) error {
	if _, err := w.CalendarMetric("metric", q.Metric); err != nil {
		return err
	}
	return q.Range.Check()
}

// KeptSince returns the first day that is still kept on asOf; ok is false for a
// metric that keeps all its days.
func (m Metric) KeptSince(asOf Day) (since Day, ok bool) {
	return asOf - Day(m.Keep), m.Keep > 0
}

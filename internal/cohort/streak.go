package cohort

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

// CalendarQuestion asks on which days of a range one user had a metric.
type CalendarQuestion struct {
	UserID string
	Metric string
	Range  Range
	AsOf   Day
}

// CalendarAnswer is one user's days in the range, ascending, and the streaks
// over all history.
type CalendarAnswer struct {
	Days    []Day
	Suspect map[Day]Suspicion
	Streak  Streak
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

package cohort

import "bitboard/internal/fault"

// StickinessQuestion asks in how many periods of a range each user had a metric.
type StickinessQuestion struct {
	Metric      string
	Range       Range
	Granularity Granularity
	// Filter keeps only its members; nil keeps all.
	Filter Set
	AsOf   Day
}

// StickinessPoint is the users active in a number of periods.
type StickinessPoint struct {
	Periods int
	// Exactly is the users active in so many periods, AtLeast in so many or more.
	Exactly, AtLeast int64
}

// Check reports the first thing that is wrong with the question.
func (q StickinessQuestion) Check(w Workspace) error {
	if _, err := w.DailyMetric("metric", q.Metric); err != nil {
		return err
	}
	return q.Range.Check()
}

// Sets returns what is to be counted: the users active in k or more of the
// periods, for k from 1 up.
func (q StickinessQuestion) Sets(c Calendar) []Set {
	var periods []Set
	for _, start := range c.Periods(q.Granularity, q.Range, q.AsOf) {
		periods = append(periods, ActiveOn(q.Metric, c.Period(q.Granularity, start), q.AsOf))
	}
	sets := make([]Set, len(periods))
	for i := range sets {
		sets[i] = Both(AtLeast{i + 1, periods}, q.Filter)
	}
	return sets
}

// Answer makes the distribution from the counts of Sets.
func (q StickinessQuestion) Answer(_ Calendar, counts []int64) []StickinessPoint {
	points := make([]StickinessPoint, len(counts))
	for i, n := range counts {
		points[i] = StickinessPoint{Periods: i + 1, Exactly: n, AtLeast: n}
		if i+1 < len(counts) {
			points[i].Exactly -= counts[i+1]
		}
	}
	return points
}

// RatioQuestion asks for the stickiness ratio DAU / MAU of each day.
type RatioQuestion struct {
	Metric string
	Range  Range
	// Window is the days of the MAU.
	Window int
	// Filter keeps only its members; nil keeps all.
	Filter Set
	AsOf   Day
}

// RatioPoint is one day; the ratio is undefined when MAU is 0.
type RatioPoint struct {
	Date     Day
	DAU, MAU int64
	Complete bool
}

// Check reports the first thing that is wrong with the question.
func (q RatioQuestion) Check(w Workspace) error {
	return q.active(q.Window).Check(w)
}

func (q RatioQuestion) active(window int) ActiveQuestion {
	return ActiveQuestion{Metric: q.Metric, Range: q.Range, Window: window, Filter: q.Filter, AsOf: q.AsOf}
}

// Sets returns what is to be counted: the days, then the windows.
func (q RatioQuestion) Sets(c Calendar) []Set {
	return append(q.active(1).Sets(c), q.active(q.Window).Sets(c)...)
}

// Answer makes the points from the counts of Sets.
func (q RatioQuestion) Answer(c Calendar, counts []int64) []RatioPoint {
	days := q.active(1).Answer(c, counts)
	points := make([]RatioPoint, len(days))
	for i, d := range days {
		points[i] = RatioPoint{d.Date, d.Count, counts[len(days)+i], d.Complete}
	}
	return points
}

// Ratio returns DAU / MAU; ok is false when MAU is 0.
func (p RatioPoint) Ratio() (rate float64, ok bool) {
	if p.MAU == 0 {
		return 0, false
	}
	return float64(p.DAU) / float64(p.MAU), true
}

// recencyEnds are the last days of the recency groups but the open one.
var recencyEnds = []int{7, 14, 30, 60}

// recencyNames are the groups' names.
var recencyNames = []string{"0-7", "8-14", "15-30", "31-60", "61+"}

// RecencyQuestion asks how long ago users last had a metric.
type RecencyQuestion struct {
	Metric string
	// Filter keeps only its members; nil keeps all.
	Filter Set
	AsOf   Day
}

// RecencyPoint is the users whose last day is so many days before as_of.
type RecencyPoint struct {
	Days  string
	Users int64
}

// Check reports the first thing that is wrong with the question.
func (q RecencyQuestion) Check(w Workspace) error {
	if _, err := w.DailyMetric("metric", q.Metric); err != nil {
		return err
	}
	if q.AsOf < MinDay+Day(recencyEnds[len(recencyEnds)-1]) {
		return fault.Invalid("bad_date", "as_of", "%s is too early", q.AsOf)
	}
	return nil
}

// Sets returns what is to be counted: the users active within each end, then
// those active ever.
func (q RecencyQuestion) Sets(Calendar) []Set {
	var sets []Set
	for _, end := range recencyEnds {
		sets = append(sets, Both(ActiveOn(q.Metric, Range{q.AsOf - Day(end), q.AsOf}, q.AsOf), q.Filter))
	}
	return append(sets, Both(ActiveOn(q.Metric, Range{MinDay, q.AsOf}, q.AsOf), q.Filter))
}

// Answer makes the points from the counts of Sets.
func (q RecencyQuestion) Answer(_ Calendar, counts []int64) []RecencyPoint {
	points := make([]RecencyPoint, len(counts))
	within := int64(0)
	for i, n := range counts {
		points[i] = RecencyPoint{recencyNames[i], n - within}
		within = n
	}
	return points
}

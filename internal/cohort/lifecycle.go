package cohort

// LifecycleQuestion asks how the users of each period divide into new,
// returning and resurrected ones, and how many left.
type LifecycleQuestion struct {
	Metric      string
	Range       Range
	Granularity Granularity
	// Filter keeps only its members; nil keeps all.
	Filter Set
	AsOf   Day
}

// LifecyclePoint is one period. New + Returning + Resurrected is the users of
// the period; Dormant + Returning is those of the period before.
type LifecyclePoint struct {
	Date                                 Day
	New, Returning, Resurrected, Dormant int64
	Complete                             bool
}

// Check reports the first thing that is wrong with the question.
func (q LifecycleQuestion) Check(w Workspace) error {
	if _, err := w.DailyMetric("metric", q.Metric); err != nil {
		return err
	}
	return q.Range.Check()
}

// lifecycleCounts is how many sets Sets returns for each period.
const lifecycleCounts = 4

// Sets returns what is to be counted: for each period its users, those of the
// period before, those in both, and the new ones.
func (q LifecycleQuestion) Sets(c Calendar) []Set {
	var sets []Set
	for _, start := range c.Periods(q.Granularity, q.Range, q.AsOf) {
		period := c.Period(q.Granularity, start)
		users := ActiveOn(q.Metric, period, q.AsOf)
		before := ActiveOn(q.Metric, Range{c.Add(q.Granularity, start, -1), start - 1}, q.AsOf)
		for _, set := range []Set{users, before, Both(users, before), FirstOn(q.Metric, period, q.AsOf)} {
			sets = append(sets, Both(set, q.Filter))
		}
	}
	return sets
}

// Answer makes the points from the counts of Sets.
func (q LifecycleQuestion) Answer(c Calendar, counts []int64) []LifecyclePoint {
	starts := c.Periods(q.Granularity, q.Range, q.AsOf)
	points := make([]LifecyclePoint, len(starts))
	for i, s := range starts {
		users, before, both, first := counts[0], counts[1], counts[2], counts[3]
		points[i] = LifecyclePoint{
			Date: s, New: first, Returning: both,
			Resurrected: users - both - first, Dormant: before - both,
			Complete: c.Period(q.Granularity, s).Complete(q.AsOf),
		}
		counts = counts[lifecycleCounts:]
	}
	return points
}

// Pulse returns (new + resurrected) / dormant; ok is false when nobody left.
func (p LifecyclePoint) Pulse() (rate float64, ok bool) {
	if p.Dormant == 0 {
		return 0, false
	}
	return float64(p.New+p.Resurrected) / float64(p.Dormant), true
}

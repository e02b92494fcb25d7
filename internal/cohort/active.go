package cohort

import (
	"strconv"

	"bitboard/internal/fault"
)

// Limits of the questions.
const (
	// MaxRangeDays is the longest range of a question.
	MaxRangeDays = 36_600
	// MaxWindow is the longest trailing window, in days.
	MaxWindow = 366
	// MaxPeriods is the highest retention period.
	MaxPeriods = 366
	// MaxCells is the most cells of a retention table.
	MaxCells = 500_000
)

// Point is the number of people of one period.
type Point struct {
	// Date is the first day of the period, or the day on which a window ends.
	Date     Day
	Count    int64
	Complete bool
	// Suspect says why the number may be too low; empty when nothing is known.
	Suspect Suspicion
}

// ActiveQuestion asks how many people had a metric: on each day, in a window
// that ends on each day, or in each week or month.
type ActiveQuestion struct {
	Metric      string
	Range       Range
	Granularity Granularity
	// Window is in days, at least 1; more than 1 only with Daily.
	Window int
	// Filter keeps only its members; nil keeps all.
	Filter Set
	AsOf   Day
}

// Check reports the first thing that is wrong with the question.
func (q ActiveQuestion) Check(w Workspace) error {
	if _, err := w.DailyMetric("metric", q.Metric); err != nil {
		return err
	}
	if q.Window < 1 || q.Window > MaxWindow {
		return fault.Invalid("bad_value", "window", "a window of %d days is out of range; 1 to %d is accepted", q.Window, MaxWindow).
			Say("wrong.number", "given", strconv.Itoa(q.Window), "from", "1", "to", strconv.Itoa(MaxWindow))
	}
	if q.Window > 1 && q.Granularity != Daily {
		return fault.Invalid("bad_value", "window", "a window of %d days goes with granularity day only, not %s", q.Window, q.Granularity)
	}
	return q.Range.Check()
}

// Check reports a range that ends before it begins or is too long.
func (r Range) Check() error {
	if r.To < r.From {
		return fault.Invalid("reversed_range", "to", "the range %s to %s ends before it begins", r.From, r.To).Say("wrong.reversed", "from", r.From.String(), "to", r.To.String())
	}
	if r.Len() > MaxRangeDays {
		return fault.Invalid("range_too_long", "to", "the range %s to %s has %d days; at most %d are accepted", r.From, r.To, r.Len(), MaxRangeDays).
			Say("wrong.long_range", "days", strconv.Itoa(r.Len()), "most", strconv.Itoa(MaxRangeDays))
	}
	return nil
}

// Spans returns the days that each point of the answer is about.
func (q ActiveQuestion) Spans(c Calendar) []Range {
	starts := c.Periods(q.Granularity, q.Range, q.AsOf)
	spans := make([]Range, len(starts))
	for i, s := range starts {
		spans[i] = c.Period(q.Granularity, s)
		if q.Granularity == Daily {
			spans[i].From = s - Day(q.Window-1)
		}
	}
	return spans
}

// Sets returns what is to be counted, a set a point.
func (q ActiveQuestion) Sets(c Calendar) []Set {
	var sets []Set
	for _, span := range q.Spans(c) {
		sets = append(sets, Both(ActiveOn(q.Metric, span, q.AsOf), q.Filter))
	}
	return sets
}

// Answer makes the points from the counts of Sets.
func (q ActiveQuestion) Answer(c Calendar, counts []int64) []Point {
	starts := c.Periods(q.Granularity, q.Range, q.AsOf)
	points := make([]Point, len(starts))
	for i, s := range starts {
		points[i] = Point{Date: s, Count: counts[i], Complete: c.Period(q.Granularity, s).Complete(q.AsOf)}
	}
	return points
}

// Expr writes the people of one of the Spans as a set expression, without the filter.
func (q ActiveQuestion) Expr(span Range) string { return onDays(q.Metric, span) }

package cohort

import "slices"

// Suspicion says why a day's number may be too low. No answer is changed by it.
type Suspicion string

// The suspicions. The empty one means that nothing speaks against a day.
const (
	// Missing is a day with neither a bitmap nor an empty-day marker.
	Missing Suspicion = "missing"
	// HalfReplaced is a day of which a replacement was begun and cannot be
	// finished: some segments hold the new users, some the old.
	HalfReplaced Suspicion = "half_replaced"
	// MissingSegment is a day without a segment that both its neighbours have.
	MissingSegment Suspicion = "missing_segment"
	// Low is a day with under a quarter of the median of its weekday in the
	// four weeks before.
	Low Suspicion = "low"
	// Evicted is any other day while the store has removed keys by itself:
	// nobody can tell which.
	Evicted Suspicion = "evicted"
)

const (
	// lowWeeks is how many weeks before a day its count is compared with.
	lowWeeks = 4
	// lowNeeded is how many of them must have data.
	lowNeeded = 3
	// LookBack is how many days before a range Suspects needs counts of.
	LookBack = 7 * lowWeeks
)

// Suspects judges the days of r that lie between a metric's first day and the
// day before asOf. The counts are those of the days from LookBack days before
// r to its end that have a bitmap or a marker.
func Suspects(cat *Catalogue, metric string, r Range, asOf Day, counts map[Day]int64) map[Day]Suspicion {
	found := map[Day]Suspicion{}
	span, ok := cat.Span(metric)
	if !ok {
		return found
	}
	for d := max(r.From, span.From); d <= min(r.To, asOf-1); d++ {
		n, there := counts[d]
		switch {
		case !there:
			found[d] = Missing
		case cat.doubts.HalfReplaced[DayOfMetric(metric, d)]:
			found[d] = HalfReplaced
		case lacksSegment(cat, metric, d):
			found[d] = MissingSegment
		case isLow(n, d, counts):
			found[d] = Low
		case cat.doubts.Evicted:
			found[d] = Evicted
		}
	}
	return found
}

func lacksSegment(cat *Catalogue, metric string, d Day) bool {
	after := cat.SegmentsOf(DayOfMetric(metric, d+1))
	for _, s := range cat.SegmentsOf(DayOfMetric(metric, d-1)) {
		if _, both := slices.BinarySearch(after, s); both && !cat.Has(DayOfMetric(metric, d), s) {
			return true
		}
	}
	return false
}

func isLow(n int64, d Day, counts map[Day]int64) bool {
	var before []int64
	for week := 1; week <= lowWeeks; week++ {
		if c, there := counts[d-Day(7*week)]; there {
			before = append(before, c)
		}
	}
	if len(before) < lowNeeded {
		return false
	}
	slices.Sort(before)
	mid := len(before) / 2
	twiceMedian := 2 * before[mid]
	if len(before)%2 == 0 {
		twiceMedian = before[mid-1] + before[mid]
	}
	return 8*n < twiceMedian // n < median / 4
}

// SuspectIn returns the first suspicion about a day of r.
func SuspectIn(found map[Day]Suspicion, r Range) Suspicion {
	if len(found) == 0 {
		return ""
	}
	for d := r.From; d <= r.To; d++ {
		if s := found[d]; s != "" {
			return s
		}
	}
	return ""
}

package query

import (
	"slices"

	"bitboard/internal/cohort"
)

// nestedRanges is the ranges of days that a question unites, so that unions
// of nested ranges are built one from another: those that begin with history
// grow at their end, those that end on the same day grow at their start.
type nestedRanges struct {
	ends   map[string][]cohort.Day // of the ranges from MinDay, ascending
	starts map[endKey][]cohort.Day // of the ranges with one end, ascending
	seen   map[cohort.OnAny]bool
}

type endKey struct {
	metric string
	end    cohort.Day
}

func findNested(sets []cohort.Set) nestedRanges {
	n := nestedRanges{map[string][]cohort.Day{}, map[endKey][]cohort.Day{}, map[cohort.OnAny]bool{}}
	n.collect(sets...)
	for _, days := range n.ends {
		slices.Sort(days)
	}
	for _, days := range n.starts {
		slices.Sort(days)
	}
	return n
}

func (n nestedRanges) collect(sets ...cohort.Set) {
	for _, s := range sets {
		switch s := s.(type) {
		case cohort.OnAny:
			n.note(s)
		case cohort.Union:
			n.collect(s.Of...)
		case cohort.Intersection:
			n.collect(s.Of...)
		case cohort.AtLeast:
			n.collect(s.Of...)
		case cohort.Difference:
			n.collect(s.From, s.Without)
		}
	}
}

func (n nestedRanges) note(s cohort.OnAny) {
	if n.seen[s] {
		return
	}
	n.seen[s] = true
	if s.Days.From == cohort.MinDay {
		n.ends[s.Metric] = append(n.ends[s.Metric], s.Days.To)
		return
	}
	k := endKey{s.Metric, s.Days.To}
	n.starts[k] = append(n.starts[k], s.Days.From)
}

// onAny returns the union of a metric's existing days in a range.
func (g *graph) onAny(s cohort.OnAny) nodeID {
	union := nothing
	if s.Days.From == cohort.MinDay {
		from := s.Days.From
		for _, end := range g.nested.ends[s.Metric] {
			if end > s.Days.To {
				break
			}
			union = g.unite(union, s.Metric, cohort.Range{From: from, To: end})
			from = end + 1
		}
		return union
	}
	to := s.Days.To
	for _, start := range slices.Backward(g.nested.starts[endKey{s.Metric, to}]) {
		if start < s.Days.From {
			break
		}
		union = g.unite(union, s.Metric, cohort.Range{From: start, To: to})
		to = start - 1
	}
	return union
}

// unite adds the existing days of r to a union.
func (g *graph) unite(union nodeID, metric string, r cohort.Range) nodeID {
	ids := []nodeID{union}
	for _, d := range g.cat.Days(metric, r) {
		ids = append(ids, g.leaf(cohort.DayOfMetric(metric, d)))
	}
	return g.or(ids...)
}

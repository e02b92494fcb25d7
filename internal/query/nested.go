package query

import (
	"slices"

	"bitboard/internal/cohort"
)

// nestedRanges is the ranges of days that a question unites, so that unions
// of nested ranges are built one from another: those that begin with history,
// or with a block of sliding windows, grow at their end, all others at their
// start.
type nestedRanges struct {
	ends    map[rangeEnd][]cohort.Day // of the ranges that grow at their end, by their start, ascending
	starts  map[rangeEnd][]cohort.Day // of the others, by their end, ascending
	atEnd   map[cohort.OnAny]bool     // by range: it grows at its end
	seen    map[cohort.OnAny]bool
	lists   map[*cohort.Set]bool // by their first set: lists that were collected
	sliding map[cohort.OnAny]cohort.Day
}

// rangeEnd is the first or the last day of ranges of a metric.
type rangeEnd struct {
	metric string
	day    cohort.Day
}

func findNested(sets []cohort.Set) nestedRanges {
	n := nestedRanges{
		map[rangeEnd][]cohort.Day{}, map[rangeEnd][]cohort.Day{}, map[cohort.OnAny]bool{},
		map[cohort.OnAny]bool{}, map[*cohort.Set]bool{}, map[cohort.OnAny]cohort.Day{},
	}
	n.collect(sets...)
	n.findSliding()
	for s := range n.seen {
		n.note(s)
	}
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
			n.seen[s] = true
		case cohort.Union:
			n.collectOnce(s.Of)
		case cohort.Intersection:
			n.collectOnce(s.Of)
		case cohort.AtLeast:
			n.collectOnce(s.Of)
		case cohort.Difference:
			n.collect(s.From, s.Without)
		}
	}
}

// collectOnce collects a list of sets, which many sets of a question may share.
func (n nestedRanges) collectOnce(of []cohort.Set) {
	if len(of) > 0 && !n.lists[&of[0]] {
		n.lists[&of[0]] = true
		n.collect(of...)
	}
}

// note enters a range, or the two parts of a sliding one, into the tables.
func (n nestedRanges) note(s cohort.OnAny) {
	switch _, slides := n.sliding[s]; {
	case slides:
	case n.atEnd[s] || s.Days.From <= cohort.MinDay:
		n.atEnd[s] = true
		k := rangeEnd{s.Metric, s.Days.From}
		n.ends[k] = append(n.ends[k], s.Days.To)
	default:
		k := rangeEnd{s.Metric, s.Days.To}
		n.starts[k] = append(n.starts[k], s.Days.From)
	}
}

// inner returns the widest of the ranges nested in s, and the days of s that
// are not in it; ok is false when there is none, and then rest is all of s.
func (n nestedRanges) inner(s cohort.OnAny) (inner cohort.OnAny, rest cohort.Range, ok bool) {
	inner, rest = s, s.Days
	if n.atEnd[s] {
		ends := n.ends[rangeEnd{s.Metric, s.Days.From}]
		if i, _ := slices.BinarySearch(ends, s.Days.To); i > 0 {
			inner.Days.To = ends[i-1]
			rest.From = ends[i-1] + 1
			return inner, rest, true
		}
		return inner, rest, false
	}
	starts := n.starts[rangeEnd{s.Metric, s.Days.To}]
	if i, _ := slices.BinarySearch(starts, s.Days.From); i+1 < len(starts) {
		inner.Days.From = starts[i+1]
		rest.To = starts[i+1] - 1
		return inner, rest, true
	}
	return inner, rest, false
}

// onAny returns the union of a metric's existing days in a range: that of the
// range nested in it, or the history that is longer, and the days that are left.
func (g *graph) onAny(s cohort.OnAny) nodeID {
	if head, tail, slides := g.nested.halves(s); slides {
		return g.or(g.onAny(head), g.onAny(tail))
	}
	union := nothing
	var wider []cohort.OnAny // still to be united, the widest first
	var rests []cohort.Range
	for {
		id, ok := g.unions[s]
		if ok {
			union = id
			break
		}
		inner, rest, nested := g.nested.inner(s)
		history, known := g.history(s)
		if known = known && (!nested || inner.Days.To < history.Day); known {
			rest.From, union = history.Day+1, g.leaf(history)
		}
		wider, rests = append(wider, s), append(rests, rest)
		if known || !nested {
			break
		}
		s = inner
	}
	for i, w := range slices.Backward(wider) {
		union = g.unite(union, w.Metric, rests[i])
		g.unions[w] = union
	}
	return union
}

// history returns the longest history that lies in a range of all days before one.
func (g *graph) history(s cohort.OnAny) (h cohort.Bitmap, ok bool) {
	if s.Days.From > cohort.MinDay {
		return h, false
	}
	return g.past.latest(s)
}

// unite adds the existing days of r to a union.
func (g *graph) unite(union nodeID, metric string, r cohort.Range) nodeID {
	ids := []nodeID{union}
	for _, d := range g.cat.Days(metric, r) {
		ids = append(ids, g.leaf(cohort.DayOfMetric(metric, d)))
	}
	return g.or(ids...)
}

package cohort

import (
	"strconv"
	"strings"
)

// LifecycleExprs are the people of one period as set expressions.
type LifecycleExprs struct{ New, Returning, Resurrected, Dormant string }

// Exprs writes the people of the period that starts at start, without the filter.
func (q LifecycleQuestion) Exprs(c Calendar, start Day) LifecycleExprs {
	now := onDays(q.Metric, c.Period(q.Granularity, start))
	before := onDays(q.Metric, Range{c.Add(q.Granularity, start, -1), start - 1})
	return LifecycleExprs{
		New:         "first(" + now + ")",
		Returning:   now + " & " + before,
		Resurrected: now + " - " + before + " - first(" + now + ")",
		Dormant:     before + " - " + now,
	}
}

// maxPeriodsExpr is the longest expression, in bytes, that says in how many
// weeks or months somebody was active. Such expressions grow fast.
const maxPeriodsExpr = 2_000

// AtLeastExpr writes the people active in k or more of the periods of the
// question, from 1 to their number, without the filter. It is empty when the
// expression would be too long: it counts days by itself, but weeks and months
// only by naming them.
func (q StickinessQuestion) AtLeastExpr(c Calendar, k int) string {
	starts := c.Periods(q.Granularity, q.Range, q.AsOf)
	if q.Granularity == Daily {
		return counted("atleast", k, q.Metric, starts)
	}
	return q.periods(c, starts).atLeast(k).short()
}

// ExactlyExpr writes the people active in exactly k of the periods, or nothing
// as AtLeastExpr does.
func (q StickinessQuestion) ExactlyExpr(c Calendar, k int) string {
	starts := c.Periods(q.Granularity, q.Range, q.AsOf)
	if q.Granularity == Daily {
		return counted("exactly", k, q.Metric, starts)
	}
	p := q.periods(c, starts)
	if k == len(p.spans) {
		return p.atLeast(k).short()
	}
	more, all := p.atLeast(k), p.atLeast(k+1)
	if more.short() == "" || all.short() == "" {
		return ""
	}
	return more.within(minusLevel) + " - " + all.within(andLevel)
}

// counted writes a call that counts the days in a row that starts names.
func counted(call string, k int, metric string, starts []Day) string {
	return call + "(" + strconv.Itoa(k) + ", " + onDays(metric, Range{starts[0], starts[len(starts)-1]}) + ")"
}

func (q StickinessQuestion) periods(c Calendar, starts []Day) periodRow {
	row := periodRow{metric: q.Metric}
	for _, s := range starts {
		row.spans = append(row.spans, c.Period(q.Granularity, s))
	}
	return row
}

// periodRow is consecutive periods.
type periodRow struct {
	metric string
	spans  []Range
}

// written is an expression and the level of its loosest operator. Empty text
// is an expression that grew too long.
type written struct {
	text  string
	level int
}

// within returns the text as an operand at a level.
func (w written) within(level int) string {
	if w.level < level {
		return "(" + w.text + ")"
	}
	return w.text
}

func (w written) short() string {
	if len(w.text) > maxPeriodsExpr {
		return ""
	}
	return w.text
}

// atLeast writes who was active in k or more of the periods. It divides them
// into halves, so that the text grows less than with all combinations of k.
func (p periodRow) atLeast(k int) written {
	n := len(p.spans)
	if k == 1 { // the periods follow each other, so that one range holds them
		return written{onDays(p.metric, Range{p.spans[0].From, p.spans[n-1].To}), unaryLevel}
	}
	left, right := periodRow{p.metric, p.spans[:n/2]}, periodRow{p.metric, p.spans[n/2:]}
	var parts []string
	level := andLevel
	for i := max(0, k-len(right.spans)); i <= min(k, len(left.spans)); i++ {
		part := joined(left, i, right, k-i)
		if part.short() == "" {
			return written{}
		}
		parts, level = append(parts, part.within(andLevel)), min(level, part.level)
	}
	if len(parts) > 1 {
		level = unionLevel
	}
	return written{strings.Join(parts, " | "), level}
}

// joined writes who was active in i or more of the one and j or more of the other.
func joined(left periodRow, i int, right periodRow, j int) written {
	switch {
	case i == 0:
		return right.atLeast(j)
	case j == 0:
		return left.atLeast(i)
	}
	a, b := left.atLeast(i), right.atLeast(j)
	if a.short() == "" || b.short() == "" {
		return written{}
	}
	return written{a.within(andLevel) + " & " + b.within(andLevel), andLevel}
}

// Exprs writes the people of each of the answer's groups, without the filter.
// First is the first day of the metric: an expression has no word for all days.
func (q RecencyQuestion) Exprs(first Day) []string {
	exprs := make([]string, len(recencyNames))
	var within string
	for i := range exprs {
		from := min(first, q.AsOf-Day(q.nearest(i)))
		if i < len(recencyEnds) {
			from = q.AsOf - Day(recencyEnds[i])
		}
		exprs[i] = onDays(q.Metric, Range{from, q.AsOf - Day(q.nearest(i))})
		if i > 0 {
			exprs[i] += " - " + within
		}
		within = onDays(q.Metric, Range{from, q.AsOf})
	}
	return exprs
}

// nearest returns how many days before as_of the group i ends.
func (q RecencyQuestion) nearest(i int) int {
	if i == 0 {
		return 0
	}
	return recencyEnds[i-1] + 1
}

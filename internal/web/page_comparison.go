package web

import (
	"net/url"

	"bitboard/internal/cohort"
	"bitboard/views"
	"bitboard/views/text"
	"bitboard/views/ui"
)

// compareParam chooses the earlier days that a page's are compared with.
const compareParam = "compare"

// comparison is the earlier days that a metric's are compared with.
type comparison struct {
	kind  cohort.Comparison // empty for none
	shift cohort.Day        // by which they are earlier
	first cohort.Day        // of the metric's data
}

// comparison reads what a page's days are compared with.
func (p *params) comparison() cohort.Comparison {
	k, err := cohort.ParseComparison(compareParam, p.text(compareParam))
	p.fail(err)
	return k
}

// offer puts the comparisons that there are into a range picker.
func (p *params) offer(v *views.RangePicker, u *url.URL, chosen cohort.Comparison) {
	v.Compared = string(chosen)
	for _, k := range append([]cohort.Comparison{""}, cohort.Comparisons()...) {
		v.Comparisons = append(v.Comparisons, ui.Choice{
			Label: comparisonKind(p.printer, k), URL: withParams(u, compareParam, string(k)), Current: k == chosen,
		})
	}
}

// comparison returns what a metric's days are compared with.
func (s *server) comparison(cat *cohort.Catalogue, k cohort.Comparison, metric string, days cohort.Range) comparison {
	c := comparison{kind: k, first: cohort.MaxDay}
	if k != "" {
		c.shift = cohort.Day(s.workspace.Calendar.Shift(cohort.Daily, days, k))
	}
	if span, ok := cat.Span(metric); ok {
		c.first = span.From
	}
	return c
}

// earlier are the days that are compared with some, but for those before the
// data begin. It is empty when there are none.
func (c comparison) earlier(days cohort.Range) cohort.Range {
	if c.kind == "" {
		return cohort.Range{From: 0, To: -1}
	}
	return cohort.Range{From: max(days.From-c.shift, c.first), To: days.To - c.shift}
}

// against returns the days that others are compared with.
func (c comparison) against(days []cohort.Day) []cohort.Day {
	earlier := make([]cohort.Day, len(days))
	for i, d := range days {
		earlier[i] = max(cohort.MinDay, d-c.shift)
	}
	return earlier
}

// note says which days are compared, and from when on there are data when some
// of them lie before that.
func (c comparison) note(t *text.Printer, days cohort.Range) string {
	said := c.name(t, days)
	if days.From-c.shift >= c.first || c.first == cohort.MaxDay {
		return said
	}
	return t.T("against.begins", "name", said, "day", t.Date(c.first.String()))
}

// name names the earlier days with their dates.
func (c comparison) name(t *text.Printer, days cohort.Range) string {
	from, to := max(cohort.MinDay, days.From-c.shift), max(cohort.MinDay, days.To-c.shift)
	return t.T("against.name", "what", comparisonKind(t, c.kind), "days", t.Range(from.String(), to.String()))
}

func comparisonKind(t *text.Printer, k cohort.Comparison) string {
	switch k {
	case cohort.PreviousPeriod:
		return t.T("against.previous")
	case cohort.PreviousYear:
		return t.T("against.year")
	default:
		return t.T("against.none")
	}
}

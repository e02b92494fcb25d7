package web

import (
	"bitboard/internal/cohort"
)

// doubts is what speaks against the periods that a retention table reads: a
// place for each, in order, from the first cohort's on.
type doubts struct {
	places map[cohort.Day]int
	// suspect is the first suspicion about the place or one after it, and where
	// that is: beyond the last place when there is none.
	suspect []cohort.Suspicion
	where   []int
	// unrecorded counts the periods before a place of which nothing was stored.
	unrecorded []int
}

// newDoubts finds out about the return metric.
func (b *retentionBuilder) newDoubts() (doubts, error) {
	found, err := b.suspects(b.q.Return, b.q.Granularity, b.judged())
	if err != nil {
		return doubts{}, err
	}
	cat, err := b.Query.Catalogue(b.ctx)
	if err != nil {
		return doubts{}, err
	}
	span, stored := cat.Span(b.q.Return)
	calendar := b.workspace.Calendar
	periods := calendar.Periods(b.q.Granularity, b.judged(), b.q.AsOf)
	n := len(periods)
	d := doubts{places: map[cohort.Day]int{}, suspect: make([]cohort.Suspicion, n+1), where: make([]int, n+1), unrecorded: make([]int, n+1)}
	for i, start := range periods {
		period := calendar.Period(b.q.Granularity, start)
		d.places[start], d.unrecorded[i+1] = i, d.unrecorded[i]
		if stored && start >= span.From && period.Complete(b.q.AsOf) && len(cat.Days(b.q.Return, period)) == 0 {
			d.unrecorded[i+1]++ // nobody can tell whether nobody came
		}
	}
	d.where[n] = n
	for i := n - 1; i >= 0; i-- {
		d.suspect[i], d.where[i] = d.suspect[i+1], d.where[i+1]
		if s := found[periods[i]]; s != "" {
			d.suspect[i], d.where[i] = s, i
		}
	}
	return d, nil
}

// judged are the days from the first cohort to the last that a cell reads.
func (b *retentionBuilder) judged() cohort.Range {
	to := b.params.today
	if b.q.Returning != cohort.OnOrAfter {
		columns := b.q.Columns()
		end := b.workspace.Calendar.Add(b.q.Granularity, b.workspace.Calendar.Start(b.q.Granularity, b.q.Range.To), columns[len(columns)-1].To+1)
		to = min(to, end-1)
	}
	return cohort.Range{From: b.q.Range.From, To: to}
}

// reads are the place of a cohort's period, and from there the first and the
// last period in which a column asks for the return metric.
func (b *retentionBuilder) reads(start cohort.Day, column cohort.Bracket) (place, first, last int) {
	place = b.returns.places[start]
	switch b.q.Returning {
	case cohort.OnOrAfter:
		return place, column.From, len(b.returns.places)
	case cohort.EveryPeriod:
		return place, 1, column.From
	}
	return place, column.From, column.To
}

// within says what speaks against the periods from first to last after a
// place: a suspicion, and of how many of those read nothing was stored.
// Periods that have not begun count as read.
func (d doubts) within(place, first, last int) (s cohort.Suspicion, unrecorded, read int) {
	if last < first {
		return "", 0, 0
	}
	end := len(d.places)
	from, to := min(place+first, end), min(place+last+1, end)
	if d.where[from] < to {
		s = d.suspect[from]
	}
	return s, d.unrecorded[to] - d.unrecorded[from], last - first + 1
}

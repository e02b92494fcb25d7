package query

import (
	"context"

	"bitboard/internal/cohort"
)

// past is what a plan may use in place of the days themselves: by metric the
// histories that hold what those days hold. It may be nil.
type past map[string]metricPast

type metricPast struct {
	histories []cohort.Bitmap // ascending
	kept      cohort.Day      // the first day that is kept; MinDay when all are
}

// latest returns the latest history that lies in a range of all days up to one.
func (p past) latest(s cohort.OnAny) (h cohort.Bitmap, ok bool) {
	of := p[s.Metric]
	if s.Days.From == cohort.MinDay && of.kept > cohort.MinDay {
		return h, false // it holds users of days that are gone
	}
	return latest(of.histories, s.Days.To)
}

// latest returns the last of ascending histories that ends on a day or before.
func latest(histories []cohort.Bitmap, through cohort.Day) (h cohort.Bitmap, ok bool) {
	for _, of := range histories {
		if of.Day > through {
			break
		}
		h, ok = of, true
	}
	return h, ok
}

// fixed returns only what stands for days that are kept no longer, from which
// nothing can be computed any more.
func (p past) fixed() past {
	fixed := past{}
	for metric, of := range p {
		if h, ok := latest(of.histories, of.kept-1); ok {
			fixed[metric] = metricPast{[]cohort.Bitmap{h}, of.kept}
		}
	}
	return fixed
}

// less returns the past to make do with when something is wrong with it: what
// is fixed, and when it is no more than that, nothing.
func (p past) less() past {
	fixed := p.fixed()
	for metric, of := range p {
		if len(of.histories) > len(fixed[metric].histories) {
			return fixed
		}
	}
	return nil
}

// withPast returns the catalogue with the histories that sets have use for,
// those derived now included, and which of them are right. A question that is
// to be computed anew uses only those that nothing can be computed from any more.
func (s *Service) withPast(ctx context.Context, cat *cohort.Catalogue, sets []cohort.Set, o Options) (*cohort.Catalogue, past) {
	p := past{}
	for metric, through := range reach(sets) {
		if m, _ := s.workspace.Metric(metric); m.ReadOnly() {
			continue // another program may change any day unnoticed
		}
		d := s.newDeriving(cat, metric, o.Now)
		if !o.Refresh {
			_ = d.derive(ctx, through, o.job()) // without it, the days are read
		}
		cat = d.cat
		if right := d.right(); len(right) > 0 {
			p[metric] = metricPast{right, d.kept}
		}
	}
	if o.Refresh {
		return cat, p.fixed()
	}
	return cat, p
}

// reach returns up to which day sets look at all days of a metric.
func reach(sets []cohort.Set) map[string]cohort.Day {
	n := nestedRanges{seen: map[cohort.OnAny]bool{}, lists: map[*cohort.Set]bool{}}
	n.collect(sets...)
	through := map[string]cohort.Day{}
	for s := range n.seen {
		if last, ok := through[s.Metric]; s.Days.From <= cohort.MinDay && (!ok || s.Days.To > last) {
			through[s.Metric] = s.Days.To
		}
	}
	return through
}

package query

import (
	"context"

	"bitboard/internal/cohort"
)

// past is what a plan may use in place of the days themselves: by metric the
// histories that hold what those days hold, ascending. It may be nil.
type past map[string][]cohort.Bitmap

// latest returns the latest history of a metric that ends on a day or before.
func (p past) latest(metric string, through cohort.Day) (h cohort.Bitmap, ok bool) {
	for _, of := range p[metric] {
		if of.Day > through {
			break
		}
		h, ok = of, true
	}
	return h, ok
}

// withPast returns the catalogue with the histories that sets have use for,
// those derived now included, and which of them are right. A question that is
// to be computed anew uses none.
func (s *Service) withPast(ctx context.Context, cat *cohort.Catalogue, sets []cohort.Set, o Options) (*cohort.Catalogue, past) {
	if o.Refresh {
		return cat, nil
	}
	p := past{}
	settled := settledDay(o.Now, s.config.SettleAfter, s.workspace.Zone)
	for metric, through := range reach(sets) {
		if m, _ := s.workspace.Metric(metric); m.ReadOnly() {
			continue // another program may change any day unnoticed
		}
		d := &deriving{Service: s, cat: cat, metric: metric, prints: newDayPrints(cat, metric, settled)}
		d.derive(ctx, min(through, settled))
		if cat = d.cat; len(d.right()) > 0 {
			p[metric] = d.right()
		}
	}
	return cat, p
}

// reach returns up to which day sets look at all days of a metric.
func reach(sets []cohort.Set) map[string]cohort.Day {
	n := nestedRanges{seen: map[cohort.OnAny]bool{}, lists: map[*cohort.Set]bool{}}
	n.collect(sets...)
	through := map[string]cohort.Day{}
	for s := range n.seen {
		if last, ok := through[s.Metric]; s.Days.From == cohort.MinDay && (!ok || s.Days.To > last) {
			through[s.Metric] = s.Days.To
		}
	}
	return through
}

// deriving is the deriving of a metric's histories, of one month's end after
// the other, each from the one before and the month's days.
type deriving struct {
	*Service
	cat    *cohort.Catalogue
	metric string
	prints *dayPrints
}

// history names the history through a day; closed is false when some of its
// days may change without a new print.
func (d *deriving) history(through cohort.Day) (h cohort.Bitmap, closed bool) {
	content, open := d.prints.within(cohort.Range{From: cohort.MinDay, To: through})
	return cohort.HistoryOf(d.metric, through, content), !open
}

// right returns the histories that hold what the days hold.
func (d *deriving) right() []cohort.Bitmap {
	var right []cohort.Bitmap
	for _, h := range d.cat.Histories(d.metric) {
		if want, _ := d.history(h.Day); h == want {
			right = append(right, h)
		}
	}
	return right
}

// derive derives the histories that are missing of months that ended on a day
// or before. One at a time does so, and whoever cannot goes without.
func (d *deriving) derive(ctx context.Context, through cohort.Day) {
	if len(d.missing(through)) == 0 {
		return
	}
	release, ok, err := d.store.Claim(ctx, "history "+d.metric)
	if err != nil || !ok {
		return
	}
	defer release()
	var made []cohort.Bitmap
	for _, h := range d.missing(through) {
		if !d.deriveOne(ctx, h) {
			break
		}
		made = append(made, h)
	}
	d.confirm(ctx, made)
}

// missing names the histories to be derived: of each month that ended on a day
// or before, has data, and follows the last history that is right. It ends
// where a day may change unnoticed.
func (d *deriving) missing(through cohort.Day) []cohort.Bitmap {
	from := cohort.MinDay
	if h, ok := (past{d.metric: d.right()}).latest(d.metric, through); ok {
		from = h.Day + 1
	}
	var missing []cohort.Bitmap
	days := d.cat.Days(d.metric, cohort.Range{From: from, To: through})
	for i, day := range days {
		end := day.MonthEnd()
		if end > through || i+1 < len(days) && days[i+1] <= end {
			continue
		}
		h, closed := d.history(end)
		if !closed {
			break
		}
		missing = append(missing, h)
	}
	return missing
}

// deriveOne derives a history from the one before it and the days since.
func (d *deriving) deriveOne(ctx context.Context, h cohort.Bitmap) bool {
	var of []cohort.Bitmap
	from := cohort.MinDay
	if before, ok := (past{d.metric: d.right()}).latest(d.metric, h.Day); ok {
		of, from = append(of, before), before.Day+1
	}
	for _, day := range d.cat.Days(d.metric, cohort.Range{From: from, To: h.Day}) {
		of = append(of, cohort.DayOfMetric(d.metric, day))
	}
	segments, err := d.store.Derive(ctx, d.cat, h, of)
	if err != nil {
		return false
	}
	d.cat = d.cat.WithHistories(map[cohort.Bitmap][]int{h: segments})
	return true
}

// confirm removes histories again of which a day was written while they were
// made. Their print is not that of any days now, but they may hold a user who
// was just forgotten.
func (d *deriving) confirm(ctx context.Context, made []cohort.Bitmap) {
	if len(made) == 0 {
		return
	}
	now, err := d.store.Catalogue(ctx)
	after := &deriving{cat: now, metric: d.metric}
	if err == nil {
		after.prints = newDayPrints(now, d.metric, cohort.MaxDay)
	}
	for _, h := range made {
		if err == nil {
			if same, closed := after.history(h.Day); same == h && closed {
				continue
			}
		}
		// One that cannot be removed is replaced when it is needed.
		_ = d.store.DropHistory(ctx, d.cat, h)
		d.cat = d.cat.WithHistories(map[cohort.Bitmap][]int{h: nil})
	}
}

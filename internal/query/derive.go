package query

import (
	"context"
	"errors"
	"time"

	"bitboard/internal/cohort"
)

const (
	// leadDays is how many days before a day is kept no longer its history is
	// made, at most: so long a server may be away and nothing is lost.
	leadDays = 7
	// trailDays is for how many days after that it stays: a week of which the
	// first days are gone is compared with the day before it.
	trailDays = 7
	// daysOfHistory is about how many days a history takes in.
	daysOfHistory = 30
	// clockSlack is how much our clock and the store's may differ.
	clockSlack = time.Minute
)

// Remember derives the histories of days that are soon kept no longer, so that
// those who were there then are never taken for new. It is to be called several
// times a day.
func (s *Service) Remember(ctx context.Context, now time.Time) error {
	cat, err := s.store.Catalogue(ctx)
	for _, m := range s.workspace.Metrics {
		if err == nil && m.Keep > 0 && !m.ReadOnly() {
			err = s.newDeriving(cat, m.Name, now).derive(ctx, cohort.MaxDay, noJob{})
		}
	}
	return err
}

// deriving is the deriving of a metric's histories, each from the one before
// it and the days since.
type deriving struct {
	*Service
	cat     *cohort.Catalogue
	metric  string
	prints  *dayPrints
	settled cohort.Day
	kept    cohort.Day // the first day that is kept; MinDay when all are
	lead    cohort.Day // the last day whose history is made day by day
}

func (s *Service) newDeriving(cat *cohort.Catalogue, metric string, now time.Time) *deriving {
	settled := settledDay(now, s.config.SettleAfter, s.workspace.Zone)
	d := &deriving{s, cat, metric, newDayPrints(cat, metric, settled), settled, cohort.MinDay, cohort.MinDay - 1}
	m, _ := s.workspace.Metric(metric)
	if since, ok := m.KeptSince(cohort.DayOf(now.Add(clockSlack), s.workspace.Zone)); ok {
		d.kept = max(since, cohort.MinDay)
		d.lead = d.kept - 1 + cohort.Day(min(leadDays, (m.Keep+1)/2))
	}
	return d
}

// base returns the history that stands for the days that are kept no longer.
// Nobody may write to those, so it is right whatever became of them.
func (d *deriving) base() (h cohort.Bitmap, ok bool) {
	return latest(d.cat.Histories(d.metric), d.kept-1)
}

// history names the history through a day; closed is false when some of its
// days may change without a new print.
func (d *deriving) history(through cohort.Day) (h cohort.Bitmap, closed bool) {
	from := cohort.MinDay
	base, ok := d.base()
	if ok {
		from = base.Day + 1
	}
	content, open := d.prints.within(cohort.Range{From: from, To: through})
	return cohort.HistoryOf(d.metric, through, base.Print+content), !open
}

// right returns the histories that hold what the days hold, or held when they
// were kept, ascending.
func (d *deriving) right() []cohort.Bitmap {
	var right []cohort.Bitmap
	for _, h := range d.cat.Histories(d.metric) {
		if want, _ := d.history(h.Day); h.Day < d.kept || h == want {
			right = append(right, h)
		}
	}
	return right
}

// derive derives the histories that are missing up to a day. One at a time does
// so, and whoever cannot goes without. The job is told of each as a step.
func (d *deriving) derive(ctx context.Context, through cohort.Day, job Job) error {
	through = min(through, d.settled)
	if len(d.missing(through)) == 0 {
		return nil
	}
	release, ok, err := d.store.Claim(ctx, "history "+d.metric)
	if err != nil || !ok {
		return err
	}
	defer release()
	var made []cohort.Bitmap
	missing := d.missing(through)
	work := len(d.cat.Segments()) * d.segmentBytes() * daysOfHistory
	job.Expect(len(missing) * work)
	for _, h := range missing {
		_, done, refused := job.Turn(ctx)
		if err = refused; err != nil {
			break
		}
		err = d.deriveOne(ctx, h)
		done()
		if err != nil {
			break
		}
		job.Did(work)
		made = append(made, h)
	}
	return errors.Join(err, d.confirm(ctx, made), d.tidy(ctx))
}

// missing names the histories up to a day that are to be derived, ascending. It
// ends where a day may change unnoticed.
func (d *deriving) missing(through cohort.Day) []cohort.Bitmap {
	right := map[cohort.Day]bool{}
	for _, h := range d.right() {
		right[h.Day] = true
	}
	var missing []cohort.Bitmap
	for _, end := range d.ends(through) {
		h, closed := d.history(end)
		if !closed {
			break
		}
		if !right[end] {
			missing = append(missing, h)
		}
	}
	return missing
}

// ends returns the days up to one through which there are to be histories: the
// last of each month with data, and those that are soon kept no longer.
func (d *deriving) ends(through cohort.Day) []cohort.Day {
	from := cohort.MinDay
	if base, ok := d.base(); ok {
		from = base.Day + 1
	}
	var ends []cohort.Day
	days := d.cat.Days(d.metric, cohort.Range{From: from, To: through})
	for i, day := range days {
		end := day.MonthEnd()
		if day != end && d.isLead(day) {
			ends = append(ends, day)
		}
		if end <= through && (i+1 == len(days) || days[i+1] > end) {
			ends = append(ends, end)
		}
	}
	return ends
}

// isLead reports whether a day is among those that are soon kept no longer.
func (d *deriving) isLead(day cohort.Day) bool { return d.kept-1 <= day && day <= d.lead }

// deriveOne derives a history from the one before it and the days since.
func (d *deriving) deriveOne(ctx context.Context, h cohort.Bitmap) error {
	var of []cohort.Bitmap
	from := cohort.MinDay
	if before, ok := latest(d.right(), h.Day); ok {
		of, from = append(of, before), before.Day+1
	}
	for _, day := range d.cat.Days(d.metric, cohort.Range{From: from, To: h.Day}) {
		of = append(of, cohort.DayOfMetric(d.metric, day))
	}
	segments, err := d.store.Derive(ctx, d.cat, h, of)
	if err == nil {
		d.cat = d.cat.WithHistories(map[cohort.Bitmap][]int{h: segments})
	}
	return err
}

// confirm removes histories again of which a day was written while they were
// made. Their print is not that of any days now, but they may hold a user who
// was just forgotten.
func (d *deriving) confirm(ctx context.Context, made []cohort.Bitmap) error {
	if len(made) == 0 {
		return nil
	}
	now, err := d.store.Catalogue(ctx)
	if err != nil {
		return err
	}
	after := *d
	after.cat, after.prints = now, newDayPrints(now, d.metric, d.settled)
	for _, h := range made {
		if same, closed := after.history(h.Day); same != h || !closed {
			err = errors.Join(err, d.drop(ctx, h))
		}
	}
	return err
}

func (d *deriving) drop(ctx context.Context, h cohort.Bitmap) error {
	err := d.store.DropHistory(ctx, d.cat, h)
	d.cat = d.cat.WithHistories(map[cohort.Bitmap][]int{h: nil})
	return err
}

// tidy removes histories that are neither the last of a month nor of days that
// are gone lately or soon.
func (d *deriving) tidy(ctx context.Context) error {
	var err error
	all := d.cat.Histories(d.metric)
	for i, h := range all {
		if i+1 == len(all) || all[i+1].Day > h.Day.MonthEnd() {
			continue
		}
		if all[i+1].Day <= d.kept-trailDays || h.Day > d.lead {
			err = errors.Join(err, d.drop(ctx, h))
		}
	}
	return err
}

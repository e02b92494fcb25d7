package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"bitboard/internal/cohort"
)

// catalogue compares the catalogue with the keys that the survey met, and
// brings it up to date.
func (e *examination) catalogue(ctx context.Context) error {
	before, err := e.Store.OwnCatalogue(ctx)
	if err != nil {
		return err
	}
	if err := e.Store.Scan(ctx); err != nil {
		return err
	}
	after, err := e.Store.OwnCatalogue(ctx)
	if err != nil {
		return err
	}
	unlisted, gone := e.differences(before, after)
	if gone.n > 0 {
		e.wrong("catalogue", "%s listed and no longer there, evicted or deleted: %s; no longer listed now, so import those days again", count(int64(gone.n), "bitmap"), gone)
	}
	listed := 0
	for _, segments := range after.All() {
		listed += len(segments)
	}
	switch {
	case unlisted.n > 0:
		e.ok("catalogue", "%s that other programs wrote, listed now: %s", count(int64(unlisted.n), "bitmap"), unlisted)
	case gone.n == 0:
		e.ok("catalogue", "lists %s, which are all there", count(int64(listed), "bitmap"))
	}
	return nil
}

// differences returns what was met and not listed, and what was listed and
// neither met by the survey nor by the scan after it. Days past their keep go
// away by themselves.
func (e *examination) differences(before, after *cohort.Catalogue) (unlisted, gone tally) {
	for b, segments := range e.keys.bitmaps {
		for segment := range segments {
			if !before.Has(b, segment) {
				unlisted.add(place(b, segment))
			}
		}
	}
	for b, segments := range before.All() {
		for _, segment := range segments {
			if !e.keys.bitmaps[b][segment] && !after.Has(b, segment) && !e.pastKeep(b) {
				gone.add(place(b, segment))
			}
		}
	}
	slices.Sort(unlisted.first)
	slices.Sort(gone.first)
	return unlisted, gone
}

func place(b cohort.Bitmap, segment int) string {
	return fmt.Sprintf("%s in segment %d", nameOf(b), segment)
}

// today is the civil day of the examination.
func (e *examination) today() cohort.Day { return cohort.DayOf(e.Now, e.Workspace.Zone) }

func (e *examination) pastKeep(b cohort.Bitmap) bool {
	m, ok := e.Workspace.Metric(b.Metric)
	if !ok || b.Kind != cohort.DayBitmap {
		return false
	}
	since, kept := m.KeptSince(e.today())
	return kept && b.Day < since
}

// days looks for days and segments that are missing.
func (e *examination) days(ctx context.Context) error {
	catalogue, err := e.Store.Catalogue(ctx)
	if err != nil {
		return err
	}
	sound := true
	for _, metric := range metricsIn(catalogue) {
		missing, partly := e.missing(catalogue, metric)
		if missing.n > 0 {
			// Nobody can tell such a day from one on which nobody came.
			e.hint("days", "%s has no data on %s: %s; import them again, unless nobody came", metric, count(int64(missing.n), "day"), missing)
		}
		if partly.n > 0 {
			e.wrong("days", "%s lacks a segment on %s that the days before and after have: %s; import them again", metric, count(int64(partly.n), "day"), partly)
		}
		sound = sound && missing.n+partly.n == 0
	}
	if sound {
		e.ok("days", "none is missing, whole or in part")
	}
	return nil
}

// metricsIn returns the metrics that have days, sorted.
func metricsIn(c *cohort.Catalogue) []string {
	names := map[string]bool{}
	for b := range c.All() {
		if b.Kind == cohort.DayBitmap {
			names[b.Metric] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// missing judges all days of a metric up to yesterday by what exists; a low
// count is not judged.
func (e *examination) missing(c *cohort.Catalogue, metric string) (missing, partly tally) {
	span, ok := c.Span(metric)
	if !ok {
		return missing, partly
	}
	there := map[cohort.Day]int64{}
	all := cohort.Range{From: span.From, To: e.today()}
	if m, ok := e.Workspace.Metric(metric); ok {
		if since, kept := m.KeptSince(e.today()); kept {
			all.From = max(all.From, since)
		}
	}
	for _, d := range c.Days(metric, all) {
		there[d] = 0
	}
	found := cohort.Suspects(c.Doubting(cohort.Doubts{}), metric, all, e.today(), there)
	for _, d := range slices.Sorted(maps.Keys(found)) {
		switch found[d] {
		case cohort.Missing:
			missing.add(d.String())
		case cohort.MissingSegment:
			partly.add(d.String())
		}
	}
	return missing, partly
}

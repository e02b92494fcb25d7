package cohort

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// HistoryOf names the bitmap of the users who had a metric on some day up to
// one, made from those days' bitmaps in the state that a print stands for.
func HistoryOf(metric string, through Day, state uint64) Bitmap {
	return Bitmap{HistoryBitmap, metric, through, state}
}

// history is a stored history and the segments in which it exists.
type history struct {
	bitmap   Bitmap
	segments []int // ascending
}

// Histories returns the stored histories of a metric, ascending, one at most
// for a day. Each holds what the days held that its print stands for.
func (c *Catalogue) Histories(metric string) []Bitmap {
	bitmaps := make([]Bitmap, len(c.histories[metric]))
	for i, h := range c.histories[metric] {
		bitmaps[i] = h.bitmap
	}
	return bitmaps
}

// AllHistories yields every stored history, in no order.
func (c *Catalogue) AllHistories() iter.Seq[Bitmap] {
	return func(yield func(Bitmap) bool) {
		for _, of := range c.histories {
			for _, h := range of {
				if !yield(h.bitmap) {
					return
				}
			}
		}
	}
}

// WithHistories returns the catalogue with other histories, by the segments in
// which they exist. One takes the place of any other of its metric and day;
// nil segments, unlike an empty list, only remove that.
func (c *Catalogue) WithHistories(changed map[Bitmap][]int) *Catalogue {
	if len(changed) == 0 {
		return c
	}
	next := *c
	next.histories = maps.Clone(c.histories)
	if next.histories == nil {
		next.histories = map[string][]history{}
	}
	for b, segments := range changed {
		of := slices.Clone(next.histories[b.Metric])
		at, found := findHistory(of, b.Day)
		if found {
			of = slices.Delete(of, at, at+1)
		}
		if segments != nil {
			of = slices.Insert(of, at, history{b, segments})
		}
		next.histories[b.Metric] = of
	}
	return &next
}

func findHistory(of []history, through Day) (at int, found bool) {
	return slices.BinarySearchFunc(of, through, func(h history, d Day) int { return cmp.Compare(h.bitmap.Day, d) })
}

// segmentsOfHistory returns the segments in which a history exists, in the
// state of its print.
func (c *Catalogue) segmentsOfHistory(b Bitmap) []int {
	of := c.histories[b.Metric]
	if at, found := findHistory(of, b.Day); found && of[at].bitmap == b {
		return of[at].segments
	}
	return nil
}

// MonthEnd returns the last day of the month that holds d.
func (d Day) MonthEnd() Day {
	y, m, _ := d.Date()
	return DayOfDate(y, m+1, 1) - 1
}

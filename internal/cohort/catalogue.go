package cohort

import (
	"iter"
	"maps"
	"slices"
)

// BitmapKind tells the stored bitmaps apart.
type BitmapKind uint8

// The kinds of stored bitmap.
const (
	// DayBitmap is the users of a metric on a day.
	DayBitmap BitmapKind = iota
	// FlagBitmap is the users in a flag.
	FlagBitmap
	// KnownBitmap is every user ever written.
	KnownBitmap
	// HistoryBitmap is the users of a metric on any day up to one: it is derived
	// from day bitmaps, and may be lost.
	HistoryBitmap
	// ListBitmap is the users of a saved cohort that is a list.
	ListBitmap
)

// Bitmap names one stored bitmap, whatever the segment. It is comparable.
type Bitmap struct {
	Kind   BitmapKind
	Metric string // empty for KnownBitmap; of a ListBitmap the cohort's name
	Day    Day    // 0 but for DayBitmap, and HistoryBitmap, whose last day it is
	Print  uint64 // of what a HistoryBitmap was made from, and the version of a ListBitmap; 0 for the others
}

// DayOfMetric names the bitmap of a metric's day.
func DayOfMetric(metric string, d Day) Bitmap { return Bitmap{Kind: DayBitmap, Metric: metric, Day: d} }

// Flag names the bitmap of a flag.
func Flag(metric string) Bitmap { return Bitmap{Kind: FlagBitmap, Metric: metric} }

// Known names the bitmap of every user ever written.
func Known() Bitmap { return Bitmap{Kind: KnownBitmap} }

// ListOf names the bitmap of a version of a saved cohort that is a list.
func ListOf(name string, version uint64) Bitmap {
	return Bitmap{Kind: ListBitmap, Metric: name, Print: version}
}

// Catalogue says which bitmaps exist in which segments. It is an immutable
// snapshot: writers make a new one with With.
type Catalogue struct {
	segments map[Bitmap][]int // ascending
	days     map[string][]Day // ascending, per metric
	all      []int            // every segment in use, ascending
	doubts   Doubts
	tokens   map[Bitmap]uint64
	state    State
	// histories are kept apart: they are no data of their own.
	histories map[string][]history // by metric, ascending
}

// State is what a snapshot says about the data as a whole.
type State struct {
	// Lineage names the data: it changes when they are emptied or restored.
	Lineage string
	// Writing holds the bitmaps that are being written.
	Writing map[Bitmap]bool
}

// Doubts is what speaks against stored days whatever they hold.
type Doubts struct {
	// Evicted says that the store has removed keys by itself.
	Evicted bool
	// HalfReplaced holds the days whose replacement cannot be finished.
	HalfReplaced map[Bitmap]bool
}

// NewCatalogue returns the snapshot of what exists. A bitmap with no segments
// is an empty-day marker: the day is there and nobody came. It keeps the map.
func NewCatalogue(segments map[Bitmap][]int) *Catalogue {
	c := &Catalogue{segments: segments, days: map[string][]Day{}}
	seen := map[int]bool{}
	for b, in := range segments {
		if b.Kind == DayBitmap {
			c.days[b.Metric] = append(c.days[b.Metric], b.Day)
		}
		for _, s := range in {
			if !seen[s] {
				seen[s] = true
				c.all = append(c.all, s)
			}
		}
	}
	for _, d := range c.days {
		slices.Sort(d)
	}
	slices.Sort(c.all)
	return c
}

// With returns the catalogue with other segments and version tokens for some
// bitmaps; nil segments, unlike an empty list, remove one. It has no doubts.
func (c *Catalogue) With(changed map[Bitmap][]int, tokens map[Bitmap]uint64) *Catalogue {
	next := c
	if !c.holds(changed) {
		segments := make(map[Bitmap][]int, len(c.segments)+len(changed))
		maps.Copy(segments, c.segments)
		maps.Copy(segments, changed)
		for b, in := range changed {
			if in == nil {
				delete(segments, b)
			}
		}
		next = NewCatalogue(segments)
	}
	stamped := *next
	stamped.doubts, stamped.histories = Doubts{}, c.histories
	stamped.tokens = make(map[Bitmap]uint64, len(c.tokens)+len(tokens))
	maps.Copy(stamped.tokens, c.tokens)
	maps.Copy(stamped.tokens, tokens)
	return &stamped
}

// Joined returns the catalogue with the segments of other bitmaps too, and all
// else as it is.
func (c *Catalogue) Joined(more map[Bitmap][]int) *Catalogue {
	segments := make(map[Bitmap][]int, len(c.segments)+len(more))
	maps.Copy(segments, c.segments)
	maps.Copy(segments, more)
	joined := NewCatalogue(segments)
	joined.doubts, joined.tokens, joined.state, joined.histories = c.doubts, c.tokens, c.state, c.histories
	return joined
}

// holds reports whether bitmaps exist in the same segments already.
func (c *Catalogue) holds(changed map[Bitmap][]int) bool {
	for b, in := range changed {
		if have, ok := c.segments[b]; ok != (in != nil) || !slices.Equal(have, in) {
			return false
		}
	}
	return true
}

// In returns the catalogue in another state.
func (c *Catalogue) In(s State) *Catalogue {
	next := *c
	next.state = s
	return &next
}

// Lineage names the data that the snapshot is of.
func (c *Catalogue) Lineage() string { return c.state.Lineage }

// Token returns the version token of a bitmap: it is another one after each
// write. A bitmap that was never written by us has 0.
func (c *Catalogue) Token(b Bitmap) uint64 { return c.tokens[b] }

// Writing reports whether a bitmap is being written.
func (c *Catalogue) Writing(b Bitmap) bool { return c.state.Writing[b] }

// Doubting returns the catalogue with other doubts.
func (c *Catalogue) Doubting(d Doubts) *Catalogue {
	doubting := *c
	doubting.doubts = d
	return &doubting
}

// All yields every bitmap but histories with the segments in which it exists,
// in no order.
func (c *Catalogue) All() iter.Seq2[Bitmap, []int] { return maps.All(c.segments) }

// Segments returns every segment in use, ascending.
func (c *Catalogue) Segments() []int { return c.all }

// SegmentsOf returns the segments in which a bitmap exists, ascending.
func (c *Catalogue) SegmentsOf(b Bitmap) []int {
	if b.Kind == HistoryBitmap {
		return c.segmentsOfHistory(b)
	}
	return c.segments[b]
}

// Has reports whether a bitmap exists in a segment.
func (c *Catalogue) Has(b Bitmap, segment int) bool {
	_, found := slices.BinarySearch(c.SegmentsOf(b), segment)
	return found
}

// Days returns the days of a metric that have a bitmap or an empty-day marker
// and lie in r, ascending.
func (c *Catalogue) Days(metric string, r Range) []Day {
	days := c.days[metric]
	lo, _ := slices.BinarySearch(days, r.From)
	hi, found := slices.BinarySearch(days, r.To)
	if found {
		hi++
	}
	return days[lo:max(lo, hi)]
}

// Span returns the first and the last day on which a metric has a bitmap in
// some segment; ok is false when there is none.
func (c *Catalogue) Span(metric string) (r Range, ok bool) {
	days := c.days[metric]
	held := func(d Day) bool { return len(c.segments[DayOfMetric(metric, d)]) > 0 }
	first := slices.IndexFunc(days, held)
	if first < 0 {
		return Range{}, false
	}
	last := len(days) - 1
	for !held(days[last]) {
		last--
	}
	return Range{days[first], days[last]}, true
}

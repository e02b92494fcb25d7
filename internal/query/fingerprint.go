package query

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"bitboard/internal/cohort"
)

// fingerprint tells sets apart without the users in them.
type fingerprint struct {
	// shape stands for the definition of the set.
	shape uint64
	// content stands for the state of all that the set reads, by the version
	// tokens of its bitmaps.
	content uint64
	// open says that something that the set reads may change without a new
	// token: it is being written, or other programs may still write it.
	open bool
}

// fingerprinter makes the fingerprints of sets over one state of the data.
type fingerprinter struct {
	cat     *cohort.Catalogue
	settled cohort.Day // the last day that is settled
	days    map[string]*dayPrints
	ranges  map[cohort.OnAny]fingerprint
	lists   map[listKey]fingerprint
}

// newFingerprinter returns a fingerprinter. Days up to the settled one do not change any
// more, unless somebody writes to them.
func newFingerprinter(cat *cohort.Catalogue, settled cohort.Day) *fingerprinter {
	return &fingerprinter{cat, settled, map[string]*dayPrints{}, map[cohort.OnAny]fingerprint{}, map[listKey]fingerprint{}}
}

// settledDay returns the last day whose end is at least a while ago.
func settledDay(now time.Time, after time.Duration, zone *time.Location) cohort.Day {
	return cohort.DayOf(now.Add(-after), zone) - 1
}

// The kinds of set, as they go into a shape.
const (
	nobodyShape uint64 = iota
	storedShape
	onAnyShape
	unionShape
	intersectionShape
	differenceShape
	atLeastShape
)

func (p *fingerprinter) of(s cohort.Set) fingerprint {
	switch s := s.(type) {
	case cohort.Stored:
		return p.stored(s.Bitmap)
	case cohort.OnAny:
		return p.onAny(s)
	case cohort.Union:
		return p.list(unionShape, s.Of)
	case cohort.Intersection:
		return p.list(intersectionShape, s.Of)
	case cohort.Difference:
		return combined(differenceShape, p.of(s.From), p.of(s.Without))
	case cohort.AtLeast:
		return combined(atLeastShape, fingerprint{shape: uint64(s.K)}, p.list(atLeastShape, s.Of))
	}
	return fingerprint{shape: mix(nobodyShape)}
}

// stored is the print of a flag or of the known users, which have no day after
// which they are settled, or of a list, which never changes but by a write of ours.
func (p *fingerprinter) stored(b cohort.Bitmap) fingerprint {
	open := b.Kind != cohort.ListBitmap || p.cat.Writing(b)
	return fingerprint{mix(storedShape, uint64(b.Kind), text(b.Metric)), mix(p.cat.Token(b), b.Print, segmentsPrint(p.cat.SegmentsOf(b))), open}
}

// list is the print of sets in order, made once for a list that several share.
func (p *fingerprinter) list(kind uint64, of []cohort.Set) fingerprint {
	switch len(of) {
	case 0:
		return fingerprint{shape: mix(kind)}
	case 2: // not worth remembering
		return combined(kind, combined(unionShape, p.of(of[0]), p.of(of[1])))
	}
	key := listKey{first: &of[0], n: len(of)}
	if known, ok := p.lists[key]; ok {
		return combined(kind, known)
	}
	prints := make([]fingerprint, len(of))
	for i, s := range of {
		prints[i] = p.of(s)
	}
	all := combined(unionShape, prints...)
	p.lists[key] = all
	return combined(kind, all)
}

// combined is the print of a set that is made of others.
func combined(kind uint64, of ...fingerprint) fingerprint {
	shapes, contents := append(make([]uint64, 0, 8), kind), make([]uint64, 0, 8)
	open := false
	for _, p := range of {
		shapes, contents = append(shapes, p.shape), append(contents, p.content)
		open = open || p.open
	}
	return fingerprint{mix(shapes...), mix(contents...), open}
}

func (p *fingerprinter) onAny(s cohort.OnAny) fingerprint {
	known, ok := p.ranges[s]
	if !ok {
		known = p.ofRange(s)
		p.ranges[s] = known
	}
	return known
}

func (p *fingerprinter) ofRange(s cohort.OnAny) fingerprint {
	d := p.days[s.Metric]
	if d == nil {
		d = newDayPrints(p.cat, s.Metric, p.settled)
		p.days[s.Metric] = d
	}
	content, open := d.within(s.Days)
	return fingerprint{mix(onAnyShape, text(s.Metric), uint64(s.Days.From), uint64(s.Days.To)), content, open || s.Days.To > p.settled}
}

// dayPrints is the prints of a metric's days as sums from the first day on, so
// that those of any range are a difference.
type dayPrints struct {
	days     []cohort.Day
	contents []uint64 // the sum of those of the days before
	open     []int
}

func newDayPrints(cat *cohort.Catalogue, metric string, settled cohort.Day) *dayPrints {
	d := &dayPrints{days: cat.Days(metric, cohort.Range{From: cohort.MinDay, To: cohort.MaxDay})}
	d.contents, d.open = make([]uint64, len(d.days)+1), make([]int, len(d.days)+1)
	for i, day := range d.days {
		b := cohort.DayOfMetric(metric, day)
		d.contents[i+1] = d.contents[i] + mix(uint64(day), cat.Token(b), segmentsPrint(cat.SegmentsOf(b)))
		d.open[i+1] = d.open[i]
		if day > settled || cat.Writing(b) {
			d.open[i+1]++
		}
	}
	return d
}

func (d *dayPrints) within(r cohort.Range) (content uint64, open bool) {
	lo, _ := slices.BinarySearch(d.days, r.From)
	hi, found := slices.BinarySearch(d.days, r.To)
	if found {
		hi++
	}
	hi = max(lo, hi)
	return d.contents[hi] - d.contents[lo], d.open[hi] > d.open[lo]
}

func segmentsPrint(segments []int) uint64 {
	words := make([]uint64, len(segments))
	for i, s := range segments {
		words[i] = uint64(s)
	}
	return mix(words...)
}

// mix makes one number of several, in order.
func mix(words ...uint64) uint64 {
	var buffer [64]byte
	b := buffer[:0]
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return xxhash.Sum64(b)
}

func text(s string) uint64 { return xxhash.Sum64String(s) }

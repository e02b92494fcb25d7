// Package euler draws two or three sets as circles whose areas are the sets' sizes
// and whose overlaps are to the same scale. It is plain geometry: it knows neither
// users nor pages.
package euler

import (
	"cmp"
	"math"
	"slices"
)

// Circle is a set.
type Circle struct{ X, Y, R float64 }

// Diagram is two or three circles, in units in which an area is a size.
type Diagram struct {
	Circles []Circle
	// Off is by how much of the union's size the region that is furthest from its
	// size is too large or too small. Two circles are always exact; three are often
	// not, as they have fewer measures than regions.
	Off float64
}

// Sizes holds the size of each region by which sets it lies in: bit i of the index
// says that it lies in set i. Index 0 means nothing.
type Sizes []float64

// sets is how many sets there are.
func (s Sizes) sets() int {
	if len(s) > 4 {
		return 3
	}
	return 2
}

// within is the size of what lies in all sets of a mask.
func (s Sizes) within(mask int) (sum float64) {
	for region, size := range s {
		if region&mask == mask {
			sum += size
		}
	}
	return sum
}

func (s Sizes) union() (sum float64) {
	for _, size := range s[1:] {
		sum += size
	}
	return sum
}

const (
	// steps of a bisection, enough for the precision of a float64.
	steps = 60
	// apart is how far sets without a common part stand from each other, and how far
	// one lies inside another, as a share of what there is room for.
	apart = 0.15
)

// Draw returns the diagram of 2 or 3 sets: 4 or 8 sizes of regions. An empty set is a
// circle of radius 0.
func Draw(s Sizes) Diagram {
	n := s.sets()
	circles := make([]Circle, n)
	for i := range circles {
		circles[i].R = math.Sqrt(s.within(1<<i) / math.Pi)
	}
	if n == 2 {
		circles[1].X = newSpan(circles[0].R, circles[1].R, s.within(3)).at
	} else {
		place(circles, s)
	}
	d := Diagram{Circles: circles}
	d.Off = d.off(s)
	return d
}

// span is how far the centres of two circles may be from each other, and how far
// they are: one distance when they overlap in part, and some when they do not touch,
// or when one lies in the other.
type span struct{ low, high, at float64 }

func newSpan(a, b, both float64) span {
	outer, inner := a+b, math.Abs(a-b)
	smaller := math.Pi * math.Pow(min(a, b), 2)
	switch {
	case both <= 0:
		return span{outer, math.Inf(1), outer * (1 + apart)}
	case both >= smaller:
		return span{0, inner, inner * (1 - apart)}
	}
	low, high := inner, outer
	for range steps {
		if middle := (low + high) / 2; Lens(a, b, middle) > both {
			low = middle
		} else {
			high = middle
		}
	}
	return span{low, low, low}
}

// Lens is the area that two circles have in common whose centres are d apart.
func Lens(a, b, d float64) float64 {
	if d >= a+b {
		return 0
	}
	if smaller := min(a, b); d <= math.Abs(a-b) {
		return math.Pi * smaller * smaller
	}
	cut := func(r, other float64) float64 { // the segment that the common chord cuts off
		x := (d*d + r*r - other*other) / (2 * d)
		return r*r*math.Acos(clamp(x/r)) - x*math.Sqrt(max(0, r*r-x*x))
	}
	return cut(a, b) + cut(b, a)
}

func clamp(cosine float64) float64 { return max(-1, min(1, cosine)) }

// place puts three circles at the corners of a triangle with the distances of each
// two, as far as there is one.
func place(c []Circle, s Sizes) {
	spans := []span{newSpan(c[0].R, c[1].R, s.within(3)), newSpan(c[0].R, c[2].R, s.within(5)), newSpan(c[1].R, c[2].R, s.within(6))}
	meet(spans)
	ab, ac, bc := spans[0].at, spans[1].at, spans[2].at
	c[1].X = ab
	if ab == 0 {
		c[2].X = ac
		return
	}
	c[2].X = (ab*ab + ac*ac - bc*bc) / (2 * ab)
	c[2].Y = math.Sqrt(max(0, ac*ac-c[2].X*c[2].X))
	if math.Abs(c[2].X) > ac { // rounding: the three are on one line
		c[2].X = math.Copysign(ac, c[2].X)
	}
}

// meet makes a triangle of three distances: the longest becomes shorter and the
// others longer where they may, and in the end the longest is as long as both others.
func meet(spans []span) {
	order := []*span{&spans[0], &spans[1], &spans[2]}
	slices.SortFunc(order, func(a, b *span) int { return cmp.Compare(a.at, b.at) })
	short, middle, long := order[0], order[1], order[2]
	long.at = min(long.at, max(long.low, short.at+middle.at))
	for _, s := range []*span{middle, short} {
		if lack := long.at - short.at - middle.at; lack > 0 {
			s.at = min(s.at+lack, s.high)
		}
	}
	long.at = min(long.at, short.at+middle.at)
}

// off compares the areas with the sizes.
func (d Diagram) off(s Sizes) (worst float64) {
	union := s.union()
	if union == 0 {
		return 0
	}
	areas := d.Areas()
	for region := 1; region < len(s); region++ {
		worst = max(worst, math.Abs(areas[region]-s[region])/union)
	}
	return worst
}

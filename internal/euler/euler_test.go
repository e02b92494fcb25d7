package euler_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bitboard/internal/euler"
)

// size is often nothing, sometimes little and sometimes much.
func size(r *rapid.T, name string) float64 {
	switch rapid.IntRange(0, 3).Draw(r, name+" is") {
	case 0:
		return 0
	case 1:
		return float64(rapid.IntRange(1, 20).Draw(r, name))
	}
	return float64(rapid.IntRange(1, 1_000_000).Draw(r, name))
}

func TestTwoSetsAreExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := euler.Sizes{0, size(r, "a"), size(r, "b"), size(r, "both")}
		d := euler.Draw(s)
		a, b := d.Circles[0], d.Circles[1]
		distance := math.Hypot(a.X-b.X, a.Y-b.Y)
		for _, check := range []struct {
			what      string
			got, want float64
		}{
			{"a", math.Pi * a.R * a.R, s[1] + s[3]},
			{"b", math.Pi * b.R * b.R, s[2] + s[3]},
			{"both", euler.Lens(a.R, b.R, distance), s[3]},
		} {
			if math.Abs(check.got-check.want) > 0.01*check.want+1e-6 {
				r.Fatalf("%v: the area of %s is %g, want %g", s, check.what, check.got, check.want)
			}
		}
		if d.Off > 0.01 {
			r.Fatalf("%v: the regions are off by %g", s, d.Off)
		}
	})
}

func TestThreeSetsOverlapTwoByTwoExactlyOrSayByHowMuchNot(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := make(euler.Sizes, 8)
		union := 0.0
		for i := 1; i < 8; i++ {
			s[i] = size(r, "region")
			union += s[i]
		}
		d := euler.Draw(s)
		if math.IsNaN(d.Off) || d.Off < 0 || d.Off > 1 {
			r.Fatalf("%v: off by %g", s, d.Off)
		}
		pair := func(i, j int) float64 {
			a, b := d.Circles[i], d.Circles[j]
			return euler.Lens(a.R, b.R, math.Hypot(a.X-b.X, a.Y-b.Y))
		}
		wrong := 0.0
		for k, want := range []float64{s[3] + s[7], s[5] + s[7], s[6] + s[7]} {
			got := pair([]int{0, 0, 1}[k], []int{1, 2, 2}[k])
			if math.IsNaN(got) {
				r.Fatalf("%v: the circles are at %v", s, d.Circles)
			}
			wrong = max(wrong, math.Abs(got-want)/max(union, 1))
		}
		// A common part of two sets is two regions: one of them carries half of it.
		if d.Off < wrong/2-0.01 {
			r.Fatalf("%v: common parts are off by %g, and that is called %g", s, wrong, d.Off)
		}
	})
}

func TestSetsThatThreeCirclesCanShow(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    euler.Sizes
	}{
		{"apart", euler.Sizes{0, 100, 200, 0, 50, 0, 0, 0}},
		{"one in another, the third apart", euler.Sizes{0, 100, 0, 40, 500, 0, 0, 0}},
		{"one inside the next", euler.Sizes{0, 1000, 0, 300, 0, 0, 0, 50}},
		{"two of the same people, the third apart", euler.Sizes{0, 0, 0, 300, 50, 0, 0, 0}},
		{"an empty one", euler.Sizes{0, 100, 60, 30, 0, 0, 0, 0}},
		{"a chain", euler.Sizes{0, 90, 80, 10, 90, 0, 10, 0}},
		{"nobody", make(euler.Sizes, 8)},
	} {
		if d := euler.Draw(tt.s); d.Off > 0.01 {
			t.Errorf("%s: off by %g: %v", tt.name, d.Off, d.Circles)
		}
	}
}

func TestEveryRegionHasAPlaceInside(t *testing.T) {
	d := euler.Draw(euler.Sizes{0, 100, 120, 40, 90, 30, 35, 20})
	for region, p := range d.Places()[1:] {
		inside := 0
		for i, c := range d.Circles {
			if math.Hypot(p.X-c.X, p.Y-c.Y) < c.R {
				inside |= 1 << i
			}
		}
		if inside != region+1 || p.Room <= 0 {
			t.Errorf("the place of region %d is in %d with room %g", region+1, inside, p.Room)
		}
	}
}

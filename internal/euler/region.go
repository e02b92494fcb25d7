package euler

import (
	"math"
	"slices"
)

// columns is how many columns a diagram is cut into to be measured.
const columns = 2000

// Areas returns the area of each region, indexed as Sizes are. It cuts the diagram
// into thin columns, in each of which the borders are heights.
func (d Diagram) Areas() []float64 {
	areas := make([]float64, 1<<len(d.Circles))
	left, _, right, _ := d.Box()
	width := (right - left) / columns
	for i := range columns {
		x := left + (float64(i)+0.5)*width
		heights := d.heights(x)
		for j := range len(heights) - 1 {
			low, high := heights[j], heights[j+1]
			areas[d.at(x, (low+high)/2)] += (high - low) * width
		}
	}
	areas[0] = 0
	return areas
}

// heights are where the borders cross a column, ascending.
func (d Diagram) heights(x float64) []float64 {
	var heights []float64
	for _, c := range d.Circles {
		if half := c.R*c.R - (x-c.X)*(x-c.X); half > 0 {
			heights = append(heights, c.Y-math.Sqrt(half), c.Y+math.Sqrt(half))
		}
	}
	slices.Sort(heights)
	return heights
}

// at is the region of a point.
func (d Diagram) at(x, y float64) (region int) {
	for i, c := range d.Circles {
		if math.Hypot(x-c.X, y-c.Y) < c.R {
			region |= 1 << i
		}
	}
	return region
}

// Box is the smallest rectangle around the circles that have a size.
func (d Diagram) Box() (left, top, right, bottom float64) {
	left, top, right, bottom = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range d.Circles {
		if c.R > 0 {
			left, right = min(left, c.X-c.R), max(right, c.X+c.R)
			top, bottom = min(top, c.Y-c.R), max(bottom, c.Y+c.R)
		}
	}
	if left > right {
		return 0, 0, 0, 0
	}
	return left, top, right, bottom
}

// Place is where a region has most room.
type Place struct {
	X, Y float64
	// Room is how far the nearest border is; 0 for a region that is not there.
	Room float64
}

// grid is how many places across are tried.
const grid = 120

// Places returns the place of each region, indexed as Sizes are.
func (d Diagram) Places() []Place {
	places := make([]Place, 1<<len(d.Circles))
	left, top, right, bottom := d.Box()
	for i := range grid * grid {
		x := left + (right-left)*(float64(i%grid)+0.5)/grid
		y := top + (bottom-top)*(float64(i/grid)+0.5)/grid
		room := math.Inf(1)
		for _, c := range d.Circles {
			if c.R > 0 {
				room = min(room, math.Abs(math.Hypot(x-c.X, y-c.Y)-c.R))
			}
		}
		if at := d.at(x, y); room > places[at].Room {
			places[at] = Place{x, y, room}
		}
	}
	places[0] = Place{}
	return places
}

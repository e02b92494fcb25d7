// Package ui holds the few components that every page is made of. They know
// no domain: they take texts, numbers and URLs.
package ui

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Choice is one option of a select, or one item of a row of links.
type Choice struct {
	// Value is what a form sends.
	Value string
	// Label is what is shown.
	Label string
	// URL is where a link leads; a form needs none.
	URL string
	// Key is the key that chooses it; empty for none.
	Key string
	// Current marks the chosen one.
	Current bool
}

// Field is what is around the control of a form.
type Field struct {
	// Name is the parameter; the control's ID is made from it.
	Name string
	// Label is the visible name.
	Label string
	// Hint says what to give; may be empty.
	Hint string
	// Wide gives a select with long choices a row of its own on small screens.
	Wide bool
	// Problem says what is wrong with what was given; empty when nothing is.
	Problem string
}

// ID returns the control's ID, for labels and for links to it.
func (f Field) ID() string { return "f-" + f.Name }

// describedBy returns the IDs of what describes the control, or "".
func (f Field) describedBy() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.ID()+"-hint")
	}
	if f.Problem != "" {
		ids = append(ids, f.ID()+"-problem")
	}
	return strings.Join(ids, " ")
}

// Number is a count of people and where these people are listed.
type Number struct {
	// Count is the exact number.
	Count int64
	// People is the URL of the list of exactly these people; empty for none.
	People string
}

// Basis is what an answer rests on, shown below its definition.
type Basis struct {
	// From and To are the days counted, YYYY-MM-DD, both ends in; empty when
	// the answer is not about days.
	From, To string
	// Zone is the IANA time zone of the days.
	Zone string
	// AsOf is the day taken as today, YYYY-MM-DD.
	AsOf string
	// ComputedAt is when the answer was computed, RFC 3339 in Zone.
	ComputedAt string
	// Expr is the set expression of the people counted; may be empty.
	Expr string
	// How is the page that shows how to count these people by hand; may be empty.
	How string
}

// Chart is a figure that the chart script draws.
type Chart struct {
	// ID is unique on the page.
	ID string
	// Label describes the figure to those who do not see it.
	Label string
	// Options are the chart's options, from package chart.
	Options json.RawMessage
	// Title is shown above the figure; empty when the panel's is enough.
	Title string
	// Format names the script's formatter of values: count, percent or number.
	Format string
	// Axis says what the places on the axis are: day, week or month, each named
	// by a date, or text.
	Axis string
}

// spark is the size of a sparkline's own coordinates.
const (
	sparkWidth  = 100
	sparkHeight = 24
	sparkInset  = 2
)

// sparkPoints returns the points attribute of a polyline through values, from
// the lowest at the bottom to the highest at the top.
func sparkPoints(values []int64) string {
	if len(values) < 2 {
		return ""
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	span := float64(max(high-low, 1))
	points := make([]string, len(values))
	for i, v := range values {
		x := float64(i) * sparkWidth / float64(len(values)-1)
		y := sparkHeight - sparkInset - float64(v-low)/span*(sparkHeight-2*sparkInset)
		points[i] = strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64)
	}
	return strings.Join(points, " ")
}

// Progress is how much of some work is done.
type Progress struct {
	// Percent is a whole number from 0 to 100.
	Percent string
	// Label says what is measured.
	Label string
	// Unknown is true before that can be said.
	Unknown bool
}

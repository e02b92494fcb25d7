package views

import (
	"strings"

	"bitboard/views/ui"
)

// ComparePage is two or three groups of users side by side.
type ComparePage struct {
	Page
	// Range is the days of the retention, Form all of the question.
	Range RangePicker
	Form  CompareForm
	// Overlap is who is in which of them.
	Overlap OverlapPanel
	// Retention is how each of them comes back.
	Retention ComparedRetention
}

// CompareForm holds the chosen values, also those that are wrong.
type CompareForm struct {
	// A, B and C are the expressions of the groups; C may be empty.
	A, B, C string
	// Ready are expressions that are offered.
	Ready []ui.Choice
	// Metrics are the daily metrics, the one whose retention is shown marked.
	Metrics []ui.Choice
	// Granularity is day, week or month.
	Granularity string
	// From and To are the range as it was given.
	From, To string
	// Problem is what is wrong with it, or nil.
	Problem *Problem
}

// ComparedGroup is a group with its size.
type ComparedGroup struct {
	// Letter is A, B or C, Title what people call the group.
	Letter, Title string
	// Expr is the group's expression.
	Expr string
	// Users is who is in it, Share their share of all who are in any group; nil when
	// nobody is.
	Users ui.Number
	Share *float64
}

// OverlapRegion is who is in some of the groups and in none of the others.
type OverlapRegion struct {
	// In are the letters of the groups.
	In    []string
	Users ui.Number
	Share *float64
}

// OverlapPanel is the groups as circles, and the regions as a table.
type OverlapPanel struct {
	// Error says why there is nothing; empty when there is.
	Error   string
	Groups  []ComparedGroup
	Regions []OverlapRegion
	// Union is who is in any group.
	Union ui.Number
	// Drawing is nil when nobody is in any.
	Drawing *Drawing
	// Off is by how much of the union a part of the drawing is too large or too
	// small, when that is worth saying; 0 otherwise.
	Off float64
}

// Drawing is circles and texts in coordinates of its own.
type Drawing struct {
	Width, Height string
	Circles       []DrawnCircle
	Texts         []DrawnText
}

// DrawnCircle is a group; Class is a, b or c.
type DrawnCircle struct{ X, Y, R, Class string }

// DrawnText is a group's letter with its class, or a number without one.
type DrawnText struct{ X, Y, Text, Class string }

// ComparedRetention is a row for each group.
type ComparedRetention struct {
	Report
	// From and To are the days of the cohorts.
	From, To string
	// Columns are the names of the periods.
	Columns []string
	Rows    []ComparedRow
}

// ComparedRow is how a group comes back.
type ComparedRow struct {
	Letter, Title string
	// Users is who of the group was there on any day of the range.
	Users ui.Number
	// Averages are the rates of the columns.
	Averages []RetentionAverage
	// URL is the group's own retention page.
	URL string
}

// GroupName is a group's letter and title.
func GroupName(letter, title string) string { return letter + " · " + title }

// region names a region by the groups that it lies in and the number of all.
func (c ComparePage) region(r OverlapRegion) string {
	in := strings.Join(r.In, c.Text.T("compare.and"))
	if len(r.In) == len(c.Overlap.Groups) {
		return c.Text.T("compare.region.all", "in", in)
	}
	return c.Text.T("compare.region.only", "in", in)
}

// scale says how true the drawing is.
func (c ComparePage) scale() string {
	if c.Overlap.Off > 0 {
		return c.Text.T("compare.scale.off", "share", c.Text.Percent(c.Overlap.Off))
	}
	return c.Text.T("compare.scale.exact")
}

// drawingTitle says in words what the drawing shows.
func (c ComparePage) drawingTitle() string {
	parts := make([]string, len(c.Overlap.Regions))
	for i, r := range c.Overlap.Regions {
		parts[i] = c.region(r) + ": " + c.Text.N(r.Users.Count)
	}
	return c.Text.T("compare.drawing", "parts", strings.Join(parts, "; "))
}

// hint is how a group may be written.
func (c ComparePage) hint() string {
	if len(c.Form.Ready) > 0 {
		return c.Form.Ready[0].Value
	}
	return "cohort(name)"
}

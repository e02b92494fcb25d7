package views

import (
	"math"

	"bitboard/views/ui"
)

// CohortsPage is a set expression and the people it names.
type CohortsPage struct {
	Page
	// Expr is the expression as it was given; empty at first.
	Expr string
	// Problem is what is wrong with the expression, or nil.
	Problem *Problem
	// Examples are ready expressions, each with a link that asks for it.
	Examples []CohortExample
	// Flags and Days are the metrics that an expression may name.
	Flags, Days []MetricName
	// Rows are the expression as conditions; there is one at least.
	Rows []CohortRow
	// RowsFull says that no more rows fit on the page.
	RowsFull bool
	// Error says why there is no result although the expression is right.
	Error string
	// Result is the answer, nil when nothing was asked or something was wrong.
	Result *CohortResult
	// Edit is the name of the saved cohort that is being changed; empty for none.
	Edit string
	// Save saves the expression, nil when there is none to be saved.
	Save *SaveForm
	// Delete asks whether a saved cohort is to be deleted, nil when that was not asked for.
	Delete *Deletion
	// Saved are the saved cohorts.
	Saved SavedCohorts
}

// CohortExample is a ready expression.
type CohortExample struct {
	// Expr is the expression.
	Expr string
	// Meaning says in words whom it names.
	Meaning string
	// URL asks for it.
	URL string
}

// MetricName is a metric as expressions and people name it.
type MetricName struct{ Name, Title string }

// CohortResult is whom an expression names.
type CohortResult struct {
	// Expr is the expression in its normal form.
	Expr string
	// Count is how many there are, Known the number of all known users.
	Count, Known int64
	// Members are the first of them, in the order of the file.
	Members []Member
	// Compare is the URL that compares them with another group.
	Compare string
	// CSV is the URL of all of them as a file, Size how large that is.
	CSV  string
	Size FileSize
}

// FileSize is how large a file will be, before it is compressed on its way.
type FileSize struct {
	// Bytes is its size, and Safe how much it grows when it is made safe for
	// spreadsheets.
	Bytes, Safe int64
	// Exact is false when they are estimates.
	Exact bool
}

// byteOrderMarkSize is what a byte order mark takes up.
const byteOrderMarkSize = 3

// fileUnits are what sizes that are not exact are given in, largest first.
var fileUnits = []struct {
	bytes float64
	name  string
}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}

// fileSize is a size in the reader's words: to the byte, or to two digits.
func (c CohortsPage) fileSize(bytes int64, exact bool) string {
	if exact {
		return c.Text.Count("cohorts.file.bytes", bytes)
	}
	for _, unit := range fileUnits {
		if v := float64(bytes) / unit.bytes; v >= 1 {
			digits := math.Pow(10, math.Floor(math.Log10(v))-1)
			return c.Text.T("cohorts.file.about", "size", c.Text.Short(math.Round(v/digits)*digits)+" "+unit.name)
		}
	}
	return c.Text.T("cohorts.file.about", "size", c.Text.Count("cohorts.file.bytes", bytes))
}

// file names the file of a result with its rows and its size.
func (c CohortsPage) file(r CohortResult) string {
	return c.Text.Count("cohorts.csv", r.Count, "size", c.fileSize(r.Size.Bytes, r.Size.Exact))
}

// Member is one user.
type Member struct {
	// ID is the user's own ID, byte for byte.
	ID string
	// URL is the user's page.
	URL string
}

// share returns Count as a share of Known, nil when nobody is known.
func (c CohortResult) share() *float64 {
	if c.Known == 0 {
		return nil
	}
	rate := float64(c.Count) / float64(c.Known)
	return &rate
}

// marked is an expression cut at the character where it goes wrong.
type marked struct{ before, at, after string }

const noBreakSpace = '\u00a0'

// saveTitle is the heading of the form that saves.
func saveTitle(c CohortsPage, s SaveForm) string {
	if s.Edit {
		return c.Text.T("cohorts.save.edit")
	}
	return c.Text.T("cohorts.save.title")
}

// mark cuts the expression at its problem's position, counted in characters;
// ok is false when there is no such position.
func (c CohortsPage) mark() (m marked, ok bool) {
	characters := []rune(c.Expr)
	if c.Problem == nil || c.Problem.Position < 0 || c.Problem.Position > len(characters) {
		return marked{}, false
	}
	p := c.Problem.Position
	if p == len(characters) { // it ends too early: mark a place after its end
		characters = append(characters, noBreakSpace)
	}
	return marked{string(characters[:p]), string(characters[p]), string(characters[p+1:])}, true
}

// syntax are the usual forms of an expression with what they mean, for the help.
func (c CohortsPage) syntax() []ui.Choice {
	return []ui.Choice{
		{Value: "a | b", Label: c.Text.T("cohorts.syntax.or")},
		{Value: "a & b", Label: c.Text.T("cohorts.syntax.and")},
		{Value: "a - b", Label: c.Text.T("cohorts.syntax.minus")},
		{Value: "!a", Label: c.Text.T("cohorts.syntax.not")},
		{Value: "activated", Label: c.Text.T("cohorts.syntax.flag")},
		{Value: "active@2026-03-01", Label: c.Text.T("cohorts.syntax.day")},
		{Value: "active@today-6d..today", Label: c.Text.T("cohorts.syntax.range")},
		{Value: "cohort(name)", Label: c.Text.T("cohorts.syntax.cohort")},
	}
}

// moreSyntax are the other forms.
func (c CohortsPage) moreSyntax() []ui.Choice {
	return []ui.Choice{
		{Value: "all(active@…)", Label: c.Text.T("cohorts.syntax.all")},
		{Value: "atleast(3, active@…)", Label: c.Text.T("cohorts.syntax.atleast")},
		{Value: "exactly(3, active@…)", Label: c.Text.T("cohorts.syntax.exactly")},
		{Value: "first(active@…)", Label: c.Text.T("cohorts.syntax.first")},
		{Value: "2026-03-01, today, yesterday, today-7d", Label: c.Text.T("cohorts.syntax.dates")},
		{Value: "(a | b) - c", Label: c.Text.T("cohorts.syntax.order")},
	}
}

package views

import (
	"strconv"

	"bitboard/views/ui"
)

// CohortRow is one condition of the page's expression in the form of conditions.
type CohortRow struct {
	// N counts from 1; the row's parameters end with it.
	N int
	// Join is and, or or minus; the first row has none.
	Join string
	// Not says that the condition must not be met.
	Not bool
	// Of are the groups of what the condition may be about.
	Of []ChoiceGroup
	// How is any, all, atleast, exactly or first, for a metric with days.
	How string
	// K, From and To are the number of days and the dates as they were given.
	K, From, To string
	// Text is the expression of a row that is about one.
	Text string
	// Own is who meets the condition, Running who is left after it; nil when
	// nothing was counted.
	Own, Running *ui.Number
}

// ChoiceGroup is the options of a select under a heading; an empty heading is none.
type ChoiceGroup struct {
	// Title is the heading.
	Title string
	// Options are the choices below it.
	Options []RowChoice
}

// RowChoice is what a condition may be about.
type RowChoice struct {
	ui.Choice
	// Needs says which other fields it takes: days, text, or none when empty.
	Needs string
}

// field returns a field of the row: its name, label and problem.
func (c CohortsPage) field(r CohortRow, name, label string) ui.Field {
	name += "-" + strconv.Itoa(r.N)
	return ui.Field{Name: name, Label: label, Problem: c.Problem.of(name)}
}

// problemOfRow returns what is wrong with one of the row's fields, or "".
func (c CohortsPage) problemOfRow(r CohortRow) string {
	for _, name := range []string{"join", "is", "of", "how", "k", "from", "to", "text"} {
		if m := c.Problem.of(name + "-" + strconv.Itoa(r.N)); m != "" {
			return m
		}
	}
	return ""
}

// joins are the ways in which a row is combined with those above it.
func (c CohortsPage) joins(r CohortRow) []ui.Choice {
	return []ui.Choice{
		{Value: "and", Label: c.Text.T("cohorts.row.and"), Current: r.Join == "and"},
		{Value: "or", Label: c.Text.T("cohorts.row.or"), Current: r.Join == "or"},
		{Value: "minus", Label: c.Text.T("cohorts.row.minus"), Current: r.Join == "minus"},
	}
}

// senses say whether a row's condition is to be met.
func (c CohortsPage) senses(r CohortRow) []ui.Choice {
	return []ui.Choice{
		{Value: "", Label: c.Text.T("cohorts.row.is"), Current: !r.Not},
		{Value: "not", Label: c.Text.T("cohorts.row.not"), Current: r.Not},
	}
}

// hows are the ways in which days count. Those with a number need K.
func (c CohortsPage) hows(r CohortRow) []RowChoice {
	choice := func(value, label, needs string) RowChoice {
		return RowChoice{ui.Choice{Value: value, Label: label, Current: r.How == value}, needs}
	}
	return []RowChoice{
		choice("any", c.Text.T("cohorts.row.any"), ""),
		choice("all", c.Text.T("cohorts.row.all"), ""),
		choice("atleast", c.Text.T("cohorts.row.atleast"), "k"),
		choice("exactly", c.Text.T("cohorts.row.exactly"), "k"),
		choice("first", c.Text.T("cohorts.row.first"), ""),
	}
}

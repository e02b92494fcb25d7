package views

import (
	"math"
	"strconv"
	"strings"

	"bitboard/views/text"
	"bitboard/views/ui"
)

// RetentionPage is the retention table and the form that asks for it.
type RetentionPage struct {
	Page
	// Range is the days of the cohorts, Form all of the question.
	Range RangePicker
	Form  RetentionForm
	// Table is the answer.
	Table RetentionTable
	// Curves is the answer as a chart of cohorts over columns.
	Curves Report
	// OverTime is some columns of the cohorts in the range, and of those before
	// it whose columns fall into it.
	OverTime RetentionTable
}

// RetentionForm holds the chosen values, also those that are wrong.
type RetentionForm struct {
	// Starts and Returns are the daily metrics.
	Starts, Returns []ui.Choice
	// Granularity is day, week or month.
	Granularity string
	// Cohorts is first or any.
	Cohorts string
	// Returning is on, on_or_after or every.
	Returning string
	// From and To are the range as it was given.
	From, To string
	// Periods is the highest period as it was given.
	Periods string
	// Brackets are the groups of periods as they were given; empty has a column
	// for each period.
	Brackets string
	// Columns are the columns shown over time as they were given.
	Columns string
	// Filter is a set expression; only its members are counted.
	Filter string
	// Ready are expressions that are offered for it.
	Ready []ui.Choice
	// Show is percent, previous or count.
	Show string
	// Problem is what is wrong with it, or nil.
	Problem *Problem
}

// RetentionTable holds a row for each cohort and a column for each period.
type RetentionTable struct {
	Report
	// From and To are the days that the cohorts cover.
	From, To string
	// Columns are the periods, 0, 1, 2, …, or groups of them such as 1-3.
	Columns []string
	// Rows are the cohorts in order of date.
	Rows []RetentionRow
	// Average has one entry for each column.
	Average []RetentionAverage
}

// RetentionRow is one cohort.
type RetentionRow struct {
	// Day is the first day of the cohort's period.
	Day string
	// Size are the cohort's members.
	Size ui.Number
	// Complete is false while the cohort's own period isn't over.
	Complete bool
	// Suspect says why the size may be too low, as in CountFact.
	Suspect string
	// Cells has one entry for each of the table's columns.
	Cells []RetentionCell
}

// CellState is what a cell of the retention table has to say.
type CellState uint8

// The states of a cell.
const (
	// CellValue is a number that will not change any more, also 0.
	CellValue CellState = iota
	// CellInProgress is a number of a period that isn't over.
	CellInProgress
	// CellNotYet is a period that hasn't begun.
	CellNotYet
	// CellNoData is a period for which nothing was recorded.
	CellNoData
)

// RetentionCell is one cohort in one period.
type RetentionCell struct {
	State CellState
	// Number are the members who came back, for CellValue and CellInProgress.
	Number ui.Number
	// Rate is their share of the cohort, or of the column before; nil when that
	// is empty.
	Rate *float64
	// Suspect says why the number may be too low, as in CountFact.
	Suspect string
}

// RetentionAverage is a column's rate over all its complete cells.
type RetentionAverage struct {
	// Rate is nil when no cohort has a complete cell.
	Rate *float64
	// Cohorts is how many cohorts it is made of.
	Cohorts int
}

// colourSteps is the number of the scale's highest step; there are classes
// scale-0 to scale-10.
const colourSteps = 10

// top returns the rate that gets the strongest colour: the highest of the
// table's periods after 0, rounded up to a multiple of 5 %. Period 0 is left
// out because it is 100 % in most tables and would wash out all others.
func (t RetentionTable) top() float64 {
	highest := 0.0
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			if t.Columns[i] != "0" && c.Rate != nil {
				highest = max(highest, min(1, *c.Rate))
			}
		}
	}
	const grain = 20 // steps of 1/20
	return max(1, math.Ceil(highest*grain-1e-9)) / grain
}

// class returns a cell's classes: its state and, with a rate, its colour.
func (c RetentionCell) class(top float64) string {
	state := [...]string{"cell", "cell so-far", "cell not-yet", "cell no-data"}[c.State]
	if c.Suspect != "" {
		state += " suspect"
	}
	if c.Rate == nil || c.State > CellInProgress {
		return state
	}
	return state + " scale-" + strconv.Itoa(step(*c.Rate, top))
}

// cellSuspicion says why a cell may be too low.
func (r RetentionPage) cellSuspicion(c RetentionCell) string {
	if r.Form.Granularity == "day" && r.Form.Returning == "on" && r.Form.Brackets == "" {
		return ui.Suspect(r.Text, c.Suspect)
	}
	return ui.SuspectWithin(r.Text, c.Suspect)
}

// step returns the step of the colour scale for a rate. Only 0 gets step 0,
// so that "nobody" and "a few" look different.
func step(rate, top float64) int {
	if rate <= 0 {
		return 0
	}
	return min(colourSteps, max(1, int(math.Round(rate/top*colourSteps))))
}

// legendSteps returns the steps of the legend with the rate each stands for.
func legendSteps(p Page, top float64) []ui.Choice {
	var steps []ui.Choice
	for i := 0; i <= colourSteps; i += 2 {
		label := p.Text.WholePercent(top * float64(i) / colourSteps)
		if i == colourSteps {
			label = "≥ " + label // period 0 may lie above the scale
		}
		steps = append(steps, ui.Choice{Value: "scale-" + strconv.Itoa(i), Label: label})
	}
	return steps
}

// ColumnName returns a column's heading, e.g. Day 3 or Week 1-3.
func ColumnName(t *text.Printer, granularity, column string) string {
	switch granularity {
	case "month":
		return t.T("retention.month_n", "n", column)
	case "week":
		return t.T("retention.week_n", "n", column)
	default:
		return t.T("retention.day_n", "n", column)
	}
}

func (r RetentionPage) columnName(column string) string {
	return ColumnName(r.Text, r.Form.Granularity, column)
}

func (r RetentionPage) cohortRules() []ui.Choice {
	return chosen(r.Form.Cohorts,
		ui.Choice{Value: "first", Label: r.Text.T("retention.cohorts.first")},
		ui.Choice{Value: "any", Label: r.Text.T("retention.cohorts.any")})
}

func (r RetentionPage) returnRules() []ui.Choice {
	return chosen(r.Form.Returning,
		ui.Choice{Value: "on", Label: r.Text.T("retention.returning.on")},
		ui.Choice{Value: "on_or_after", Label: r.Text.T("retention.returning.on_or_after")},
		ui.Choice{Value: "every", Label: r.Text.T("retention.returning.every")})
}

func (r RetentionPage) shows() []ui.Choice {
	return chosen(r.Form.Show,
		ui.Choice{Value: "percent", Label: r.Text.T("retention.show.percent")},
		ui.Choice{Value: "previous", Label: r.Text.T("retention.show.previous")},
		ui.Choice{Value: "count", Label: r.Text.T("retention.show.count")})
}

// definition says what the chosen rules count, and what a cell is divided by.
func (r RetentionPage) definition(previous bool) string {
	cohort := r.Text.T("retention.define.first")
	if r.Form.Cohorts == "any" {
		cohort = r.Text.T("retention.define.any")
	}
	returning := r.Text.T("retention.define.on")
	switch r.Form.Returning {
	case "on_or_after":
		returning = r.Text.T("retention.define.on_or_after")
	case "every":
		returning = r.Text.T("retention.define.every")
	}
	parts := []string{cohort, returning}
	if r.Form.Brackets != "" {
		parts = append(parts, r.Text.T("retention.define.brackets"))
	}
	if r.Form.Filter != "" {
		parts = append(parts, r.Text.T("retention.define.filter"))
	}
	if previous {
		return strings.Join(append(parts, r.Text.T("retention.define.previous")), " ")
	}
	return strings.Join(append(parts, r.Text.T("retention.define.average")), " ")
}

// ofPrevious reports whether a cell is shown as a share of the column before it.
func (r RetentionPage) ofPrevious() bool { return r.Form.Show == "previous" }

func (r RetentionPage) curves() reportView {
	return reportView{
		Report: r.Curves, id: "curves", title: r.Text.T("retention.curves.title"), empty: len(r.Table.Rows) == 0, tableAt: "#table",
		charts:     []ui.Chart{{ID: "curves-chart", Label: r.Text.T("retention.curves.chart"), Options: r.Curves.Options, Format: "percent", Axis: "text"}},
		definition: r.Text.T("retention.curves.definition") + " " + r.definition(r.ofPrevious()), basis: r.basis(r.Table.From, r.Table.To, ""),
	}
}

func (r RetentionPage) overTime() reportView {
	return reportView{
		Report: r.OverTime.Report, id: "over-time", title: r.Text.T("retention.over_time.title"), empty: len(r.OverTime.Rows) == 0,
		charts:     []ui.Chart{{ID: "over-time-chart", Label: r.Text.T("retention.over_time.chart"), Options: r.OverTime.Options, Format: "percent", Axis: r.Form.Granularity}},
		definition: r.Text.T("retention.over_time.definition") + " " + r.definition(false), basis: r.basis(r.OverTime.From, r.OverTime.To, ""),
	}
}

package views

import (
	"math"
	"strconv"

	"bitboard/views/ui"
)

// RetentionPage is the retention table and the form that asks for it.
type RetentionPage struct {
	Page
	// Form is the question.
	Form RetentionForm
	// Error says why there is no table; empty when there is one, or when the
	// form's Problem says it.
	Error string
	// Table is the answer.
	Table RetentionTable
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
	// Show is percent or count.
	Show string
	// Problem is what is wrong with it, or nil.
	Problem *Problem
}

// RetentionTable holds a row for each cohort and a column for each period.
type RetentionTable struct {
	// From and To are the days that the cohorts cover.
	From, To string
	// Periods are the columns: 0, 1, 2, …
	Periods []int
	// Rows are the cohorts in order of date.
	Rows []RetentionRow
	// Average has one entry for each period.
	Average []RetentionAverage
	// CSV is the URL of the same cells as a file.
	CSV string
}

// RetentionRow is one cohort.
type RetentionRow struct {
	// Day is the first day of the cohort's period.
	Day string
	// Size are the cohort's members.
	Size ui.Number
	// Complete is false while the cohort's own period isn't over.
	Complete bool
	// Cells has one entry for each of the table's periods.
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
	// Rate is their share of the cohort, nil when the cohort is empty.
	Rate *float64
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
			if t.Periods[i] > 0 && c.Rate != nil {
				highest = max(highest, *c.Rate)
			}
		}
	}
	const grain = 20 // steps of 1/20
	return max(1, math.Ceil(highest*grain-1e-9)) / grain
}

// class returns a cell's classes: its state and, with a rate, its colour.
func (c RetentionCell) class(top float64) string {
	state := [...]string{"cell", "cell so-far", "cell not-yet", "cell no-data"}[c.State]
	if c.Rate == nil || c.State > CellInProgress {
		return state
	}
	return state + " scale-" + strconv.Itoa(step(*c.Rate, top))
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

// columnName returns a column's heading, e.g. Day 3.
func (r RetentionPage) columnName(n int) string {
	number := strconv.Itoa(n)
	switch r.Form.Granularity {
	case "month":
		return r.Text.T("retention.month_n", "n", number)
	case "week":
		return r.Text.T("retention.week_n", "n", number)
	default:
		return r.Text.T("retention.day_n", "n", number)
	}
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
		ui.Choice{Value: "count", Label: r.Text.T("retention.show.count")})
}

// definition says what the chosen rules count.
func (r RetentionPage) definition() string {
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
	return cohort + " " + returning + " " + r.Text.T("retention.define.average")
}

package views

import (
	"encoding/json"

	"bitboard/views/text"
	"bitboard/views/ui"
)

// Report is what every panel with a chart has besides its rows.
type Report struct {
	// Error says why there is nothing; empty when there is.
	Error string
	// Options are the chart's, from package chart.
	Options json.RawMessage
	// CSV is the URL of the same rows as a file.
	CSV string
	// Marks are the reasons why some of the numbers may be too low, each once;
	// see ui.Suspicion.
	Marks []string
}

// reportView is a report with what its panel says about it.
type reportView struct {
	Report
	id, title string
	// empty says that the answer has no row.
	empty  bool
	charts []ui.Chart
	// tableAt leads to a table of the same numbers elsewhere on the page; empty
	// when the panel has its own.
	tableAt string
	// note says something about all rows; it may be empty.
	note       string
	definition string
	basis      ui.Basis
}

// periodName returns a period, named by its first day, as its granularity
// names it.
func (p Page) periodName(granularity, day string) string {
	if granularity == "day" {
		return p.dayName(day)
	}
	return PeriodName(p.Text, granularity, day)
}

// PeriodName returns a period, named by its first day, with its year.
func PeriodName(t *text.Printer, granularity, day string) string {
	switch granularity {
	case "month":
		return t.Month(day)
	case "week":
		return t.T("period.week_of", "day", t.Date(day))
	default:
		return t.Date(day)
	}
}

// granularities are the choices of the length of a period.
func (p Page) granularities(current string) []ui.Choice {
	return chosen(current,
		ui.Choice{Value: "day", Key: "d", Label: p.Text.T("granularity.day")},
		ui.Choice{Value: "week", Key: "w", Label: p.Text.T("granularity.week")},
		ui.Choice{Value: "month", Key: "m", Label: p.Text.T("granularity.month")})
}

// chosen marks the choice that has a value.
func chosen(value string, choices ...ui.Choice) []ui.Choice {
	for i := range choices {
		choices[i].Current = choices[i].Value == value
	}
	return choices
}

package web

import (
	"slices"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/views"
)

// shownCurves is how many cohorts have a curve of their own: the newest.
const shownCurves = 8

// tableAndCurves answers the question as a table and as a chart.
func (b *retentionBuilder) tableAndCurves() (views.RetentionTable, views.Report) {
	a, err := b.ask()
	if err != nil {
		failed := b.failed(err)
		return views.RetentionTable{Report: failed}, failed
	}
	t := b.table(a)
	return t, b.curves(t)
}

// overTime answers the question as a table and as a line for each column.
func (b *retentionBuilder) overTime() views.RetentionTable {
	a, err := b.ask()
	if err != nil {
		return views.RetentionTable{Report: b.failed(err)}
	}
	t := b.table(a)
	lines := make([]chart.Series, len(t.Columns))
	var axis []string
	for _, row := range t.Rows {
		axis = append(axis, row.Day)
		for i, cell := range row.Cells {
			lines[i].Points = append(lines[i].Points, b.point(cell))
		}
	}
	for i := range lines {
		lines[i].Name = views.ColumnName(b.text, b.q.Granularity.String(), t.Columns[i])
	}
	t.Options = b.drawn(&t.Report, chart.Lines, axis, lines...)
	return t
}

// curves is the average and the newest cohorts over the columns.
func (b *retentionBuilder) curves(t views.RetentionTable) views.Report {
	var axis []string
	average := chart.Series{Name: b.text.T("retention.average")}
	for i, column := range t.Columns {
		axis = append(axis, views.ColumnName(b.text, b.q.Granularity.String(), column))
		average.Points = append(average.Points, rated(t.Average[i].Rate, true, ""))
	}
	lines := []chart.Series{average}
	r := views.Report{CSV: t.CSV}
	for _, row := range t.Rows[max(0, len(t.Rows)-shownCurves):] {
		line := chart.Series{Name: views.PeriodName(b.text, b.q.Granularity.String(), row.Day), Thin: true}
		for _, cell := range row.Cells {
			line.Points = append(line.Points, b.point(cell))
			r.Marks = mark(r.Marks, doubtOf(cell))
		}
		lines = append(lines, line)
	}
	r.Options = b.drawn(&r, chart.Lines, axis, lines...)
	return r
}

// doubtOf is what speaks against a cell.
func doubtOf(c views.RetentionCell) cohort.Suspicion {
	if c.State == views.CellNoData {
		return cohort.Missing
	}
	return cohort.Suspicion(c.Suspect)
}

// point is a cell in a chart; a column that hasn't begun has no value.
func (b *retentionBuilder) point(c views.RetentionCell) chart.Point {
	switch c.State {
	case views.CellNotYet:
		return chart.Point{}
	case views.CellNoData:
		return chart.Point{Complete: true, Suspect: b.words(cohort.Missing, cohort.Daily)}
	}
	return rated(c.Rate, c.State == views.CellValue, b.words(cohort.Suspicion(c.Suspect), b.q.Granularity))
}

func (b *retentionBuilder) table(a cohort.Retention) views.RetentionTable {
	columns := b.q.Columns()
	t := views.RetentionTable{Report: views.Report{CSV: b.csv()}}
	for i, column := range columns {
		if b.shows(column) {
			t.Columns = append(t.Columns, column.String())
			t.Average = append(t.Average, b.average(a, i))
		}
	}
	for _, row := range a.Rows {
		r := b.row(row, columns)
		t.Rows = append(t.Rows, r)
		t.Marks = mark(t.Marks, cohort.Suspicion(r.Suspect))
		for _, cell := range r.Cells {
			t.Marks = mark(t.Marks, doubtOf(cell))
		}
	}
	if n := len(a.Rows); n > 0 {
		last := b.workspace.Calendar.Period(b.q.Granularity, a.Rows[n-1].Date)
		t.From, t.To = a.Rows[0].Date.String(), last.To.String()
	}
	return t
}

func (b *retentionBuilder) shows(column cohort.Bracket) bool {
	return len(b.only) == 0 || slices.Contains(b.only, column)
}

// average is a column's pooled rate: of the cohorts, or of the column before.
func (b *retentionBuilder) average(a cohort.Retention, column int) views.RetentionAverage {
	v := a.Averages[column]
	if !b.previous || column == 0 {
		return views.RetentionAverage{Rate: defined(v.Rate, v.Cohorts > 0), Cohorts: v.Cohorts}
	}
	var part, whole int64
	cohorts := 0
	for _, row := range a.Rows {
		if column < len(row.Cells) && row.Cells[column].Complete && row.Cells[column-1].Count > 0 {
			part, whole, cohorts = part+row.Cells[column].Count, whole+row.Cells[column-1].Count, cohorts+1
		}
	}
	return views.RetentionAverage{Rate: share(part, whole), Cohorts: cohorts}
}

func (b *retentionBuilder) row(row cohort.CohortRow, columns []cohort.Bracket) views.RetentionRow {
	calendar := b.workspace.Calendar
	r := views.RetentionRow{
		Day: row.Date.String(), Size: b.params.people(row.Size, b.params.filtered(b.q.MembersExpr(calendar, row.Date))),
		Complete: calendar.Period(b.q.Granularity, row.Date).Complete(b.q.AsOf), Suspect: string(b.starts[row.Date]),
	}
	before := row.Size
	for i, column := range columns {
		if i >= len(row.Cells) {
			if b.shows(column) {
				r.Cells = append(r.Cells, views.RetentionCell{State: views.CellNotYet})
			}
			continue
		}
		whole := row.Size
		if b.previous {
			whole, before = before, row.Cells[i].Count
		}
		if b.shows(column) {
			r.Cells = append(r.Cells, b.cell(row, row.Cells[i], whole))
		}
	}
	return r
}

// cell is a cell whose rate is its share of a whole.
func (b *retentionBuilder) cell(row cohort.CohortRow, cell cohort.Cell, whole int64) views.RetentionCell {
	suspect, unrecorded, read := b.returns.within(b.reads(row.Date, cell.Bracket))
	// One period is enough to come back in, or all must have been seen.
	if unrecorded > 0 && (unrecorded == read || b.q.Returning == cohort.EveryPeriod) {
		return views.RetentionCell{State: views.CellNoData}
	}
	c := views.RetentionCell{
		Number:  b.params.people(cell.Count, b.params.filtered(b.q.CellExpr(b.workspace.Calendar, row.Date, cell.Bracket))),
		Rate:    share(cell.Count, whole),
		Suspect: string(suspect),
	}
	if !cell.Complete {
		c.State = views.CellInProgress
	}
	return c
}

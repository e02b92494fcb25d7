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
	for _, row := range t.Rows[max(0, len(t.Rows)-shownCurves):] {
		line := chart.Series{Name: b.cohortName(row.Day), Thin: true}
		for _, cell := range row.Cells {
			line.Points = append(line.Points, b.point(cell))
		}
		lines = append(lines, line)
	}
	r := views.Report{CSV: t.CSV, Marks: t.Marks}
	r.Options = b.drawn(&r, chart.Lines, axis, lines...)
	return r
}

func (b *retentionBuilder) cohortName(day string) string {
	if b.q.Granularity == cohort.Monthly {
		return b.text.Month(day)
	}
	return b.text.Date(day)
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
			t.Marks = mark(t.Marks, cohort.Suspicion(cell.Suspect))
			if cell.State == views.CellNoData {
				t.Marks = mark(t.Marks, cohort.Missing)
			}
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
	calendar := b.workspace.Calendar
	c := views.RetentionCell{
		Number: b.params.people(cell.Count, b.params.filtered(b.q.CellExpr(calendar, row.Date, cell.Bracket))), Rate: share(cell.Count, whole),
	}
	at := func(n int) cohort.Day { return calendar.Add(b.q.Granularity, row.Date, n) }
	first, last := b.reads(row.Date, cell.Bracket)
	for n := first; n <= last && c.Suspect == ""; n++ {
		c.Suspect = string(b.returns[at(n)])
	}
	switch {
	case !cell.Complete:
		c.State = views.CellInProgress
	case b.unrecorded(cohort.Range{From: at(cell.Bracket.From), To: at(cell.Bracket.To+1) - 1}):
		c = views.RetentionCell{State: views.CellNoData}
	}
	return c
}

// reads are the periods after a cohort's own in which a column asks for the
// return metric.
func (b *retentionBuilder) reads(cohortDay cohort.Day, column cohort.Bracket) (first, last int) {
	switch b.q.Returning {
	case cohort.OnOrAfter:
		last = column.From
		for b.workspace.Calendar.Add(b.q.Granularity, cohortDay, last+1) <= b.q.AsOf {
			last++
		}
		return column.From, last
	case cohort.EveryPeriod:
		return 1, column.From
	}
	return column.From, column.To
}

// unrecorded reports whether nothing was stored of the return metric in a
// period after its first day: nobody can tell whether nobody came.
func (b *retentionBuilder) unrecorded(period cohort.Range) bool {
	span, ok := b.catalogue.Span(b.q.Return)
	return b.q.Returning == cohort.OnPeriod && ok && period.From >= span.From && len(b.catalogue.Days(b.q.Return, period)) == 0
}

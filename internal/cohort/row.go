package cohort

import "fmt"

// Row is consecutive sets of a question that belong together, like the cells of
// one cohort: their counts are kept in one place. Other questions may have rows
// of the same name, which then share their counts.
type Row struct {
	Name string
	Sets int
}

// Rows groups the sets of the question.
func (q ActiveQuestion) Rows(_ Calendar, sets int) []Row {
	return []Row{{fmt.Sprintf("active %s %d %d", q.Metric, q.Granularity, q.Window), sets}}
}

// Rows groups the sets of the question.
func (q LifecycleQuestion) Rows(_ Calendar, sets int) []Row {
	return []Row{{fmt.Sprintf("lifecycle %s %d", q.Metric, q.Granularity), sets}}
}

// Rows groups the sets of the question.
func (q StickinessQuestion) Rows(_ Calendar, sets int) []Row {
	return []Row{{fmt.Sprintf("stickiness %s %d %d", q.Metric, q.Granularity, q.Range.From), sets}}
}

// Rows groups the sets of the question: they are those of ActiveQuestions.
func (q RatioQuestion) Rows(c Calendar, sets int) []Row {
	return append(q.active(1).Rows(c, sets/2), q.active(q.Window).Rows(c, sets/2)...)
}

// Rows groups the sets of the question.
func (q RecencyQuestion) Rows(_ Calendar, sets int) []Row {
	return []Row{{"recency " + q.Metric, sets}}
}

// Rows groups the sets of the question by cohort.
func (q RetentionQuestion) Rows(c Calendar, _ int) []Row {
	var rows []Row
	for _, start := range c.Periods(q.Granularity, q.Range, q.AsOf) {
		rows = append(rows, Row{
			fmt.Sprintf("retention %s %s %d %d %d %s", q.Start, q.Return, q.Granularity, q.Membership, q.Returning, start),
			1 + len(q.begun(c, start)),
		})
	}
	return rows
}

// CellRow is some cells of a row, as they are kept: each has a field, unique
// within the row, and a value.
type CellRow struct {
	Name           string
	Fields, Values []string
}

package cohort

import (
	"strconv"
	"strings"

	"bitboard/internal/fault"
)

// Membership says who belongs to the cohort of a period.
type Membership uint8

// The memberships, the default first.
const (
	// FirstTime is the users whose first day for the start metric lies in the period.
	FirstTime Membership = iota
	// AnyTime is the users with the start metric on some day of the period.
	AnyTime
)

// Returning says when a member counts as having come back.
type Returning uint8

// The ways of returning, the default first.
const (
	// OnPeriod asks for the return metric in the period itself.
	OnPeriod Returning = iota
	// OnOrAfter asks for it in the period or any later one up to as_of.
	OnOrAfter
	// EveryPeriod asks for it in each period from the first to this one.
	EveryPeriod
)

var (
	membershipNames = []string{"first", "any"}
	returningNames  = []string{"on", "on_or_after", "every"}
)

// ParseMembership reads first or any.
func ParseMembership(field, s string) (Membership, error) {
	i, err := choose(field, s, membershipNames)
	return Membership(i), err
}

// ParseReturning reads on, on_or_after or every.
func ParseReturning(field, s string) (Returning, error) {
	i, err := choose(field, s, returningNames)
	return Returning(i), err
}

// String returns first or any.
func (m Membership) String() string { return membershipNames[m] }

// String returns on, on_or_after or every.
func (r Returning) String() string { return returningNames[r] }

// Bracket is a group of retention periods, From to To, both ends in.
type Bracket struct{ From, To int }

// String returns "1-3", or "1" for a single period.
func (b Bracket) String() string {
	if b.From == b.To {
		return strconv.Itoa(b.From)
	}
	return strconv.Itoa(b.From) + "-" + strconv.Itoa(b.To)
}

// ParseBrackets reads "1-3,4-7,8-14": ascending, no overlap, from 1 up.
func ParseBrackets(field, s string) ([]Bracket, error) {
	if s == "" {
		return nil, nil
	}
	var brackets []Bracket
	last := 0
	for part := range strings.SplitSeq(s, ",") {
		b, ok := parseBracket(part)
		if !ok || b.From <= last || b.To < b.From || b.To > MaxPeriods {
			return nil, fault.Invalid("bad_value", field,
				"%s is not a bracket that fits; ascending groups such as 1-3,4-7 within 1 to %d are accepted", fault.Show(part), MaxPeriods).
				Say("wrong.bracket", "given", fault.Show(part), "most", strconv.Itoa(MaxPeriods))
		}
		last = b.To
		brackets = append(brackets, b)
	}
	return brackets, nil
}

func parseBracket(s string) (Bracket, bool) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	if from == "" || to == "" || len(from) > maxDigits || len(to) > maxDigits {
		return Bracket{}, false
	}
	f, okF := digits(from)
	t, okT := digits(to)
	return Bracket{f, t}, okF && okT
}

// RetentionQuestion asks how many of each period's cohort came back later.
type RetentionQuestion struct {
	Start, Return string
	Range         Range
	Granularity   Granularity
	// Periods is the highest period asked for.
	Periods    int
	Membership Membership
	Returning  Returning
	// Brackets groups the columns; empty gives a column a period.
	Brackets []Bracket
	// Filter keeps only its members in each cohort; nil keeps all.
	Filter Set
	AsOf   Day
}

// Cell is one number of a retention table.
type Cell struct {
	Bracket  Bracket
	Count    int64
	Complete bool
}

// CohortRow is the cohort of one period. Cells of columns that have not begun
// by as_of are left out.
type CohortRow struct {
	Date  Day
	Size  int64
	Cells []Cell
}

// Average is the pooled rate of one column.
type Average struct {
	Bracket Bracket
	// Rate is in [0, 1]; meaningless when Cohorts is 0.
	Rate float64
	// Cohorts is how many cohorts with members have a complete cell here.
	Cohorts int
}

// Retention is the answer to a RetentionQuestion.
type Retention struct {
	Rows     []CohortRow
	Averages []Average
}

// Check reports the first thing that is wrong with the question.
func (q RetentionQuestion) Check(w Workspace) error {
	if _, err := w.DailyMetric("start", q.Start); err != nil {
		return err
	}
	if _, err := w.DailyMetric("return", q.Return); err != nil {
		return err
	}
	if q.Periods < 0 || q.Periods > MaxPeriods {
		return fault.Invalid("bad_value", "periods", "%d periods are out of range; 0 to %d is accepted", q.Periods, MaxPeriods).
			Say("wrong.number", "given", strconv.Itoa(q.Periods), "from", "0", "to", strconv.Itoa(MaxPeriods))
	}
	if len(q.Brackets) > 0 && q.Returning != OnPeriod {
		return fault.Invalid("bad_value", "brackets", "brackets go with returning on only, not %s", q.Returning).Say("wrong.brackets")
	}
	if err := q.Range.Check(); err != nil {
		return err
	}
	rows := len(w.Calendar.Periods(q.Granularity, q.Range, q.AsOf))
	if cells := rows * len(q.Columns()); cells > MaxCells {
		return fault.Invalid("range_too_long", "to", "the table would have %d cells; at most %d are accepted", cells, MaxCells).
			Say("wrong.cells", "cells", strconv.Itoa(cells), "most", strconv.Itoa(MaxCells))
	}
	return nil
}

// Columns returns the columns of a full row.
func (q RetentionQuestion) Columns() []Bracket {
	if len(q.Brackets) > 0 {
		return q.Brackets
	}
	columns := make([]Bracket, q.Periods+1)
	for n := range columns {
		columns[n] = Bracket{n, n}
	}
	return columns
}

// Members returns the cohort of the period that starts at start.
func (q RetentionQuestion) Members(c Calendar, start Day) Set {
	period := c.Period(q.Granularity, start)
	if q.Membership == FirstTime {
		return Both(FirstOn(q.Start, period, q.AsOf), q.Filter)
	}
	return Both(ActiveOn(q.Start, period, q.AsOf), q.Filter)
}

// Sets returns what is to be counted: for each cohort its members, then its
// cells in column order.
func (q RetentionQuestion) Sets(c Calendar) []Set {
	var sets []Set
	for _, start := range c.Periods(q.Granularity, q.Range, q.AsOf) {
		members := q.Members(c, start)
		sets = append(sets, members)
		before := members
		for _, b := range q.begun(c, start) {
			before = q.cell(c, start, members, before, b)
			sets = append(sets, before)
		}
	}
	return sets
}

// begun returns the columns whose first period begins on or before as_of.
func (q RetentionQuestion) begun(c Calendar, start Day) []Bracket {
	columns := q.Columns()
	for i, b := range columns {
		if c.Add(q.Granularity, start, b.From) > q.AsOf {
			return columns[:i]
		}
	}
	return columns
}

// cell returns the members counted in a column; before is those of the column
// before it, or all members.
func (q RetentionQuestion) cell(c Calendar, start Day, members, before Set, b Bracket) Set {
	from := c.Add(q.Granularity, start, b.From)
	switch q.Returning {
	case OnOrAfter:
		return Both(ActiveOn(q.Return, Range{from, q.AsOf}, q.AsOf), members)
	case EveryPeriod:
		if b.From == 0 {
			return members
		}
		return Both(before, ActiveOn(q.Return, c.Period(q.Granularity, from), q.AsOf))
	}
	return Both(ActiveOn(q.Return, Range{from, c.Add(q.Granularity, start, b.To+1) - 1}, q.AsOf), members)
}

// MembersExpr writes the cohort of the period that starts at start as a set
// expression, without the filter.
func (q RetentionQuestion) MembersExpr(c Calendar, start Day) string {
	on := onDays(q.Start, c.Period(q.Granularity, start))
	if q.Membership == FirstTime {
		return "first(" + on + ")"
	}
	return on
}

// CellExpr writes the members counted in a cell as a set expression, without
// the filter.
func (q RetentionQuestion) CellExpr(c Calendar, start Day, b Bracket) string {
	expr := q.MembersExpr(c, start)
	at := func(n int) Range { return c.Period(q.Granularity, c.Add(q.Granularity, start, n)) }
	switch q.Returning {
	case OnOrAfter:
		return expr + " & " + onDays(q.Return, Range{at(b.From).From, q.AsOf})
	case EveryPeriod:
		if q.Granularity == Daily && b.From > 1 {
			return expr + " & all(" + onDays(q.Return, Range{start + 1, start + Day(b.From)}) + ")"
		}
		for n := 1; n <= b.From; n++ {
			expr += " & " + onDays(q.Return, at(n))
		}
		return expr
	}
	return expr + " & " + onDays(q.Return, Range{at(b.From).From, at(b.To).To})
}

// onDays writes the users with a metric on some day of r as an operand.
func onDays(metric string, r Range) string {
	if r.From == r.To {
		return metric + "@" + r.From.String()
	}
	return metric + "@" + r.From.String() + ".." + r.To.String()
}

// Answer makes the table from the counts of Sets.
func (q RetentionQuestion) Answer(c Calendar, counts []int64) Retention {
	var t Retention
	for _, start := range c.Periods(q.Granularity, q.Range, q.AsOf) {
		row := CohortRow{Date: start, Size: counts[0]}
		counts = counts[1:]
		for i, b := range q.begun(c, start) {
			last := c.Period(q.Granularity, c.Add(q.Granularity, start, b.To))
			row.Cells = append(row.Cells, Cell{b, counts[i], last.Complete(q.AsOf)})
		}
		counts = counts[len(row.Cells):]
		t.Rows = append(t.Rows, row)
	}
	t.Averages = averages(q.Columns(), t.Rows)
	return t
}

// averages pools each column: the sum of its counts over the sum of the sizes.
func averages(columns []Bracket, rows []CohortRow) []Average {
	out := make([]Average, len(columns))
	for i, b := range columns {
		var count, size int64
		out[i].Bracket = b
		for _, r := range rows {
			if r.Size > 0 && i < len(r.Cells) && r.Cells[i].Complete {
				count += r.Cells[i].Count
				size += r.Size
				out[i].Cohorts++
			}
		}
		if size > 0 {
			out[i].Rate = float64(count) / float64(size)
		}
	}
	return out
}

package cohort

// Comparison says which earlier periods a range is compared with.
type Comparison string

// The comparisons. The empty one is none.
const (
	// PreviousPeriod is as much time just before the range, PreviousYear the
	// same time a year earlier.
	PreviousPeriod Comparison = "previous"
	PreviousYear   Comparison = "year"
)

// Comparisons returns all comparisons, in the order in which they are offered.
func Comparisons() []Comparison { return []Comparison{PreviousPeriod, PreviousYear} }

// ParseComparison reads previous or year; the empty string is none.
func ParseComparison(field, s string) (Comparison, error) {
	if s == "" {
		return "", nil
	}
	names := make([]string, len(Comparisons()))
	for i, k := range Comparisons() {
		names[i] = string(k)
	}
	i, err := choose(field, s, names)
	return Comparisons()[i], err
}

const (
	daysOfWeek   = 7
	weeksOfYear  = 52
	monthsOfYear = 12
)

// Shift returns by how many periods those that a range is compared with are
// earlier, so that Add(g, start, -shift) is what a period is compared with. Days
// move by whole weeks, so that each meets its own weekday: by the fewest that
// are as long as the range, or by 52. Weeks and months move by as many as the
// range touches, or by 52 and 12.
func (c Calendar) Shift(g Granularity, r Range, k Comparison) int {
	if k == PreviousYear {
		return map[Granularity]int{Daily: weeksOfYear * daysOfWeek, Weekly: weeksOfYear, Monthly: monthsOfYear}[g]
	}
	if g == Daily {
		return (r.Len() + daysOfWeek - 1) / daysOfWeek * daysOfWeek
	}
	return len(c.Periods(g, r, r.To))
}

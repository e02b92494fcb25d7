package cohort

// Preset names a range of days by where it lies before today.
type Preset string

// The presets. This month and this quarter are their days up to today.
const (
	Yesterday   Preset = "yesterday"
	Last7Days   Preset = "7d"
	Last28Days  Preset = "28d"
	Last90Days  Preset = "90d"
	ThisMonth   Preset = "this_month"
	LastMonth   Preset = "last_month"
	ThisQuarter Preset = "this_quarter"
)

// Presets returns all presets, in the order in which they are offered and in
// which one is chosen when several are the same days.
func Presets() []Preset {
	return []Preset{Yesterday, Last7Days, Last28Days, Last90Days, ThisMonth, LastMonth, ThisQuarter}
}

// ParsePreset reads the name of a preset; the empty string is none.
func ParsePreset(field, s string) (Preset, error) {
	if s == "" {
		return "", nil
	}
	names := make([]string, len(Presets()))
	for i, p := range Presets() {
		names[i] = string(p)
	}
	i, err := choose(field, s, names)
	return Presets()[i], err
}

const monthsOfQuarter = 3

// trailingDays is how many days a preset has that slides with today, or 0.
func (p Preset) trailingDays() int {
	return map[Preset]int{Yesterday: 1, Last7Days: 7, Last28Days: 28, Last90Days: 90}[p]
}

// months is how many calendar months a preset stands for, or 0.
func (p Preset) months() int {
	return map[Preset]int{ThisMonth: 1, LastMonth: 1, ThisQuarter: monthsOfQuarter}[p]
}

// LastDay returns the last day that a range up to asOf holds: asOf itself, or
// the last day of the last complete period when it is to hold no other.
func (c Calendar) LastDay(g Granularity, completeOnly bool, asOf Day) Day {
	if !completeOnly {
		return asOf
	}
	return max(MinDay, c.Start(g, asOf)-1)
}

// Preset returns the days of a preset, none of which is after last when there
// are others: this month is one day, not none, where last is in the month before.
func (c Calendar) Preset(p Preset, asOf, last Day) Range {
	if n := p.trailingDays(); n > 0 {
		to := last
		if p == Yesterday {
			to = min(last, asOf-1)
		}
		return Range{to - Day(n-1), to}.clamp()
	}
	month := c.Start(Monthly, asOf)
	switch p {
	case LastMonth:
		return Range{c.Add(Monthly, month, -1), month - 1}.clamp().EndBy(last)
	case ThisQuarter:
		_, m, _ := month.Date()
		return Range{c.Add(Monthly, month, -(int(m)-1)%monthsOfQuarter), asOf}.EndBy(last)
	default:
		return Range{month, asOf}.EndBy(last)
	}
}

// EndBy returns the days of r that are not after last. A range that begins
// after it stays as it is.
func (r Range) EndBy(last Day) Range {
	if last < r.From {
		return r
	}
	return r.Until(last)
}

// clamp moves the ends that no date can name to the nearest that one can.
func (r Range) clamp() Range { return Range{max(r.From, MinDay), max(r.To, MinDay)} }

// Before returns the range just before r that is as long: as many days, or as
// many months when r is whole months or a preset of months; ok is false where
// there is no such range.
func (c Calendar) Before(r Range, p Preset) (before Range, ok bool) {
	if n := c.monthsOf(r, p); n > 0 {
		before = Range{c.Add(Monthly, r.From, -n), r.From - 1}
	} else {
		before = Range{r.From - Day(r.Len()), r.From - 1}
	}
	return before, r.Len() > 0 && before.From >= MinDay
}

// After returns the range just after r that is as long, moved or cut so that
// it holds no day after last; ok is false when r reaches there already.
func (c Calendar) After(r Range, p Preset, last Day) (after Range, ok bool) {
	if r.Len() == 0 || r.To >= last {
		return Range{}, false
	}
	if n := c.monthsOf(r, p); n > 0 {
		from := c.Add(Monthly, r.From, n)
		return Range{from, c.Add(Monthly, from, n) - 1}.Until(last), from <= last
	}
	to := min(r.To+Day(r.Len()), last)
	return Range{to - Day(r.Len()-1), to}, true
}

// monthsOf is how many months a range stands for, or 0 when it is so many days.
func (c Calendar) monthsOf(r Range, p Preset) int {
	if p.trailingDays() > 0 || p.months() > 0 {
		return p.months()
	}
	if r.From != c.Start(Monthly, r.From) || r.To+1 != c.Start(Monthly, r.To+1) {
		return 0
	}
	y1, m1, _ := r.From.Date()
	y2, m2, _ := (r.To + 1).Date()
	return (y2-y1)*12 + int(m2-m1)
}

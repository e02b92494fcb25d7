package cohort

import "time"

// Day is a civil date as a number of days since 1970-01-01, which may be
// negative. It knows no time zone; DayOf turns an instant into a Day.
type Day int32

const (
	secondsPerDay = 24 * 60 * 60
	dateLayout    = "2006-01-02"
	compactLayout = "20060102"
)

// MinDay and MaxDay are the first and the last day that can be written as YYYY-MM-DD.
var (
	MinDay = DayOfDate(1, time.January, 1)
	MaxDay = DayOfDate(9999, time.December, 31)
)

// DayOfDate returns the day of a date of the proleptic Gregorian calendar.
func DayOfDate(year int, month time.Month, day int) Day {
	// In UTC every civil day is exactly 86,400 s long, so division is exact.
	unix := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	return Day(unix / secondsPerDay)
}

// DayOf returns the civil day of an instant in a zone.
func DayOf(t time.Time, zone *time.Location) Day {
	y, m, d := t.In(zone).Date()
	return DayOfDate(y, m, d)
}

// parseDay reads YYYY-MM-DD; ok is false for a date that does not exist.
func parseDay(s string) (Day, bool) {
	if len(s) != len(dateLayout) || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	y, okY := digits(s[0:4])
	m, okM := digits(s[5:7])
	d, okD := digits(s[8:10])
	if !okY || !okM || !okD || y < 1 || m < 1 || m > 12 || d < 1 || d > daysIn(y, time.Month(m)) {
		return 0, false
	}
	return DayOfDate(y, time.Month(m), d), true
}

// digits reads a string of ASCII digits only.
func digits(s string) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// ParseCompactDay reads YYYYMMDD, the form in which keys hold a day.
func ParseCompactDay(s string) (Day, bool) {
	if len(s) != len(compactLayout) {
		return 0, false
	}
	return parseDay(s[0:4] + "-" + s[4:6] + "-" + s[6:8])
}

// Date returns the year, month and day of the month.
func (d Day) Date() (year int, month time.Month, day int) {
	return d.midnight().Date()
}

func (d Day) midnight() time.Time {
	return time.Unix(int64(d)*secondsPerDay, 0).UTC()
}

// Weekday returns the day of the week.
func (d Day) Weekday() time.Weekday { return d.midnight().Weekday() }

// String returns YYYY-MM-DD.
func (d Day) String() string {
	return d.midnight().Format(dateLayout)
}

// Compact returns YYYYMMDD.
func (d Day) Compact() string {
	return d.midnight().Format(compactLayout)
}

// Start returns the first instant of the day in a zone. Where a DST change
// skips midnight it is the first instant after the gap.
func (d Day) Start(zone *time.Location) time.Time {
	y, m, day := d.Date()
	t := time.Date(y, m, day, 0, 0, 0, 0, zone)
	if DayOf(t, zone) < d { // time.Date chose the offset before the gap
		_, before := t.Zone()
		_, after := t.Add(secondsPerDay / 2 * time.Second).Zone()
		t = t.Add(time.Duration(after-before) * time.Second)
	}
	return t
}

// MarshalText returns YYYY-MM-DD, so that a Day is a string in JSON.
func (d Day) MarshalText() ([]byte, error) { return d.midnight().AppendFormat(nil, dateLayout), nil }

// Range is the days from From to To, both ends in. It is empty when To is before From.
type Range struct{ From, To Day }

// Len returns the number of days.
func (r Range) Len() int { return max(0, int(r.To)-int(r.From)+1) }

// Until returns the part of the range that is not after last.
func (r Range) Until(last Day) Range { return Range{r.From, min(r.To, last)} }

// Has reports whether d lies in the range.
func (r Range) Has(d Day) bool { return r.From <= d && d <= r.To }

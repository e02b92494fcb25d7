package ingest

import (
	"math"
	"time"

	"bitboard/internal/cohort"
)

const (
	secondsPerDay    = 24 * 60 * 60
	secondsPerHour   = 60 * 60
	secondsPerMinute = 60
)

// days turns instants into the civil days of a zone. It remembers the last
// offset from UTC and the instants for which that holds, since the rows of a
// log lie close together. It is not safe for concurrent use.
type days struct {
	zone     *time.Location
	from, to int64 // Unix seconds for which offset holds, to not included
	offset   int64 // seconds east of UTC
}

func newDays(zone *time.Location) *days { return &days{zone: zone} }

// of returns the day of an instant in Unix seconds.
func (d *days) of(unix int64) cohort.Day {
	if unix < d.from || unix >= d.to {
		d.move(unix)
	}
	local := unix + d.offset
	day := local / secondsPerDay
	if local%secondsPerDay < 0 {
		day--
	}
	return cohort.Day(day)
}

// move looks up the offset of an instant and for how long it holds.
func (d *days) move(unix int64) {
	t := time.Unix(unix, 0).In(d.zone)
	_, offset := t.Zone()
	d.offset, d.from, d.to = int64(offset), math.MinInt64, math.MaxInt64
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		d.from = start.Unix()
	}
	if !end.IsZero() {
		d.to = end.Unix()
	}
}

// parseTimestamp reads an instant of RFC 3339 as Unix seconds, without
// allocating. Years are 0000 to 9999; a leap second is none of its seconds.
func parseTimestamp(b []byte) (unix int64, ok bool) {
	const short = len("2006-01-02T15:04:05")
	if len(b) <= short || b[10]|0x20 != 't' || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	day, okDate := parseDate(b[:10])
	hour, okHour := pair(b[11], b[12], 23)
	minute, okMinute := pair(b[14], b[15], 59)
	second, okSecond := pair(b[17], b[18], 59)
	offset, okOffset := parseOffset(afterFraction(b[short:]))
	seconds := int64(day)*secondsPerDay + int64(hour*secondsPerHour+minute*secondsPerMinute+second)
	return seconds - int64(offset), okDate && okHour && okMinute && okSecond && okOffset
}

// parseDate reads a date that exists, of the years 0000 to 9999.
func parseDate(b []byte) (cohort.Day, bool) {
	if len(b) != len("2006-01-02") || b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	century, okCentury := pair(b[0], b[1], 99)
	year, okYear := pair(b[2], b[3], 99)
	month, okMonth := pair(b[5], b[6], 12)
	day, okDay := pair(b[8], b[9], 31)
	year += 100 * century
	if !okCentury || !okYear || !okMonth || !okDay || month == 0 || day == 0 || day > monthLength(year, month) {
		return 0, false
	}
	return dayOfDate(year, month, day), true
}

// dayOfDate counts the days to a date that exists. It is cohort.DayOfDate for
// a month of 1 to 12 and a year from 0 on, five times as fast.
func dayOfDate(year, month, day int) cohort.Day {
	const (
		cycle = 400 // years, after which the calendar repeats
		epoch = 719468 + 146097
	)
	// Years that begin in March have their odd day last.
	year += cycle
	if month < 3 {
		year, month = year-1, month+12
	}
	return cohort.Day(365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - epoch)
}

func monthLength(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

// afterFraction passes a fraction of a second; one without digits is left.
func afterFraction(b []byte) []byte {
	if len(b) < 2 || b[0] != '.' || !isDigit(b[1]) {
		return b
	}
	n := 2
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return b[n:]
}

// parseOffset reads Z or ±hh:mm as seconds east of UTC.
func parseOffset(b []byte) (seconds int, ok bool) {
	if len(b) == 1 {
		return 0, b[0]|0x20 == 'z'
	}
	if len(b) != len("+00:00") || b[3] != ':' {
		return 0, false
	}
	hour, okHour := pair(b[1], b[2], 23)
	minute, okMinute := pair(b[4], b[5], 59)
	seconds = hour*secondsPerHour + minute*secondsPerMinute
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, okHour && okMinute && (b[0] == '+' || b[0] == '-')
}

// pair reads two decimal digits up to a maximum.
func pair(tens, ones byte, most int) (int, bool) {
	n := 10*int(tens-'0') + int(ones-'0')
	return n, isDigit(tens) && isDigit(ones) && n <= most
}

func isDigit(c byte) bool { return c-'0' <= 9 }

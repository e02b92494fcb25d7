package cohort_test

import (
	"testing"
	"time"

	"bitboard/internal/cohort"
)

func TestParseDay(t *testing.T) {
	for _, text := range []string{"2026-03-01", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "1969-12-31"} {
		d, err := cohort.ParseRelativeDay("day", text, 0)
		if err != nil || d.String() != text {
			t.Errorf("%s is read as %s, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "2026-02-30", "2025-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-03-00", "0000-01-01", "2026-3-1", "2026-03-01 ", "+026-03-01", "2026/03/01", "02026-03-01"} {
		if d, err := cohort.ParseRelativeDay("day", text, 0); err == nil {
			t.Errorf("%q is read as %s, want an error", text, d)
		}
	}
}

func TestDaysOfInstants(t *testing.T) {
	for _, tt := range []struct{ zone, instant, want string }{
		{"UTC", "2026-03-01T23:59:59.999Z", "2026-03-01"},
		{"Asia/Kathmandu", "2026-03-01T18:14:59Z", "2026-03-01"},
		{"Asia/Kathmandu", "2026-03-01T18:15:00Z", "2026-03-02"},
		{"America/Los_Angeles", "2026-03-08T09:59:59Z", "2026-03-08"}, // the 23-hour day
		{"Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-25"},       // the 25-hour day
		{"Europe/Berlin", "2026-10-25T23:00:00Z", "2026-10-26"},
		{"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"}, // the zone skipped the 30th
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"},
	} {
		zone, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		instant, err := time.Parse(time.RFC3339, tt.instant)
		if err != nil {
			t.Fatal(err)
		}
		if got := cohort.DayOf(instant, zone).String(); got != tt.want {
			t.Errorf("%s in %s is on %s, want %s", tt.instant, tt.zone, got, tt.want)
		}
	}
}

func TestStartIsTheFirstInstantOfADay(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Beirut", "Pacific/Auckland", "Africa/Cairo", "America/Havana"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for d := cohort.DayOfDate(2015, time.January, 1); d < cohort.DayOfDate(2027, time.January, 1); d++ {
			start := d.Start(zone)
			if at, before := cohort.DayOf(start, zone), cohort.DayOf(start.Add(-time.Second), zone); at != d || before != d-1 {
				t.Fatalf("%s in %s starts at %s, which is on %s, and the second before on %s", d, name, start, at, before)
			}
		}
	}
}

func TestPeriods(t *testing.T) {
	monday, sunday := cohort.Calendar{WeekStart: time.Monday}, cohort.Calendar{WeekStart: time.Sunday}
	for _, tt := range []struct {
		calendar cohort.Calendar
		g        cohort.Granularity
		day      string
		want     string
	}{
		{monday, cohort.Daily, "2026-03-01", "2026-03-01 2026-03-01"},
		{monday, cohort.Weekly, "2026-03-01", "2026-02-23 2026-03-01"},
		{sunday, cohort.Weekly, "2026-03-01", "2026-03-01 2026-03-07"},
		{monday, cohort.Weekly, "2026-01-01", "2025-12-29 2026-01-04"},
		{monday, cohort.Weekly, "1969-12-31", "1969-12-29 1970-01-04"},
		{monday, cohort.Monthly, "2024-02-29", "2024-02-01 2024-02-29"},
		{monday, cohort.Monthly, "2026-12-31", "2026-12-01 2026-12-31"},
	} {
		d, err := cohort.ParseRelativeDay("day", tt.day, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := tt.calendar.Period(tt.g, tt.calendar.Start(tt.g, d))
		if got := p.From.String() + " " + p.To.String(); got != tt.want {
			t.Errorf("the %s of %s is %s, want %s", tt.g, tt.day, got, tt.want)
		}
	}
}

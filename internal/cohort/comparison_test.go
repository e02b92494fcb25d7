package cohort

import (
	"testing"
	"time"
)

func TestPeriodsAreComparedWithEarlierOnes(t *testing.T) {
	monday, sunday := Calendar{WeekStart: time.Monday}, Calendar{WeekStart: time.Sunday}
	for _, tt := range []struct {
		name     string
		calendar Calendar
		g        Granularity
		from, to string
		kind     Comparison
		// first and last are what the range's first and last periods are compared with.
		first, last string
	}{
		{"a day with its weekday", monday, Daily, "2026-03-09", "2026-03-09", PreviousPeriod, "2026-03-02", "2026-03-02"},
		{"seven days with the seven before", monday, Daily, "2026-03-04", "2026-03-10", PreviousPeriod, "2026-02-25", "2026-03-03"},
		{"eight days with those two weeks before", monday, Daily, "2026-03-03", "2026-03-10", PreviousPeriod, "2026-02-17", "2026-02-24"},
		{"28 days", monday, Daily, "2026-02-11", "2026-03-10", PreviousPeriod, "2026-01-14", "2026-02-10"},
		{"90 days with those 13 weeks before", monday, Daily, "2025-12-11", "2026-03-10", PreviousPeriod, "2025-09-11", "2025-12-09"},
		{"a month of 31 days by day", monday, Daily, "2026-01-01", "2026-01-31", PreviousPeriod, "2025-11-27", "2025-12-27"},
		{"days of a leap February", monday, Daily, "2024-02-01", "2024-02-29", PreviousPeriod, "2023-12-28", "2024-01-25"},
		{"days a year before, by weekday", monday, Daily, "2026-03-04", "2026-03-10", PreviousYear, "2025-03-05", "2025-03-11"},
		{"a leap day a year before", monday, Daily, "2024-02-29", "2024-02-29", PreviousYear, "2023-03-02", "2023-03-02"},
		{"a year across a leap day", monday, Daily, "2025-01-06", "2025-01-12", PreviousYear, "2024-01-08", "2024-01-14"},
		{"two weeks that the range only touches", monday, Weekly, "2026-03-08", "2026-03-09", PreviousPeriod, "2026-02-16", "2026-02-23"},
		{"the same days in weeks from Sunday are one week", sunday, Weekly, "2026-03-08", "2026-03-09", PreviousPeriod, "2026-03-01", "2026-03-01"},
		{"weeks a year before", monday, Weekly, "2026-03-02", "2026-03-15", PreviousYear, "2025-03-03", "2025-03-10"},
		{"weeks from Sunday a year before", sunday, Weekly, "2026-03-01", "2026-03-14", PreviousYear, "2025-03-02", "2025-03-09"},
		{"February with January, though it is shorter", monday, Monthly, "2026-02-01", "2026-02-28", PreviousPeriod, "2026-01-01", "2026-01-01"},
		{"March with February, though it is longer", monday, Monthly, "2026-03-31", "2026-03-31", PreviousPeriod, "2026-02-01", "2026-02-01"},
		{"a quarter with the one before, across the year", monday, Monthly, "2026-01-15", "2026-03-10", PreviousPeriod, "2025-10-01", "2025-12-01"},
		{"months a year before", monday, Monthly, "2024-02-29", "2024-03-01", PreviousYear, "2023-02-01", "2023-03-01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rangeOf(t, tt.from+".."+tt.to)
			shift := tt.calendar.Shift(tt.g, r, tt.kind)
			starts := tt.calendar.Periods(tt.g, r, r.To)
			first, last := tt.calendar.Add(tt.g, starts[0], -shift), tt.calendar.Add(tt.g, starts[len(starts)-1], -shift)
			if first.String() != tt.first || last.String() != tt.last {
				t.Errorf("%s and %s, want %s and %s", first, last, tt.first, tt.last)
			}
			if tt.kind == PreviousPeriod && last >= starts[0] {
				t.Errorf("%s lies in the range", last)
			}
			if tt.g == Daily && first.Weekday() != starts[0].Weekday() {
				t.Errorf("a %s is compared with a %s", starts[0].Weekday(), first.Weekday())
			}
		})
	}
}

func TestParseComparison(t *testing.T) {
	for given, want := range map[string]Comparison{"": "", "previous": PreviousPeriod, "year": PreviousYear} {
		if got, err := ParseComparison("compare", given); got != want || err != nil {
			t.Errorf("%q is read as %q (%v)", given, got, err)
		}
	}
	if _, err := ParseComparison("compare", "month"); err == nil {
		t.Error("month is accepted")
	}
}

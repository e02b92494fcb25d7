package cohort

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rangeOf reads "2026-03-01..2026-03-09".
func rangeOf(t *testing.T, s string) Range {
	t.Helper()
	from, okFrom := parseDay(s[:10])
	to, okTo := parseDay(s[12:])
	if !okFrom || !okTo {
		t.Fatalf("%s is no range", s)
	}
	return Range{from, to}
}

func (r Range) text() string { return r.From.String() + ".." + r.To.String() }

func TestPresets(t *testing.T) {
	for _, tt := range []struct {
		name         string
		preset       Preset
		asOf         string
		granularity  Granularity
		completeOnly bool
		sundays      bool
		want         string
	}{
		{name: "yesterday", preset: Yesterday, asOf: "2026-03-01", want: "2026-02-28..2026-02-28"},
		{name: "yesterday in a leap year", preset: Yesterday, asOf: "2024-03-01", want: "2024-02-29..2024-02-29"},
		{name: "yesterday of complete days is yesterday", preset: Yesterday, asOf: "2026-03-01", completeOnly: true, want: "2026-02-28..2026-02-28"},
		{name: "7 days with today", preset: Last7Days, asOf: "2026-03-02", want: "2026-02-24..2026-03-02"},
		{name: "7 complete days", preset: Last7Days, asOf: "2026-03-02", completeOnly: true, want: "2026-02-23..2026-03-01"},
		{name: "28 days over a leap day", preset: Last28Days, asOf: "2024-03-10", want: "2024-02-12..2024-03-10"},
		{name: "28 days in complete weeks from Monday", preset: Last28Days, asOf: "2026-03-18", granularity: Weekly, completeOnly: true, want: "2026-02-16..2026-03-15"},
		{name: "28 days in complete weeks from Sunday", preset: Last28Days, asOf: "2026-03-18", granularity: Weekly, completeOnly: true, sundays: true, want: "2026-02-15..2026-03-14"},
		{name: "a week is not complete on its last day", preset: Last7Days, asOf: "2026-03-15", granularity: Weekly, completeOnly: true, want: "2026-03-02..2026-03-08"},
		{name: "90 days in complete months", preset: Last90Days, asOf: "2026-03-18", granularity: Monthly, completeOnly: true, want: "2025-12-01..2026-02-28"},
		{name: "this month", preset: ThisMonth, asOf: "2024-02-29", want: "2024-02-01..2024-02-29"},
		{name: "this month's complete days", preset: ThisMonth, asOf: "2026-03-18", completeOnly: true, want: "2026-03-01..2026-03-17"},
		{name: "a month without a complete day", preset: ThisMonth, asOf: "2026-03-01", completeOnly: true, want: "2026-03-01..2026-03-01"},
		{name: "last month in March", preset: LastMonth, asOf: "2026-03-31", want: "2026-02-01..2026-02-28"},
		{name: "last month in January", preset: LastMonth, asOf: "2026-01-01", want: "2025-12-01..2025-12-31"},
		{name: "last month in complete weeks", preset: LastMonth, asOf: "2026-04-03", granularity: Weekly, completeOnly: true, want: "2026-03-01..2026-03-29"},
		{name: "this quarter", preset: ThisQuarter, asOf: "2026-03-18", want: "2026-01-01..2026-03-18"},
		{name: "a quarter's first day", preset: ThisQuarter, asOf: "2026-04-01", want: "2026-04-01..2026-04-01"},
		{name: "a quarter's last day", preset: ThisQuarter, asOf: "2026-12-31", want: "2026-10-01..2026-12-31"},
		{name: "a quarter's complete months", preset: ThisQuarter, asOf: "2026-06-30", granularity: Monthly, completeOnly: true, want: "2026-04-01..2026-05-31"},
		{name: "before the first day", preset: Last90Days, asOf: "0001-01-02", want: "0001-01-01..0001-01-02"},
		{name: "last month of the first month", preset: LastMonth, asOf: "0001-01-02", want: "0001-01-01..0001-01-01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Calendar{WeekStart: time.Monday}
			if tt.sundays {
				c.WeekStart = time.Sunday
			}
			asOf, _ := parseDay(tt.asOf)
			got := c.Preset(tt.preset, asOf, c.LastDay(tt.granularity, tt.completeOnly, asOf))
			if diff := cmp.Diff(tt.want, got.text()); diff != "" {
				t.Errorf("days (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRangesBesideARange(t *testing.T) {
	const none = ""
	for _, tt := range []struct {
		name, days    string
		preset        Preset
		last          string
		before, after string
	}{
		{"days", "2026-02-01..2026-02-10", "", "2026-12-31", "2026-01-22..2026-01-31", "2026-02-11..2026-02-20"},
		{"the range after ends by the last day", "2026-02-01..2026-02-10", "", "2026-02-13", "2026-01-22..2026-01-31", "2026-02-04..2026-02-13"},
		{"nothing is after the last day", "2026-02-01..2026-02-10", "", "2026-02-10", "2026-01-22..2026-01-31", none},
		{"a range that ends after the last day", "2026-02-01..2026-02-10", "", "2026-02-08", "2026-01-22..2026-01-31", none},
		{"a whole month", "2024-03-01..2024-03-31", "", "2024-12-31", "2024-02-01..2024-02-29", "2024-04-01..2024-04-30"},
		{"a month before the present one", "2026-02-01..2026-02-28", "", "2026-03-18", "2026-01-01..2026-01-31", "2026-03-01..2026-03-18"},
		{"a whole quarter over a year's end", "2026-01-01..2026-03-31", "", "2026-12-31", "2025-10-01..2025-12-31", "2026-04-01..2026-06-30"},
		{"28 days that are a month", "2026-02-01..2026-02-28", Last28Days, "2026-12-31", "2026-01-04..2026-01-31", "2026-03-01..2026-03-28"},
		{"this month", "2026-03-01..2026-03-18", ThisMonth, "2026-03-18", "2026-02-01..2026-02-28", none},
		{"this quarter", "2026-01-01..2026-03-18", ThisQuarter, "2026-03-18", "2025-10-01..2025-12-31", none},
		{"last month without its last days", "2026-03-01..2026-03-29", LastMonth, "2026-03-29", "2026-02-01..2026-02-28", none},
		{"one day", "2026-03-01..2026-03-01", Yesterday, "2026-03-02", "2026-02-28..2026-02-28", "2026-03-02..2026-03-02"},
		{"nothing is before the first day", "0001-01-05..0001-01-20", "", "2026-03-02", none, "0001-01-21..0001-02-05"},
		{"no days", "2026-03-02..2026-03-01", "", "2026-03-09", none, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Calendar{WeekStart: time.Monday}
			days := rangeOf(t, tt.days)
			last, _ := parseDay(tt.last)
			written := func(r Range, ok bool) string {
				if !ok {
					return none
				}
				return r.text()
			}
			if diff := cmp.Diff(tt.before, written(c.Before(days, tt.preset))); diff != "" {
				t.Errorf("before (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.after, written(c.After(days, tt.preset, last))); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParsePreset(t *testing.T) {
	for _, p := range append(Presets(), "") {
		if got, err := ParsePreset("range", string(p)); err != nil || got != p {
			t.Errorf("%q is read as %q, %v", p, got, err)
		}
	}
	if _, err := ParsePreset("range", "8d"); err == nil {
		t.Error("8d is taken for a preset")
	}
}

package ingest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"bitboard/internal/cohort"
)

func TestParseTimestamp(t *testing.T) {
	tests := []struct {
		text string
		want string // the instant in UTC, empty for none
	}{
		{"2026-03-01T10:20:30Z", "2026-03-01T10:20:30Z"},
		{"2026-03-01t10:20:30z", "2026-03-01T10:20:30Z"},
		{"2026-03-01T23:59:59.999999999Z", "2026-03-01T23:59:59Z"},
		{"2026-03-01T00:00:00.000001234567890123Z", "2026-03-01T00:00:00Z"},
		{"2026-03-02T00:00:00+02:00", "2026-03-01T22:00:00Z"},
		{"2026-03-12T13:59:59+14:00", "2026-03-11T23:59:59Z"},
		{"2026-03-10T12:00:00-12:00", "2026-03-11T00:00:00Z"},
		{"2026-03-01T00:00:00-00:00", "2026-03-01T00:00:00Z"},
		{"2024-02-29T00:00:00+23:59", "2024-02-28T00:01:00Z"},
		{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		{"", ""},
		{"2026-03-01", ""},
		{"2026-03-01 10:00:00Z", ""},
		{"2026-03-01T10:00:00", ""},
		{"2026-03-01T10:00Z", ""},
		{"2026-03-01T1:00:00Z", ""},
		{"2026-03-01T25:00:00Z", ""},
		{"2026-03-01T24:00:00Z", ""},
		{"2026-03-01T23:60:00Z", ""},
		{"2026-03-01T23:59:60Z", ""},
		{"2026-02-30T10:00:00Z", ""},
		{"2026-13-01T10:00:00Z", ""},
		{"2026-00-01T10:00:00Z", ""},
		{"2025-02-29T10:00:00Z", ""},
		{"1900-02-29T10:00:00Z", ""},
		{"2026-03-01T10:00:00.Z", ""},
		{"2026-03-01T10:00:00,5Z", ""},
		{"2026-03-01T10:00:00+0100", ""},
		{"2026-03-01T10:00:00+01", ""},
		{"2026-03-01T10:00:00+24:00", ""},
		{"2026-03-01T10:00:00+01:60", ""},
		{"2026-03-01T10:00:00 01:00", ""},
		{"2026-03-01T10:00:00Z ", ""},
		{" 2026-03-01T10:00:00Z", ""},
		{"02026-03-01T10:00:00Z", ""},
		{"1772359200", ""},
		{"2026-03-01T10:00:0٣Z", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got := ""
			if unix, ok := parseTimestamp([]byte(tt.text)); ok {
				got = time.Unix(unix, 0).UTC().Format(time.RFC3339)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// checkTimestamp holds the parser against the standard library, which takes
// some texts that RFC 3339 does not have.
func checkTimestamp(t interface{ Errorf(string, ...any) }, text string) {
	unix, ok := parseTimestamp([]byte(text))
	want, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text))
	switch {
	case ok && err != nil:
		t.Errorf("%q was read; time.Parse says %v", text, err)
	case ok && unix != want.Unix():
		t.Errorf("%q is %d, time.Parse says %d", text, unix, want.Unix())
	case !ok && err == nil && !lenient(text):
		t.Errorf("%q was refused; time.Parse says %v", text, want)
	}
}

// lenient tells the texts that only time.Parse takes: hours of one digit,
// a comma before the fraction, offsets of 24 hours or 60 minutes.
func lenient(text string) bool {
	return len(text) < len("2006-01-02T15:04:05Z") || text[13] != ':' || strings.Contains(text, ",") ||
		strings.HasSuffix(text, ":60") || strings.Contains(text[19:], "+24:") || strings.Contains(text[19:], "-24:")
}

func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{"2026-03-01T10:20:30Z", "2026-03-01T10:20:30.5+01:00", "2024-02-29T23:59:59-23:59", "2026-03-01T1:20:30,5+24:60"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTimestamp(t, text) })
}

func TestTimestampsLikeTheStandardLibrary(t *testing.T) {
	field := func(width, most int) *rapid.Generator[string] {
		return rapid.Map(rapid.IntRange(0, most), func(n int) string { return fmt.Sprintf("%0*d", width, n) })
	}
	rapid.Check(t, func(t *rapid.T) {
		text := field(4, 9999).Draw(t, "year") + "-" + field(2, 13).Draw(t, "month") + "-" + field(2, 32).Draw(t, "day") +
			rapid.SampledFrom([]string{"T", "T", "T", " ", "t"}).Draw(t, "separator") +
			field(2, 24).Draw(t, "hour") + ":" + field(2, 60).Draw(t, "minute") + ":" + field(2, 60).Draw(t, "second") +
			rapid.SampledFrom([]string{"", "", ".0", ".123456789", ".", ",5"}).Draw(t, "fraction") +
			rapid.SampledFrom([]string{"Z", "z", "+01:00", "-12:00", "+23:59", "+24:00", "-00:60", "+0100", ""}).Draw(t, "offset")
		checkTimestamp(t, text)
	})
}

func TestDatesLikeTheDomain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(cohort.Day(rapid.IntRange(int(cohort.MinDay), int(cohort.MaxDay)).Draw(t, "day")).String())
		if rapid.Bool().Draw(t, "change") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0123459-x ")).Draw(t, "to")
		}
		want, err := cohort.ParseRelativeDay("day", string(b), 0)
		got, ok := parseDate(b)
		ok = ok && inCalendar(got)
		if ok != (err == nil) || ok && got != want {
			t.Errorf("%q is %v, %v; the domain says %v, %v", b, got, ok, want, err)
		}
	})
}

func TestDaysOfAZone(t *testing.T) {
	var zones []*days
	var locations []*time.Location
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "America/Sao_Paulo", "Pacific/Apia", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Cairo"} {
		l, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		locations, zones = append(locations, l), append(zones, newDays(l))
	}
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Unix()
	check := func(t interface{ Errorf(string, ...any) }, i int, unix int64) {
		if got, want := zones[i].of(unix), cohort.DayOf(time.Unix(unix, 0), locations[i]); got != want {
			t.Errorf("%s at %d: %v, want %v", locations[i], unix, got, want)
		}
	}
	t.Run("any instant", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			check(t, rapid.IntRange(0, len(zones)-1).Draw(t, "zone"), rapid.Int64Range(first, last).Draw(t, "instant"))
		})
	})
	t.Run("every half hour of years with odd days", func(t *testing.T) {
		for i := range zones {
			for _, year := range []int{2011, 2018, 2026} {
				for unix := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); unix < time.Date(year+1, 1, 2, 0, 0, 0, 0, time.UTC).Unix(); unix += 1800 {
					check(t, i, unix-1)
					check(t, i, unix)
				}
			}
		}
	})
}

func BenchmarkDayOfTimestamp(b *testing.B) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	texts := bytes.Fields([]byte("2026-03-01T10:20:30Z 2026-03-02T11:20:30.123+01:00 2026-03-03T12:20:30Z 2026-03-04T13:20:30-05:00"))
	d, n := newDays(berlin), 0
	for b.Loop() {
		unix, ok := parseTimestamp(texts[n%len(texts)])
		if d.of(unix); !ok {
			b.Fatal("refused")
		}
		n++
	}
}

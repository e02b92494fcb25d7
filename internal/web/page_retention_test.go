package web_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRetentionShowsAShareOfTheColumnBefore(t *testing.T) {
	// 5 March: a, b, c. Day 1: a. Day 2: a and b, twice as many as on day 1.
	s := newSite(t, week...)
	page := s.get("/retention?start=active&cohorts=any&from=2026-03-05&to=2026-03-05&periods=2&show=previous&columns=1", "Accept", html).body
	for _, want := range []string{">100.0%</a>", ">33.3%</a>", ">200.0%</a>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the table holds no %s", want)
		}
	}
}

func TestRetentionColumnsOverTimeBeginBeforeTheRange(t *testing.T) {
	s := newSite(t, week...)
	page := s.get("/retention?start=active&cohorts=any&from=2026-03-08&to=2026-03-09&periods=1&columns=1,4", "Accept", html).body
	_, overTime, found := strings.Cut(page, `id="over-time"`)
	// The cohort of 4 March, 4 days before the range: a came on day 1 and on day 4.
	if want := "/cohorts?expr=active%402026-03-04+%26+active%402026-03-08"; !found || !strings.Contains(overTime, want) {
		t.Errorf("the columns over time hold no %s", want)
	}
	if strings.Contains(overTime, "Day 2<") || !strings.Contains(overTime, "Day 4<") {
		t.Error("the columns over time are not those asked for")
	}
}

func TestRetentionMarksCellsThatReadAMissingDay(t *testing.T) {
	s := newSite(t, "a login 2026-03-02", "a login 2026-03-03", "a login 2026-03-04", "a login 2026-03-06", "a login 2026-03-07")
	for _, tt := range []struct{ query, state string }{
		{"returning=on&columns=1", " no-data"},
		{"returning=on&brackets=1-2,3", " suspect"},
		{"returning=every", " no-data"},
		{"returning=on_or_after", " suspect"},
	} {
		page := s.get("/retention?cohorts=any&periods=3&from=2026-03-03&to=2026-03-06&as_of=2026-03-07&"+tt.query, "Accept", html).body
		table, _, _ := strings.Cut(page, `id="curves"`)
		_, body, _ := strings.Cut(table, "<tbody>")
		var got []string
		for _, row := range strings.Split(body, "<tr>")[1:5] {
			cells := ""
			for _, cell := range strings.Split(row, `<td class="cell`)[1:] {
				class, _, _ := strings.Cut(cell, `"`)
				cells += map[bool]string{true: "x", false: "."}[strings.Contains(class, tt.state)]
			}
			got = append(got, cells)
		}
		// The 5th is missing: nothing is known of it, not even that nobody came.
		want := map[string][]string{
			"returning=on&columns=1":      {"..x.", ".x..", "x...", "...."},
			"returning=on&brackets=1-2,3": {"x.", "x.", "..", ".."},
			"returning=every":             {"..xx", ".xxx", "....", "...."},
			"returning=on_or_after":       {"xxx.", "xx..", "x...", "...."},
		}[tt.query]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: marked cells of 3 to 6 March (-want +got):\n%s", tt.query, diff)
		}
		if !strings.Contains(table, "nothing was stored for a day") {
			t.Errorf("%s: the mark is not explained", tt.query)
		}
	}
}

func TestRetentionColumnsFollowTheDayTakenAsToday(t *testing.T) {
	s := newSite(t, week...)
	for asOf, want := range map[string]string{"2026-03-05": "not-yet", "2026-03-06": "so-far", "2026-03-07": "scale-"} {
		page := s.get("/retention?cohorts=any&periods=1&from=2026-03-05&to=2026-03-05&as_of="+asOf, "Accept", html).body
		_, row, _ := strings.Cut(page, "<tbody>")
		if cell := strings.Split(row, "<td class=\"")[3]; !strings.HasPrefix(cell, "cell "+want) {
			t.Errorf("as of %s day 1 of 5 March is %.30s, want %s", asOf, cell, want)
		}
	}
}

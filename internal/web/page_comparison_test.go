package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// twoWeeks is two users over the days from 20 February to 9 March 2026, but for
// the 26th, when nothing was stored, and the 27th and 28th, when one came.
func twoWeeks() []string {
	var rows []string
	for _, day := range []string{
		"2026-02-24", "2026-02-25", "2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03",
		"2026-03-04", "2026-03-05", "2026-03-06", "2026-03-07", "2026-03-08", "2026-03-09",
	} {
		rows = append(rows, "a login "+day)
		if !strings.HasPrefix(day, "2026-02-2") {
			rows = append(rows, "b login "+day)
		}
	}
	return append(rows, "a activate 2026-03-01")
}

func TestComparedRowsAsCSV(t *testing.T) {
	s := newSite(t, twoWeeks()...)
	for _, tt := range []struct{ name, query, want string }{
		{"the period before, with a missing day and a day that isn't over", "compare=previous&from=2026-03-04&to=2026-03-10", "" +
			"date,dau,wau,mau,complete,suspect,compare_date,compare_dau,compare_wau,compare_mau,compare_suspect\n" +
			"2026-03-04,2,2,2,true,,2026-02-25,1,1,1,\n" +
			"2026-03-05,2,2,2,true,,2026-02-26,,1,1,missing\n" +
			"2026-03-06,2,2,2,true,,2026-02-27,1,1,1,\n" +
			"2026-03-07,2,2,2,true,,2026-02-28,1,1,1,\n" +
			"2026-03-08,2,2,2,true,,2026-03-01,2,2,2,\n" +
			"2026-03-09,2,2,2,true,,2026-03-02,2,2,2,\n" +
			"2026-03-10,0,2,2,false,,2026-03-03,2,2,2,\n"},
		{"days before the data", "compare=previous&from=2026-03-02&to=2026-03-03", "" +
			"date,dau,wau,mau,complete,suspect,compare_date,compare_dau,compare_wau,compare_mau,compare_suspect\n" +
			"2026-03-02,2,2,2,true,,2026-02-23,,,,before_data\n" +
			"2026-03-03,2,2,2,true,,2026-02-24,1,1,1,\n"},
		{"a year before all data, by weekday", "compare=year&from=2026-03-09&to=2026-03-09", "" +
			"date,dau,wau,mau,complete,suspect,compare_date,compare_dau,compare_wau,compare_mau,compare_suspect\n" +
			"2026-03-09,2,2,2,true,,2025-03-10,,,,before_data\n"},
		{"a filter, which keeps the same people on both days", "compare=previous&from=2026-03-09&to=2026-03-09&filter=activated", "" +
			"date,dau,wau,mau,complete,suspect,compare_date,compare_dau,compare_wau,compare_mau,compare_suspect\n" +
			"2026-03-09,1,1,1,true,,2026-03-02,1,1,1,\n"},
		{"the first day there is", "compare=previous&from=0001-01-01&to=0001-01-01", "" +
			"date,dau,wau,mau,complete,suspect,compare_date,compare_dau,compare_wau,compare_mau,compare_suspect\n" +
			"0001-01-01,0,0,0,true,,0001-01-01,,,,before_data\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if a := s.get("/overview.csv?metric=active&" + tt.query); a.body != tt.want {
				t.Errorf("got\n%swant\n%s", a.body, tt.want)
			}
		})
	}
	if a := s.get("/overview.csv?metric=active&from=2026-03-09&to=2026-03-09&compare=month"); a.status != http.StatusBadRequest || !strings.Contains(a.body, `"field":"compare"`) {
		t.Errorf("a comparison that there is not: %d %s", a.status, a.body)
	}
}

func TestComparedOverview(t *testing.T) {
	s := newSite(t, twoWeeks()...)
	page := s.get("/?compare=previous&range=7d&filter=a.b", "Accept", html).body
	if !strings.Contains(page, "aria-invalid") {
		t.Error("a wrong filter is not said where days are compared")
	}
	page = s.get("/?compare=previous&range=7d", "Accept", html).body
	for _, want := range []string{
		"Previous period, 25 Feb – 3 Mar 2026", `href="/?compare=previous&amp;range=7d" aria-current="true">Previous period`,
		`href="/?range=7d">No comparison`, `href="/?compare=year&amp;range=7d">Previous year`, // other comparisons
		`href="/?compare=previous&amp;range=28d"`, `href="/?compare=previous&amp;from=2026-02-25&amp;to=2026-03-03" rel="prev"`, // other days
		`name="compare" value="previous"`, `/overview.csv?compare=previous&amp;`, // the form and the file
		`href="/cohorts?expr=active%402026-02-25">1</a>`, "+100.0%", `"color":"grey"`, // its people, the change, the line
		`Thu, 26 Feb 2026 <span class="tag doubt">no data</span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the overview holds no %s", want)
		}
	}
	for path, want := range map[string]string{
		"/?compare=month": `month&#34; is not accepted here`, "/?compare=year": "There are no data before 24 Feb 2026", "/?compare=previous&as_of=2020-01-01": `name="compare"`,
	} {
		if a := s.get(path, "Accept", html); a.status != http.StatusOK || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d, without %q", path, a.status, want)
		}
	}
	if strings.Contains(s.get("/?compare=year", "Accept", html).body, `"color":"grey"`) {
		t.Error("a line is drawn of a year that has no data")
	}
}

func TestComparedEngagement(t *testing.T) {
	s := newSite(t, twoWeeks()...)
	page := s.get("/engagement?compare=previous&range=7d", "Accept", html).body
	for _, want := range []string{
		"Previous period, 25 Feb – 3 Mar 2026", `href="/engagement?range=7d">No comparison`, `"color":"grey"`, "±0.0 points",
		`Thu, 26 Feb 2026 <span class="tag doubt">no data</span>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the engagement holds no %s", want)
		}
	}
	if a := s.get("/engagement?compare=month", "Accept", html); !strings.Contains(a.body, "month&#34; is not accepted here") {
		t.Error("a comparison that there is not is not said")
	}
}

// Eight users come each day, but for one day a week ago, when one came.
func TestNoChangeFromADayThatIsSuspect(t *testing.T) {
	var rows []string
	for at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC); at.Before(time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)); at = at.AddDate(0, 0, 1) {
		users := "abcdefgh"
		if day := at.Format(time.DateOnly); day == "2026-03-02" {
			users = "a"
		}
		for _, user := range users {
			rows = append(rows, string(user)+" login "+at.Format(time.DateOnly))
		}
	}
	s := newSite(t, rows...)
	page := s.get("/?range=7d&compare=previous&complete=1", "Accept", html).body
	if got, want := facts(page)[0], "Daily active 9 Mar 2026 8 against 1 on Mon, 2 Mar 2026 unusually low"; got != want {
		t.Errorf("yesterday's users are %q, want %q", got, want)
	}
	if strings.Contains(page, "700.0%") {
		t.Error("a row shows the change from a day that is suspect")
	}
}

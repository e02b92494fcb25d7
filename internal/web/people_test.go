package web_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
)

// history is half a year of a dozen users who come in rhythms of their own,
// with a day on which nobody came.
func history() []string {
	var rows []string
	for u := range 12 {
		user := "u" + strconv.Itoa(u)
		for ago := 160 - 9*u; ago >= 0; ago-- {
			d := now.AddDate(0, 0, -ago).Format("2006-01-02")
			if (ago+u)%(u%5+1) == 0 && (ago+3*u)%13 > u%4 && ago != 4 {
				rows = append(rows, user+" login "+d)
			}
			if ago == 20 && u%2 == 0 {
				rows = append(rows, user+" activate "+d)
			}
		}
	}
	return rows
}

// numbers are the links of a page to people, each with the number it shows.
func numbers(t *testing.T, page string) map[string]int {
	t.Helper()
	doc, err := xhtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for n := range doc.Descendants() {
		link := attribute(n, "href")
		if n.Data != "a" || attribute(n, "class") != "num" || !strings.HasPrefix(link, "/cohorts?") {
			continue
		}
		shown, err := strconv.Atoi(strings.ReplaceAll(n.FirstChild.Data, ",", ""))
		if err != nil {
			t.Fatalf("%s shows %q", link, n.FirstChild.Data)
		}
		if before, twice := found[link]; twice && before != shown {
			t.Errorf("%s is shown as %d and as %d", link, before, shown)
		}
		found[link] = shown
	}
	return found
}

func attribute(n *xhtml.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func TestEveryNumberOfPeopleLeadsToExactlyThesePeople(t *testing.T) {
	s := newSite(t, history()...)
	for _, tt := range []struct {
		name, path string
		least      int // numbers with a link
	}{
		{"overview", "/?from=2026-01-20", 100},
		{"overview of another day", "/?as_of=2026-02-20&from=2026-01-20", 80},
		{"overview of a filter", "/?from=2026-02-20&filter=activated+%7C+active%40yesterday", 40},
		{"engagement by day", "/engagement", 150},
		{"engagement of a filter", "/engagement?from=2026-02-20&filter=activated+-+active%40yesterday", 40},
		{"engagement of a filter by week", "/engagement?granularity=week&filter=activated+%7C+active%40yesterday", 40},
		{"engagement by week", "/engagement?granularity=week", 100},
		{"engagement by month", "/engagement?granularity=month&window=30", 100},
		{"engagement of another day", "/engagement?as_of=2026-02-20&granularity=week", 100},
		{"retention", "/retention?show=count", 40},
		{"retention, all users", "/retention?show=count&cohorts=any&return=signed_in", 100},
		{"retention or after", "/retention?show=count&cohorts=any&returning=on_or_after", 100},
		{"retention, strictly", "/retention?show=count&cohorts=any&returning=every&columns=1,3", 60},
		{"retention in groups", "/retention?show=count&cohorts=any&brackets=1-3,4-7,10", 60},
		{"retention of a filter", "/retention?show=count&cohorts=any&filter=activated+%7C+active%40today", 100},
		{"retention by week", "/retention?show=count&granularity=week", 40},
		{"retention by week, strictly", "/retention?show=count&granularity=week&returning=every&cohorts=any", 40},
		{"retention by month of another day", "/retention?show=count&granularity=month&cohorts=any&as_of=2026-02-20", 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := numbers(t, s.get(tt.path, "Accept", html).body)
			if len(found) < tt.least {
				t.Errorf("%d numbers have a link, want %d at least", len(found), tt.least)
			}
			for link, shown := range found {
				s.checkPeople(link, shown)
			}
		})
	}
}

// checkPeople compares a number with the count and with the file behind its link.
func (s *site) checkPeople(link string, shown int) {
	s.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		s.t.Fatal(err)
	}
	var count struct{ Count int }
	a := s.get("/api/v1/cohorts/count?" + u.RawQuery)
	a.read(s.t, &count)
	rows := strings.Count(s.get("/api/v1/cohorts/members.csv?"+u.RawQuery).body, "\n") - 1
	if count.Count != shown || rows != shown {
		s.t.Errorf("%s: the page shows %d, the count is %d, the file has %d rows: %.200s", u.Query().Get("expr"), shown, count.Count, rows, a.body)
	}
}

func TestNumbersWithoutALinkAreOnlyThoseThatNoExpressionNames(t *testing.T) {
	s := newSite(t, history()...)
	plain := regexp.MustCompile(`<span class="num">\d[\d,]*</span>`)
	for _, tt := range []struct {
		path string
		want bool
	}{
		{"/engagement", false},
		{"/engagement?granularity=week", false},
		{"/engagement?granularity=week&from=2025-06-01", true},
	} {
		page := s.get(tt.path, "Accept", html).body
		if got := plain.MatchString(page); got != tt.want {
			t.Errorf("%s has numbers without a link: %t, want %t", tt.path, got, tt.want)
		}
		if got := strings.Contains(page, "Numbers without a link"); got != tt.want {
			t.Errorf("%s explains numbers without a link: %t, want %t", tt.path, got, tt.want)
		}
	}
}

package web_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withoutTheFifth is a user who came every day of a week, and whose 5th of
// March was never stored.
var withoutTheFifth = []string{
	"a login 2026-03-02", "a login 2026-03-03", "a login 2026-03-04", "a login 2026-03-06", "a login 2026-03-07", "a login 2026-03-08",
}

var tags = regexp.MustCompile(`<[^>]*>`)

// tableOf is the rows of a panel's table, their cells separated by bars.
func tableOf(page, panel string) []string {
	_, after, _ := strings.Cut(page, `id="`+panel+`"`)
	_, body, _ := strings.Cut(after, "<tbody>")
	body, _, _ = strings.Cut(body, "</tbody>")
	var rows []string
	for _, row := range strings.Split(body, "<tr")[1:] {
		_, row, _ = strings.Cut(row, ">")
		row = strings.ReplaceAll(strings.ReplaceAll(row, "</td>", "|"), "</th>", "|")
		rows = append(rows, strings.ReplaceAll(strings.Join(strings.Fields(tags.ReplaceAllString(row, " ")), " "), " |", "|"))
	}
	return rows
}

func TestAMissingDayIsNoDrop(t *testing.T) {
	s := newSite(t, withoutTheFifth...)
	page := s.get("/?metric=active&from=2026-03-03&to=2026-03-06&as_of=2026-03-09", "Accept", html).body
	for panel, want := range map[string][]string{
		"return": {
			"Tue, 3 Mar| 1| 1| 100.0%|", "Wed, 4 Mar no data| 1| 0| no data|", "Thu, 5 Mar no data| 0| 0| no data|", "Fri, 6 Mar| 1| 1| 100.0%|",
		},
		"lifecycle": {
			"Tue, 3 Mar| 0| 1| 0| 0| – undefined, because nobody is in the group|", "Wed, 4 Mar| 0| 1| 0| 0| – undefined, because nobody is in the group|",
			"Thu, 5 Mar no data| 0| 0| 0| 1| no data|", "Fri, 6 Mar no data| 0| 0| 1| 0| no data|",
		},
	} {
		if diff := cmp.Diff(want, tableOf(page, panel)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", panel, diff)
		}
	}
	if _, options, _ := strings.Cut(page, `id="active-chart-options"`); !strings.Contains(options, `"data":[{"value":1},{"value":1},{},{"value":1}]`) || !strings.Contains(options, `"name":"no data"`) {
		t.Errorf("the chart has no gap on the missing day: %.600s", options)
	}
	if file := s.get("/overview.csv?metric=active&from=2026-03-04&to=2026-03-05&as_of=2026-03-09").body; !strings.Contains(file, "2026-03-05,0,1,1,true,missing\n") {
		t.Errorf("the file does not say what is missing:\n%s", file)
	}
	ratio := tableOf(s.get("/engagement?metric=active&from=2026-03-04&to=2026-03-06&as_of=2026-03-09", "Accept", html).body, "ratio")
	if diff := cmp.Diff([]string{"Wed, 4 Mar| 1| 1| 100.0%|", "Thu, 5 Mar no data| 0| 1| no data|", "Fri, 6 Mar| 1| 1| 100.0%|"}, ratio); diff != "" {
		t.Errorf("ratio (-want +got):\n%s", diff)
	}
}

func TestAMissingReturnDayBeyondTheRangeIsSeen(t *testing.T) {
	s := newSite(t, withoutTheFifth...)
	page := s.get("/?metric=active&from=2026-03-04&to=2026-03-04&as_of=2026-03-09", "Accept", html).body
	if diff := cmp.Diff([]string{"Wed, 4 Mar no data| 1| 0| no data|"}, tableOf(page, "return")); diff != "" {
		t.Errorf("next-day retention of a day before a missing one (-want +got):\n%s", diff)
	}
}

// facts are the head numbers of an overview: name, figure and change.
func facts(page string) []string {
	var found []string
	for _, fact := range strings.Split(page, `<article class="fact">`)[1:] {
		fact, _, _ = strings.Cut(fact, "<details")
		found = append(found, strings.Join(strings.Fields(tags.ReplaceAllString(fact, " ")), " "))
	}
	return found
}

func TestHeadNumbersFollowTheRange(t *testing.T) {
	s := newSite(t, week...)
	want := []string{
		"Daily active 5 Mar 2026 3 Nothing to compare with a week before",
		"Weekly active 27 Feb – 5 Mar 2026 3 Nothing to compare with a week before",
		"Monthly active 6 Feb – 5 Mar 2026 3 Nothing to compare with a week before",
		"Stickiness 5 Mar 2026 100.0% 3 of 3 Nothing to compare with a week before",
		"Next-day retention 4 Mar 2026 100.0% 1 of 1 Nothing to compare with a week before",
	}
	if diff := cmp.Diff(want, facts(s.get("/?metric=active&from=2026-03-03&to=2026-03-05", "Accept", html).body)); diff != "" {
		t.Errorf("head numbers of a range (-want +got):\n%s", diff)
	}
	if got, want := facts(s.get("/", "Accept", html).body)[0], "Daily active 9 Mar 2026 2 +100.0% against 1 on Mon, 2 Mar 2026"; got != want {
		t.Errorf("yesterday's users are %q, want %q", got, want)
	}
}

func TestHeadNumbersOfAMissingDayAreNotCompared(t *testing.T) {
	s := newSite(t, withoutTheFifth...)
	want := []string{
		"Daily active 5 Mar 2026 no data 0 Nothing was stored for that day",
		"Weekly active 27 Feb – 5 Mar 2026 on some days: no data 1 Nothing to compare with a week before",
		"Monthly active 6 Feb – 5 Mar 2026 on some days: no data 1 Nothing to compare with a week before",
		"Stickiness 5 Mar 2026 no data no data 0 of 1 Nothing was stored for that day",
		"Next-day retention 4 Mar 2026 no data no data 0 of 1 Nothing was stored for that day",
	}
	if diff := cmp.Diff(want, facts(s.get("/?metric=active&from=2026-03-03&to=2026-03-05&as_of=2026-03-09", "Accept", html).body)); diff != "" {
		t.Errorf("head numbers (-want +got):\n%s", diff)
	}
}

func TestPagesAskedAboutAFarPast(t *testing.T) {
	s := newSite(t, week...)
	for _, path := range []string{"/?from=0001-01-01&to=0001-01-01", "/engagement?from=0001-01-01&to=0001-01-01", "/retention?from=0001-01-01&to=0001-01-01&cohorts=any&columns=366"} {
		page := s.get(path, "Accept", html)
		if page.status != 200 || strings.Contains(page.body, `class="state failed"`) {
			t.Errorf("%s: %d, or a panel failed", path, page.status)
		}
	}
}

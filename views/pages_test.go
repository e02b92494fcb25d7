package views

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// withClass returns the elements that carry a class.
func withClass(doc *html.Node, class string) []*html.Node {
	var found []*html.Node
	for n := range doc.Descendants() {
		for c := range strings.FieldsSeq(attr(n, "class")) {
			if c == class {
				found = append(found, n)
			}
		}
	}
	return found
}

// row returns the texts of the cells of a table's row.
func row(table *html.Node, i int) []string {
	var cells []string
	for _, c := range all(all(table, "tr")[i], "th", "td") {
		cells = append(cells, content(c))
	}
	return cells
}

func TestOverviewShowsNumbersWithTheirPeople(t *testing.T) {
	doc := render(t, Overview(overview()))
	var got []string
	for _, f := range withClass(doc, "fact") {
		got = append(got, content(all(f, "h2")[0])+" | "+content(withClass(f, "figure")[0])+" | "+content(withClass(f, "change")[0]))
	}
	want := []string{
		"Daily active | 12,843 | +3.5% against 12,410 on Tue, 10 Mar 2026",
		"Weekly active | 38,112 | −1.2% against 38,590 on Tue, 10 Mar 2026",
		"Monthly active | 81,240 | +2.8% against 79,002 on Tue, 10 Mar 2026",
		"Stickiness | 15.8% | +0.1 points against 15.7% on Tue, 10 Mar 2026",
		"Next-day retention | 42.8% | +1.1 points against 41.7% on Mon, 9 Mar 2026",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("head numbers (-want +got):\n%s", diff)
	}
	for _, name := range []string{"figure", "parts"} {
		for _, n := range withClass(doc, name)[:1] {
			if len(all(n, "a")) == 0 {
				t.Errorf("the number in %s leads to nobody", name)
			}
		}
	}
}

func TestOverviewTables(t *testing.T) {
	tables := all(render(t, Overview(overview())), "table")
	if len(tables) != 3 {
		t.Fatalf("%d tables, want one for each panel", len(tables))
	}
	if diff := cmp.Diff([]string{"Wed, 18 Mar in progress", "6,125", "37,975", "80,850"}, row(tables[0], 61)); diff != "" {
		t.Errorf("last row (-want +got):\n%s", diff)
	}
	if got := row(tables[0], 49)[0]; got != "Fri, 6 Mar no data" {
		t.Errorf("the suspect day is %q", got)
	}
}

func TestAFailedPanelLeavesTheOthers(t *testing.T) {
	o := overview()
	o.Active.Error = "the store did not answer"
	doc := render(t, Overview(o))
	if n := len(withClass(doc, "failed")); n != 1 {
		t.Errorf("%d parts failed, want 1", n)
	}
	if n := len(all(doc, "figure")); n != 3 {
		t.Errorf("%d charts are left, want 3", n)
	}
}

func TestEngagementTables(t *testing.T) {
	tables := all(render(t, Engagement(engagement())), "table")
	if len(tables) != 4 {
		t.Fatalf("%d tables, want one a panel", len(tables))
	}
	tests := []struct {
		name       string
		table, row int
		want       []string
	}{
		{"lifecycle", 0, 28, []string{"Wed, 18 Mar in progress", "1,361", "6,125", "4,763", "4,083", "1.10"}},
		{"lifecycle of a suspect day", 0, 16, []string{"Fri, 6 Mar no data", "1,342", "6,041", "4,698", "4,027", "1.35"}},
		{"nobody dormant", 0, 23, []string{"Fri, 13 Mar", "1,380", "6,212", "4,831", "0", "– undefined, because nobody is in the group"}},
		{"stickiness", 1, 1, []string{"1", "2,500", "20,000"}},
		{"ratio without monthly users", 2, 23, []string{"Fri, 13 Mar", "12,425", "0", "– undefined, because nobody is in the group"}},
		{"recency", 3, 5, []string{"61+", "6,000", "8.0%"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, row(tables[tt.table], tt.row)); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEngagementExplainsItsMarksAndItsPanelsFailAlone(t *testing.T) {
	e := engagement()
	e.Ratio.Error = "the store did not answer"
	doc := render(t, Engagement(e))
	if failed, charts := len(withClass(doc, "failed")), len(all(doc, "figure")); failed != 1 || charts != 5 {
		t.Errorf("%d parts failed and %d charts are left, want 1 and 5", failed, charts)
	}
	if got := content(withClass(doc, "marks")[0]); !strings.HasPrefix(got, "no data nothing was stored for a day") {
		t.Errorf("the marks say %q", got)
	}
	if n := len(withClass(doc, "download")); n != 3 {
		t.Errorf("%d files, want one for each panel that is left", n)
	}
}

func TestRetentionCells(t *testing.T) {
	table := all(render(t, Retention(retention())), "table")[0]
	classes := func(r, c int) string { return attr(all(all(table, "tr")[r], "td")[c], "class") }
	tests := []struct {
		name        string
		row, column int // column 0 is the size
		class, text string
	}{
		{"a value", 1, 2, "cell scale-9", "46.2%"},
		{"the whole cohort", 1, 1, "cell scale-10", "100.0%"},
		{"nobody", 2, 7, "cell scale-0", "0.0%"},
		{"an empty cohort", 5, 1, "cell", "– undefined, because nobody is in the group"},
		{"suspect", 2, 6, "cell suspect scale-5", "26.5% unusually low"},
		{"no data", 3, 8, "cell no-data", "no data"},
		{"in progress", 14, 1, "cell so-far scale-10", "100.0% in progress"},
		{"not yet", 14, 2, "cell not-yet", "· not yet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := classes(tt.row, tt.column); got != tt.class {
				t.Errorf("class %q, want %q", got, tt.class)
			}
			if got := row(table, tt.row)[tt.column+1]; got != tt.text {
				t.Errorf("text %q, want %q", got, tt.text)
			}
		})
	}
	if got := row(table, 15); got[0] != "Average" || got[3] != "44.0%" || got[9] != "– no cohort is complete yet" {
		t.Errorf("average %q", got)
	}
}

func TestStep(t *testing.T) {
	tests := []struct {
		name      string
		rate, top float64
		want      int
	}{
		{"nobody", 0, 0.5, 0},
		{"a few are more than nobody", 0.001, 0.5, 1},
		{"the middle", 0.25, 0.5, 5},
		{"the top", 0.5, 0.5, 10},
		{"above the top", 1, 0.5, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := step(tt.rate, tt.top); got != tt.want {
				t.Errorf("step(%v, %v) = %d, want %d", tt.rate, tt.top, got, tt.want)
			}
		})
	}
}

func TestScaleTop(t *testing.T) {
	table := func(rates ...float64) RetentionTable {
		r := RetentionRow{}
		var columns []string
		for i := range rates {
			columns = append(columns, strconv.Itoa(i))
			r.Cells = append(r.Cells, RetentionCell{Rate: &rates[i]})
		}
		return RetentionTable{Columns: columns, Rows: []RetentionRow{r}}
	}
	tests := []struct {
		name  string
		table RetentionTable
		want  float64
	}{
		{"period 0 does not count", table(1, 0.42), 0.45},
		{"a round rate is its own top", table(1, 0.4), 0.4},
		{"all come back", table(1, 1), 1},
		{"nobody comes back", table(1, 0), 0.05},
		{"more than all", table(1, 1.8), 1},
		{"only period 0", table(1), 0.05},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.table.top(); got != tt.want {
				t.Errorf("top %v, want %v", got, tt.want)
			}
		})
	}
}

func TestMark(t *testing.T) {
	tests := []struct {
		name     string
		expr     string
		position int
		want     marked
		ok       bool
	}{
		{"in the middle", "a - b", 4, marked{"a - ", "b", ""}, true},
		{"at the start", "(a", 0, marked{"", "(", "a"}, true},
		{"counted in characters", "用户 - ü&b", 5, marked{"用户 - ", "ü", "&b"}, true},
		{"at the end", "a -", 3, marked{"a -", "\u00a0", ""}, true},
		{"of nothing", "", 0, marked{"", "\u00a0", ""}, true},
		{"the whole field", "a", NoPosition, marked{}, false},
		{"past the end", "a", 2, marked{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := CohortsPage{Expr: tt.expr, Problem: &Problem{"expr", tt.position, "wrong"}}
			got, ok := c.mark()
			if got != tt.want || ok != tt.ok {
				t.Errorf("mark() = %q, %t, want %q, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestCohortKeepsWhatWasGiven(t *testing.T) {
	c := cohorts()
	c.Expr, c.Result, c.Problem = "\nactivated - <b>", nil, &Problem{"expr", 13, "a metric was expected"}
	doc := render(t, Cohorts(c))
	area := all(doc, "textarea")[0]
	if area.FirstChild == nil || area.FirstChild.Data != "\nactivated - <b>" {
		t.Errorf("the text area holds %q", content(area))
	}
	if got := content(all(doc, "mark")[0]); got != "<" {
		t.Errorf("marked is %q, want <", got)
	}
	if attr(area, "aria-invalid") != "true" || !strings.Contains(attr(area, "aria-describedby"), "f-expr-problem") {
		t.Errorf("the text area does not say that it is wrong: %v", area.Attr)
	}
}

func TestCohortResult(t *testing.T) {
	doc := render(t, Cohorts(cohorts()))
	if got := content(withClass(doc, "headline")[0]); got != "48,213 users · 24.1% of 200,000 known users" {
		t.Errorf("the result says %q", got)
	}
	if got := content(withClass(doc, "download")[0]); got != "Download CSV (48,213 rows, 385,713 bytes)" {
		t.Errorf("the file is called %q", got)
	}
	if n := len(all(withClass(doc, "members")[0], "a")); n != 50 {
		t.Errorf("%d members are linked, want 50", n)
	}
}

func TestUserYear(t *testing.T) {
	doc := render(t, Users(users()))
	tables := all(doc, "table")
	if len(tables) != 3 {
		t.Fatalf("%d months, want those that have begun", len(tables))
	}
	if got := content(all(tables[2], "caption")[0]); got != "March 13 days" {
		t.Errorf("caption %q", got)
	}
	if diff := cmp.Diff([]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, row(tables[0], 0)); diff != "" {
		t.Errorf("weekdays (-want +got):\n%s", diff)
	}
	want := []string{"16 active", "17 active", "18 active", "19 not yet", "20 not yet", "21 not yet", "22 not yet"}
	if diff := cmp.Diff(want, row(tables[2], 4)); diff != "" {
		t.Errorf("week of today (-want +got):\n%s", diff)
	}
	if got := row(tables[1], 3)[1]; got != "10 no data" {
		t.Errorf("a day without data is %q", got)
	}
	if n := len(withClass(doc, "today")); n != 1 {
		t.Errorf("%d days are today", n)
	}
}

func TestUserYearWithWeeksFromSunday(t *testing.T) {
	u := users()
	u.User.SundayFirst = true
	table := all(render(t, Users(u)), "table")[0]
	if row(table, 0)[0] != "Sun" || row(table, 1)[3] != "" || !strings.HasPrefix(row(table, 1)[4], "1 ") {
		t.Errorf("2026 begins on a Thursday, the table with %q, %q", row(table, 0), row(table, 1))
	}
}

func TestUserCalendar(t *testing.T) {
	u := users()
	u.User.Shown = append(u.User.Shown, ShownYear{Year: 2025})
	doc := render(t, Users(u))
	tables := all(doc, "table")
	if len(tables) != 2 {
		t.Fatalf("%d years", len(tables))
	}
	if got := content(all(tables[0], "caption")[0]); got != "2026 45 days" {
		t.Errorf("caption %q", got)
	}
	if got := row(tables[0], 0)[1:4]; cmp.Diff([]string{"Jan", "Feb", "Mar"}, got) != "" {
		t.Errorf("months %q", got)
	}
	var weekdays []string
	for at := range daysInWeek {
		weekdays = append(weekdays, row(tables[0], at+1)[0])
	}
	if diff := cmp.Diff([]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, weekdays); diff != "" {
		t.Errorf("weekdays (-want +got):\n%s", diff)
	}
	for _, cell := range []struct {
		row, column int
		want        string
	}{
		{1, 1, ""}, {4, 1, "1 1 Jan 2026, before the first data"}, {7, 1, "4 4 Jan 2026, active"}, {1, 2, "5 5 Jan 2026, not active"},
		{2, 7, "10 10 Feb 2026, no data"}, {3, 12, "18 18 Mar 2026, active"}, {4, 12, "19 19 Mar 2026, not yet"}, {4, 53, "31 31 Dec 2026, not yet"},
	} {
		if got := row(tables[0], cell.row)[cell.column]; got != cell.want {
			t.Errorf("row %d, column %d is %q, want %q", cell.row, cell.column, got, cell.want)
		}
	}
	if n := len(withClass(doc, "today")); n != 1 {
		t.Errorf("%d days are today", n)
	}
}

func TestUserCalendarInWeeks(t *testing.T) {
	p := page()
	for year := 1999; year < 2030; year++ {
		for _, u := range []UserYear{{}, {SundayFirst: true}} {
			g := u.grid(p, ShownYear{Year: year})
			weeks, days := 0, 0
			for _, m := range g.months {
				weeks += m.weeks
			}
			for at, r := range g.rows {
				if len(r) != weeks {
					t.Errorf("%d: row %d has %d weeks under months of %d", year, at, len(r), weeks)
				}
				for _, d := range r {
					if d.number > 0 {
						days++
					}
				}
			}
			if want := time.Date(year, time.December, 31, 0, 0, 0, 0, time.UTC).YearDay(); days != want || len(g.months) != 12 {
				t.Errorf("%d has %d days, want %d, and %d months", year, days, want, len(g.months))
			}
		}
	}
	if g := (UserYear{SundayFirst: true}).grid(p, ShownYear{Year: 2026}); g.rows[4][0].number != 1 {
		t.Errorf("2026 begins on a Thursday, the grid with %v", g.rows[4][0])
	}
}

func TestUserDaysInWords(t *testing.T) {
	doc := render(t, Users(users()))
	months := withClass(doc, "days-of")
	if len(months) != 3 {
		t.Fatalf("%d months, want those that have begun", len(months))
	}
	if got := content(months[0]); !strings.HasPrefix(got, "March 2026 13 days Sun, 1 Mar 2026 Mon, 2 Mar 2026 Wed, 4 Mar 2026 ") {
		t.Errorf("the first month is %q", got)
	}
}

func TestUserAsText(t *testing.T) {
	u := users()
	want := `User ID: u-10423
Metric: Active users
As of: 2026-03-18
Time zone: Asia/Shanghai
Current streak: 4 days
Longest streak: 23 days, 2025-07-01 – 2025-07-23
Days in total: 171 days
First day: 2025-02-11
Last day: 2026-03-18

2026-01: 3 days (1 3 4)
2026-02: 0 days; no data (10 11)
2026-03: 3 days (16 17 18); no data (2)
`
	if diff := cmp.Diff(want, u.User.AsText(u.Page)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestCohortRows(t *testing.T) {
	c := cohorts()
	c.Problem = &Problem{"from-2", NoPosition, "no such date"}
	doc := render(t, Cohorts(c))
	rows := withClass(doc, "row")
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	if got := content(withClass(rows[0], "row-counts")[0]); got != "alone 80,000" {
		t.Errorf("the first row counts %q", got)
	}
	if got := content(withClass(rows[1], "row-counts")[0]); got != "alone 50,000 so far 48,213" {
		t.Errorf("the second row counts %q", got)
	}
	if got := content(withClass(rows[1], "problem")[0]); got != "no such date" {
		t.Errorf("the second row says %q", got)
	}
	for _, input := range all(rows[1], "input") {
		if wrong := attr(input, "name") == "from-2"; wrong != (attr(input, "aria-describedby") == "row-problem-2") {
			t.Errorf("what is wrong is said of %s: %t", attr(input, "name"), !wrong)
		}
	}
	if got := attr(all(withClass(doc, "stack")[0], "button")[0], "name"); got != "" {
		t.Errorf("the Enter key presses the button %q", got)
	}
}

func TestComparedGroups(t *testing.T) {
	doc := render(t, Compare(compared()))
	tables := all(doc, "table")
	if diff := cmp.Diff([]string{"only in A and B", "100", "25.0%"}, row(tables[0], 4)); diff != "" {
		t.Errorf("a part (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A · Activated", "150", "25.0%", "– undefined, because nobody is in the group", "Full retention"}, row(tables[1], 1)); diff != "" {
		t.Errorf("a group's retention (-want +got):\n%s", diff)
	}
	drawing := all(doc, "svg")[0]
	if got := content(all(drawing, "title")[0]); !strings.Contains(got, "only in B and C: 100; in A and B and C: 100") {
		t.Errorf("the drawing is called %q", got)
	}
	if got := content(all(doc, "figcaption")[0]); !strings.Contains(got, "3.4% of all users") {
		t.Errorf("below the drawing stands %q", got)
	}
}

func TestSizesOfFiles(t *testing.T) {
	c := cohorts()
	for _, tt := range []struct {
		bytes int64
		exact bool
		want  string
	}{
		{1234567, true, "1,234,567 bytes"},
		{1, true, "1 byte"},
		{1234567, false, "about 1.2 MB"},
		{98765432, false, "about 99 MB"},
		{123456789012, false, "about 120 GB"},
		{2049, false, "about 2 kB"},
		{999, false, "about 999 bytes"},
	} {
		if got := c.fileSize(tt.bytes, tt.exact); got != tt.want {
			t.Errorf("%d (exact: %t) is %q, want %q", tt.bytes, tt.exact, got, tt.want)
		}
	}
}

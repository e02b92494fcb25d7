package views

import (
	"encoding/json"
	"fmt"
	"time"

	"bitboard/views/text"
	"bitboard/views/ui"
)

// asOf is the day that every fixture takes as today.
var asOf = time.Date(2026, time.March, 18, 0, 0, 0, 0, time.UTC)

func day(ago int) string { return asOf.AddDate(0, 0, -ago).Format("2006-01-02") }

func people(n int64) ui.Number {
	return ui.Number{Count: n, People: fmt.Sprintf("/cohorts?expr=active%%40today&n=%d", n)}
}

func page() Page {
	return Page{
		Text:       text.For("en"),
		URL:        "/?metric=active",
		Zone:       "Asia/Shanghai",
		AsOf:       day(0),
		ComputedAt: "2026-03-18T14:05:09+08:00",
		Version:    "0.1.0",
	}
}

func metrics() []ui.Choice {
	return []ui.Choice{
		{Value: "active", Label: "Active users", Current: true},
		{Value: "signed_in", Label: "Sign-ins"},
	}
}

// suspectOn is the suspicion about a day.
func suspectOn(ago int) string {
	return map[int]string{12: "missing", 20: "low", 25: "missing_segment"}[ago]
}

// wave is a plausible number of active users some days ago.
func wave(ago int, base int64) int64 {
	weekend := int64(0)
	if w := asOf.AddDate(0, 0, -ago).Weekday(); w == time.Saturday || w == time.Sunday {
		weekend = base / 5
	}
	return base + int64(90-ago)*base/400 - weekend + int64((ago*37)%11)*base/300
}

func overview() OverviewPage {
	o := OverviewPage{
		Page: page(),
		DAU:  countFact1(12843, 1, 12410),
		WAU:  countFact1(38112, 7, 38590),
		MAU:  countFact1(81240, 28, 79002),
		Stickiness: RateFact{
			Day: day(1), From: day(28), To: day(1), Of: people(81240), Kept: people(12843), Rate: new(0.1581), Expr: "active@" + day(1), Before: new(0.1571), BeforeDay: day(8),
		},
		NextDay: RateFact{
			Day: day(2), From: day(2), To: day(1), Of: people(12610), Kept: people(5402), Rate: new(0.4284),
			Expr: "active@" + day(2) + " & active@" + day(1), Before: new(0.4171), BeforeDay: day(9),
		},
		Range:     rangePicked(60, "/"),
		Form:      OverviewForm{Ready: []ui.Choice{{Value: "cohort(old)", Label: "Saw the new feature"}}, Metrics: metrics(), From: day(60), To: day(0)},
		Active:    ActivePanel{Report: aReport("/api/v1/active?metric=active&format=csv")},
		Return:    ReturnPanel{Report: aReport("/api/v1/retention?start=active&format=csv")},
		Lifecycle: engagement().Lifecycle,
	}
	for ago := 60; ago >= 0; ago-- {
		share := int64(1)
		if ago == 0 {
			share = 2
		}
		o.Active.Rows = append(o.Active.Rows, ActiveRow{
			Day: day(ago), DAU: people(wave(ago, 10000) / share), WAU: people(wave(ago, 31000)), MAU: people(wave(ago, 66000)), Complete: ago > 0, Suspect: suspectOn(ago),
		})
		of := wave(ago, 10000) / share
		row := ReturnRow{Day: day(ago), Of: people(of), Kept: people(of * 42 / 100), Rate: new(0.40 + float64(wave(ago, 1000)%50)/1000), Complete: ago > 1}
		if ago > 0 {
			o.Return.Rows = append(o.Return.Rows, row)
		}
	}
	return o
}

// rangePicked is the days up to today, which are those of a preset when they are 28.
func rangePicked(ago int, path string) RangePicker {
	return RangePicker{
		From: day(ago), To: day(0), BeforeURL: path + "?from=" + day(2*ago) + "&to=" + day(ago), CompleteURL: path + "?complete=1",
		Comparisons: []ui.Choice{{Label: "A", URL: path, Current: true}, {Label: "B", URL: path + "?compare=year"}},
		Presets:     []ui.Choice{{Label: "A", URL: path + "?range=7d"}, {Label: "B", URL: path + "?range=28d", Current: ago == 27}},
	}
}

// aReport is what a panel has besides its rows.
func aReport(csv string) Report {
	return Report{Options: json.RawMessage(`{"series":[]}`), CSV: csv, Marks: []string{"missing", "low", "missing_segment"}}
}

func countFact1(n int64, days int, before int64) CountFact {
	f := CountFact{
		Number: people(n), From: day(days), To: day(1), Before: &before, BeforeDay: day(8),
		Expr: "active@" + day(days) + ".." + day(1),
	}
	for ago := 28; ago > 0; ago-- {
		f.Trend = append(f.Trend, wave(ago, n))
	}
	return f
}

func engagement() EngagementPage {
	e := EngagementPage{
		Page:  page(),
		Range: rangePicked(27, "/engagement"),
		Form: EngagementForm{
			Metrics: metrics(), Granularity: "day", From: day(27), To: day(0), Windows: []ui.Choice{{Value: "28", Label: "28", Current: true}, {Value: "30", Label: "30"}},
		},
		Lifecycle:  LifecyclePanel{Report: aReport("/api/v1/lifecycle?format=csv"), Pulse: json.RawMessage(`{"series":[]}`)},
		Stickiness: StickinessPanel{Report: aReport("/api/v1/stickiness?format=csv"), AtLeast: json.RawMessage(`{"series":[]}`), Open: true, Unlinked: true},
		Ratio:      RatioPanel{Report: aReport("/api/v1/stickiness-ratio?format=csv"), Window: 28},
		Recency:    RecencyPanel{Report: aReport("/api/v1/recency?format=csv")},
	}
	left := int64(20000)
	for ago := 27; ago >= 0; ago-- {
		users := wave(ago, 10000)
		row := LifecycleRow{
			Day: day(ago), New: people(users / 9), Returning: people(users / 2), Resurrected: people(users * 7 / 18), Dormant: people(users / 3),
			Pulse: new(1.1 + float64(ago%7)/20), Complete: ago > 0, Suspect: suspectOn(ago),
		}
		if ago == 5 {
			row.Dormant, row.Pulse = people(0), nil
		}
		e.Lifecycle.Rows = append(e.Lifecycle.Rows, row)
		ratio := RatioRow{Day: day(ago), DAU: people(users), MAU: people(users * 6), Ratio: new(0.16), Complete: ago > 0, Suspect: suspectOn(ago)}
		if ago == 5 {
			ratio.MAU, ratio.Ratio = people(0), nil
		}
		e.Ratio.Rows = append(e.Ratio.Rows, ratio)
		k := 28 - ago
		e.Stickiness.Rows = append(e.Stickiness.Rows, StickinessRow{k, people(left / 8), ui.Number{Count: left}})
		left -= left / 8
	}
	for i, days := range []string{"0-7", "8-14", "15-30", "31-60", "61+"} {
		e.Recency.Rows = append(e.Recency.Rows, RecencyRow{days, people(int64(30000 / (i + 1))), new(0.4 / float64(i+1))})
	}
	return e
}

func retention() RetentionPage {
	r := RetentionPage{
		Page:  page(),
		Range: rangePicked(13, "/retention"),
		Form: RetentionForm{
			Starts: metrics(), Returns: metrics(), Granularity: "day", Cohorts: "first", Returning: "on",
			From: day(13), To: day(0), Periods: "7", Columns: "1,7,30", Show: "percent",
		},
		Table: RetentionTable{From: day(13), To: day(0), Columns: []string{"0", "1", "2", "3", "4", "5", "6", "7"}, Report: aReport("/api/v1/retention?start=active&format=csv")},
	}
	shares := []float64{1, 0.44, 0.36, 0.31, 0.28, 0.265, 0.25, 0.24}
	for ago := 13; ago >= 0; ago-- {
		size := wave(ago, 1200)
		if ago == 9 {
			size = 0
		}
		row := RetentionRow{Day: day(ago), Size: people(size), Complete: ago > 0}
		for n, share := range shares {
			row.Cells = append(row.Cells, retentionCellOf(ago, n, size, share))
		}
		r.Table.Rows = append(r.Table.Rows, row)
	}
	for n, share := range shares {
		r.Table.Average = append(r.Table.Average, RetentionAverage{Rate: new(share), Cohorts: 13 - n})
	}
	r.Table.Average[7] = RetentionAverage{}
	r.Curves = aReport("/api/v1/retention?start=active&format=csv")
	r.OverTime = r.Table
	return r
}

func retentionCellOf(ago, n int, size int64, share float64) RetentionCell {
	c := RetentionCell{Number: people(int64(float64(size) * share)), Rate: new(share * (1 + float64(ago%5-2)/20))}
	if n == 0 {
		c.Rate = new(1.0)
	}
	switch {
	case n > ago:
		return RetentionCell{State: CellNotYet}
	case n == ago:
		c.State = CellInProgress
	case ago-n == 4:
		return RetentionCell{State: CellNoData}
	case ago == 12 && n == 5:
		c.Suspect = "low"
	case ago == 12 && n == 6:
		c.Number, c.Rate = people(0), new(0.0)
	}
	if size == 0 {
		c.Rate = nil
	}
	return c
}

func cohorts() CohortsPage {
	c := CohortsPage{
		Page: page(),
		Expr: "activated - exposed",
		Examples: []CohortExample{
			{"activated - exposed", "activated, but never saw the new feature", "/cohorts?expr=activated+-+exposed"},
			{"active@today-6d..today & exposed", "active this week and saw the new feature", "/cohorts?expr=x"},
		},
		Flags:  []MetricName{{"activated", "Activated"}, {"exposed", "Saw the new feature"}},
		Days:   []MetricName{{"active", "Active users"}, {"signed_in", "Sign-ins"}},
		Result: &CohortResult{Expr: "activated - exposed", Count: 48213, Known: 200000, Compare: "/cohorts/compare?a=activated", CSV: "/api/v1/cohorts/members.csv?expr=activated+-+exposed", Size: FileSize{Bytes: 385713, Safe: 12, Exact: true}},
	}
	c.Rows = cohortRowsShown()
	c.Save = &SaveForm{URL: "/cohorts"}
	c.Saved.Rows = []SavedCohort{
		{Name: "never_saw_it", Title: "Activated", Expr: "activated - exposed", Users: people(48213), Edit: "/cohorts?edit=never_saw_it", Delete: "/cohorts?delete=never_saw_it"},
		{Name: "old", Title: "Saw the new feature", Expr: "gone | exposed", Problem: "no such metric", Edit: "/cohorts?edit=old", Delete: "/cohorts?delete=old"},
	}
	for i := range 50 {
		id := fmt.Sprintf("u-%05d", i*37+11)
		c.Result.Members = append(c.Result.Members, Member{id, "/users?id=" + id})
	}
	c.Result.Members[3].ID = "=cmd|' /C calc'!A0 <script>alert(1)</script> 用户"
	return c
}

// cohortRowsShown is a flag without those who did something on three days.
func cohortRowsShown() []CohortRow {
	of := func(current string) []ChoiceGroup {
		option := func(value, label, needs string) RowChoice {
			return RowChoice{ui.Choice{Value: value, Label: label, Current: value == current}, needs}
		}
		return []ChoiceGroup{
			{Options: []RowChoice{option("", "…", "")}},
			{Title: "Flags", Options: []RowChoice{option("metric:activated", "Activated", "")}},
			{Title: "Daily metrics", Options: []RowChoice{option("metric:active", "Active users", "days")}},
		}
	}
	number := func(n int64) *ui.Number { p := people(n); return &p }
	return []CohortRow{
		{N: 1, Of: of("metric:activated"), How: "any", From: "today-6d", To: "today", Own: number(80000), Running: number(80000)},
		{N: 2, Join: "minus", Of: of("metric:active"), How: "atleast", K: "3", From: "today-6d", To: "today", Own: number(50000), Running: number(48213)},
	}
}

// compared is three groups, the third of which few are in.
func compared() ComparePage {
	share := 0.25
	c := ComparePage{
		Page: page(), Range: RangePicker{From: day(13), To: day(0), CompleteURL: "/cohorts/compare?complete=1"},
		Form: CompareForm{A: "activated", B: "cohort(old)", C: "exposed", Ready: []ui.Choice{{Value: "cohort(old)", Label: "Saw the new feature"}}, Metrics: metrics(), Granularity: "day", From: day(13), To: day(0)},
		Overlap: OverlapPanel{
			Union: people(400), Off: 0.034,
			Drawing: &Drawing{
				Width: "400.0", Height: "260.0",
				Circles: []DrawnCircle{{"120.0", "130.0", "90.0", "a"}, {"220.0", "130.0", "80.0", "b"}, {"180.0", "190.0", "30.0", "c"}},
				Texts:   []DrawnText{{"20.0", "130.0", "A", "a"}, {"90.0", "130.0", "100", ""}},
			},
		},
		Retention: ComparedRetention{
			Report: Report{Options: json.RawMessage("{}"), Marks: []string{"missing"}}, From: day(13), To: day(0), Columns: []string{"D0", "D1"},
		},
	}
	for _, in := range [][]string{{"A"}, {"B"}, {"C"}, {"A", "B"}, {"A", "C"}, {"B", "C"}, {"A", "B", "C"}} {
		c.Overlap.Regions = append(c.Overlap.Regions, OverlapRegion{In: in, Users: people(100), Share: &share})
	}
	for i, title := range []string{"Activated", "Saw the new feature", "Active users"} {
		letter := string(rune('A' + i))
		c.Overlap.Groups = append(c.Overlap.Groups, ComparedGroup{Letter: letter, Title: title, Expr: "activated", Users: people(200), Share: &share})
		c.Retention.Rows = append(c.Retention.Rows, ComparedRow{
			Letter: letter, Title: title, Users: people(150), Averages: []RetentionAverage{{Rate: &share, Cohorts: 13}, {}}, URL: "/retention?filter=activated",
		})
	}
	return c
}

func users() UsersPage {
	u := &UserYear{
		ID:      "u-10423",
		Metrics: []ui.Choice{{Label: "Active users", URL: "/users?id=u-10423&metric=active", Current: true}, {Label: "Sign-ins", URL: "/users?id=u-10423&metric=signed_in"}},
		Title:   "Active users",
		Shown:   []ShownYear{{Year: 2026}},
		Years:   []ui.Choice{{Label: "2025", URL: "/users?id=u-10423&year=2025"}, {Label: "2026", URL: "/users?id=u-10423&year=2026", Current: true}},
		Total:   171, Current: 4, Longest: 23, LongestFrom: "2025-07-01", LongestTo: "2025-07-23", FirstDay: "2025-02-11", LastDay: day(0),
		TextURL:  "/users.txt?id=u-10423",
		Recent:   []TicketMonth{{"2026-01-01", []int{1, 3, 4}, nil}, {"2026-02-01", nil, []int{10, 11}}, {"2026-03-01", []int{16, 17, 18}, []int{2}}},
		Download: "/api/v1/users/calendar?id=u-10423&format=csv",
		Gaps:     []UserGap{{From: "2025-11-03", To: "2025-12-01", Days: 29, NoData: 2}, {From: "2025-08-01", To: "2025-08-09", Days: 9}},
		Groups: UserGroups{
			Flags:   []UserGroup{{Title: "Activated", URL: "/cohorts?expr=activated", Holds: true}, {Title: "Saw the new feature", URL: "/cohorts?expr=exposed"}},
			Cohorts: []UserGroup{{Title: "activated, but never", URL: "/cohorts?expr=cohort%28a%29"}, {Title: "active this week and", URL: "/cohorts?expr=cohort%28b%29", Problem: "no such metric"}},
		},
	}
	for i := range asOf.YearDay() {
		state := DayOff
		if (i*7)%10 < 6 || i > 72 {
			state = DayOn
		}
		if i == 40 || i == 41 {
			state = DayNoData
		}
		if i < 3 {
			state = DayBefore
		}
		u.Shown[0].Days = append(u.Shown[0].Days, state)
	}
	return UsersPage{Page: page(), ID: "u-10423", Metric: "active", User: u}
}

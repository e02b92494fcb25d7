package views

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"bitboard/views/text"
)

// state is a page in one of its states.
type state struct {
	name string
	page func(Page) templ.Component
}

// states are all pages in all their states.
func states() []state {
	return slices.Concat(overviewStates(), retentionStates(), engagementStates(), onlineStates(), cohortStates(), compareStates(), userStates(), jobStates(), howStates(), errorStates())
}

func overviewStates() []state {
	change := func(edit func(*OverviewPage)) func(Page) templ.Component {
		return func(p Page) templ.Component {
			o := overview()
			o.Page = p
			edit(&o)
			return Overview(o)
		}
	}
	return []state{
		{"overview", change(func(*OverviewPage) {})},
		{"overview without data", change(func(o *OverviewPage) { o.Empty = true })},
		{"overview with failed panels", change(func(o *OverviewPage) {
			o.WAU.Error, o.NextDay.Error, o.Active.Error, o.Return.Error = "a", "b", "c", "d"
		})},
		{"overview compared with an earlier period", change(func(o *OverviewPage) {
			o.Range.Compared, o.Active.Against = "previous", "A"
			for i := range o.Active.Rows {
				before := EarlierActive{Day: day(200 - i), BeforeData: i < 2}
				if i > 1 {
					before.DAU, before.WAU, before.MAU = new(people(int64(i-2))), new(people(1)), new(people(2))
				}
				if i == 7 {
					before.DAU, before.Suspect = nil, "missing"
				}
				o.Active.Rows[i].Earlier = &before
			}
		})},
		{"overview of an empty range", change(func(o *OverviewPage) { o.Active.Rows, o.Return.Rows = nil, nil })},
		{"overview without history", change(func(o *OverviewPage) { o.DAU.Before, o.NextDay.Before, o.NextDay.Rate = nil, nil, nil })},
		{"overview with a wrong date", change(func(o *OverviewPage) { o.Form.Problem = &Problem{"from", NoPosition, "no such date"} })},
	}
}

func engagementStates() []state {
	change := func(edit func(*EngagementPage)) func(Page) templ.Component {
		return func(p Page) templ.Component {
			e := engagement()
			e.Page = p
			edit(&e)
			return Engagement(e)
		}
	}
	return []state{
		{"engagement", change(func(*EngagementPage) {})},
		{"engagement compared with an earlier period", change(func(e *EngagementPage) {
			e.Range.Compared, e.Ratio.Against = "year", "A"
			for i := range e.Ratio.Rows {
				e.Ratio.Rows[i].Earlier = &EarlierRatio{Day: day(200 - i), BeforeData: i < 2}
				if i > 2 {
					e.Ratio.Rows[i].Earlier.Ratio = new(0.2)
				}
			}
		})},
		{"engagement by week", change(func(e *EngagementPage) { e.Form.Granularity = "week" })},
		{"engagement by month", change(func(e *EngagementPage) { e.Form.Granularity = "month" })},
		{"engagement with failed panels", change(func(e *EngagementPage) {
			e.Lifecycle.Error, e.Stickiness.Error, e.Ratio.Error, e.Recency.Error = "a", "b", "c", "d"
		})},
		{"engagement of an empty range", change(func(e *EngagementPage) {
			e.Lifecycle.Rows, e.Stickiness.Rows, e.Ratio.Rows, e.Recency.Rows = nil, nil, nil, nil
		})},
		{"engagement with a wrong date", change(func(e *EngagementPage) { e.Form.Problem = &Problem{"to", NoPosition, "no such date"} })},
	}
}

func retentionStates() []state {
	change := func(edit func(*RetentionPage)) func(Page) templ.Component {
		return func(p Page) templ.Component {
			r := retention()
			r.Page = p
			edit(&r)
			return Retention(r)
		}
	}
	return []state{
		{"retention", change(func(*RetentionPage) {})},
		{"retention in numbers", change(func(r *RetentionPage) { r.Form.Show = "count" })},
		{"retention by week, strict", change(func(r *RetentionPage) { r.Form.Granularity, r.Form.Returning = "week", "every" })},
		{"retention by month, or after", change(func(r *RetentionPage) {
			r.Form.Granularity, r.Form.Returning, r.Form.Cohorts = "month", "on_or_after", "any"
		})},
		{"retention failed", change(func(r *RetentionPage) { r.Table.Error, r.Curves.Error, r.OverTime.Error = "a", "a", "b" })},
		{"retention of the column before, in groups", change(func(r *RetentionPage) {
			r.Form.Show, r.Form.Brackets, r.Form.Filter = "previous", "1-3,4-7", "exposed"
		})},
		{"retention of an empty range", change(func(r *RetentionPage) { r.Table.Rows, r.OverTime.Rows = nil, nil })},
		{"retention with a wrong number", change(func(r *RetentionPage) { r.Form.Problem = &Problem{"periods", NoPosition, "too many"} })},
	}
}

func compareStates() []state {
	change := func(edit func(*ComparePage)) func(Page) templ.Component {
		return func(p Page) templ.Component {
			c := compared()
			c.Page = p
			edit(&c)
			return Compare(c)
		}
	}
	return []state{
		{"compared groups", change(func(*ComparePage) {})},
		{"compared groups of nobody", change(func(c *ComparePage) { c.Overlap.Drawing, c.Overlap.Off = nil, 0 })},
		{"compared groups, failed", change(func(c *ComparePage) { c.Overlap.Error, c.Retention.Error = "a", "b" })},
		{"compared groups, one of them wrong", change(func(c *ComparePage) { c.Form.Problem = &Problem{"b", 3, "no such metric"} })},
	}
}

func cohortStates() []state {
	change := func(edit func(*CohortsPage)) func(Page) templ.Component {
		return func(p Page) templ.Component {
			c := cohorts()
			c.Page = p
			edit(&c)
			return Cohorts(c)
		}
	}
	return []state{
		{"cohort", change(func(*CohortsPage) {})},
		{"cohorts at first", change(func(c *CohortsPage) { c.Expr, c.Result, c.Rows = "", nil, []CohortRow{{N: 1}} })},
		{"cohort with a wrong condition", change(func(c *CohortsPage) {
			c.Result, c.Problem, c.RowsFull = nil, &Problem{"from-2", NoPosition, "no such date"}, true
		})},
		{"cohort of nobody", change(func(c *CohortsPage) { c.Result = &CohortResult{Expr: "exposed", Compare: "/cohorts/compare?a=exposed"} })},
		{"cohort of all shown", change(func(c *CohortsPage) { c.Result.Count = int64(len(c.Result.Members)) })},
		{"cohort failed", change(func(c *CohortsPage) { c.Error = "a" })},
		{"cohort with an unknown metric", change(func(c *CohortsPage) { c.Result, c.Problem = nil, &Problem{"expr", 12, "no such metric"} })},
		{"cohorts of which none is saved", change(func(c *CohortsPage) { c.Saved.Rows = nil })},
		{"saved cohorts failed", change(func(c *CohortsPage) { c.Saved.Rows, c.Saved.Error = nil, "a" })},
		{"saved cohort changed", change(func(c *CohortsPage) {
			c.Edit, c.Save = "never_saw_it", &SaveForm{Name: "never_saw_it", Title: "Activated", Edit: true, URL: "/cohorts"}
		})},
		{"cohort with a wrong name", change(func(c *CohortsPage) {
			c.Result, c.Save, c.Problem = nil, &SaveForm{Name: "E e", URL: "/cohorts"}, &Problem{"name", NoPosition, "too long"}
		})},
		{"saved cohort deleted", change(func(c *CohortsPage) {
			c.Expr, c.Result, c.Save, c.Delete = "", nil, nil, &Deletion{Name: "old", Title: "Activated", URL: "/cohorts/delete", Back: "/cohorts"}
		})},
		{"saved cohort in use", change(func(c *CohortsPage) {
			c.Expr, c.Result, c.Save, c.Delete = "", nil, nil, &Deletion{Name: "old", Title: "Activated", UsedBy: []string{"aa", "bb"}, Back: "/cohorts"}
		})},
		{"cohort that ends too early", change(func(c *CohortsPage) { c.Result, c.Problem = nil, &Problem{"expr", 19, "a metric is missing"} })},
	}
}

func userStates() []state {
	change := func(edit func(*UsersPage)) func(Page) templ.Component {
		return func(p Page) templ.Component {
			u := users()
			u.Page = p
			edit(&u)
			return Users(u)
		}
	}
	return []state{
		{"user", change(func(*UsersPage) {})},
		{"user with weeks from Sunday", change(func(u *UsersPage) { u.User.SundayFirst = true })},
		{"user without any day", change(func(u *UsersPage) {
			u.User.Shown[0].Days, u.User.FirstDay, u.User.LastDay = make([]DayState, 77), "", ""
		})},
		{"users at first", change(func(u *UsersPage) { u.ID, u.User = "", nil })},
		{"unknown user", change(func(u *UsersPage) {
			u.User, u.Unknown = nil, &UnknownUser{Shown: "U-10423", Similar: []Member{{"u-10423", "/users?id=u-10423"}}}
		})},
		{"several users", change(func(u *UsersPage) {
			u.User, u.Several = nil, &SeveralUsers{Title: "Active users", Days: 28, Rows: []UserRow{
				{ID: "u-10423", URL: "/users?id=u-10423", Lately: 12, Current: 4, Total: 171, FirstDay: "2025-02-11", LastDay: day(0)},
				{ID: "u-1", URL: "/users?id=u-1"}, {ID: "u-99", Unknown: true},
			}}
		})},
		{"user over several years", change(func(u *UsersPage) { u.User.Shown = append(u.User.Shown, ShownYear{Year: 2025}) })},
		{"user whose groups failed", change(func(u *UsersPage) { u.User.Groups = UserGroups{Error: "a"} })},
		{"user failed", change(func(u *UsersPage) { u.User, u.Error = nil, "a" })},
		{"user with a wrong ID", change(func(u *UsersPage) { u.User, u.Problem = nil, &Problem{"id", NoPosition, "too long"} })},
	}
}

func jobStates() []state {
	running := Job{ID: "a", Name: "Active users", URL: "/retention", State: "running", Progress: 0.37, Cost: 387_000_000, Engine: "fold", Begun: "2026-03-18T14:05:09+08:00", Seconds: 2.5, Busy: 1, Waited: 0.5}
	job := func(edit func(*Job)) Job {
		j := running
		edit(&j)
		return j
	}
	waiting := job(func(j *Job) { j.State, j.Progress, j.Engine = "waiting", 0, "bitop" })
	done := job(func(j *Job) { j.State, j.Progress = "done", 1 })
	failed := job(func(j *Job) { j.State, j.Problem = "failed", "no such metric" })
	page := func(j JobsPage) func(Page) templ.Component {
		return func(p Page) templ.Component {
			j.Page = p
			return Jobs(j)
		}
	}
	return []state{
		{"work that takes long", func(p Page) templ.Component { return Working(WorkingPage{p, running, "/api/v1/jobs/a"}) }},
		{"work that waits", func(p Page) templ.Component { return Working(WorkingPage{p, waiting, "/api/v1/jobs/a"}) }},
		{"no jobs", page(JobsPage{Guard: Guard{Share: 1}})},
		{"jobs failed", page(JobsPage{Error: "a"})},
		{"jobs", page(JobsPage{
			Open: []Job{running, waiting, job(func(j *Job) { j.State, j.Progress, j.Engine = "queued", 0, "" })}, Ended: []Job{done, failed}, Offpeak: "01:00-06:00",
			Guard: Guard{Share: 0.25, Burst: 1, Latency: 0.0012, Usual: 0.0003, Slowness: 4},
		})},
	}
}

func howStates() []state {
	how := func(h HowPage) func(Page) templ.Component {
		return func(p Page) templ.Component {
			h.Page = p
			return How(h)
		}
	}
	return []state{
		{"by hand", how(HowPage{Expr: "activated - exposed", Count: 48213, People: "/cohorts?expr=a", Segments: 96, Script: "echo 0\n"})},
		{"by hand failed", how(HowPage{Error: "a"})},
		{"by hand wrong", how(HowPage{Problem: &Problem{"expr", 0, "no such metric"}})},
	}
}

func errorStates() []state {
	var all []state
	for _, status := range []int{400, 403, 404, 429, 500, 503} {
		all = append(all, state{"error", func(p Page) templ.Component {
			return Error(ErrorPage{Page: p, Status: status, Message: "m", RequestID: "r"})
		}})
	}
	return all
}

// eachState renders every page in every state, language and theme.
func eachState(t *testing.T, check func(t *testing.T, doc *html.Node, p Page)) {
	t.Helper()
	for _, s := range states() {
		for _, language := range []string{"en", "zh-CN"} {
			t.Run(s.name+" "+language, func(t *testing.T) {
				p := page()
				p.Text, p.Theme = text.For(language), "dark"
				p.Notices = []Notice{{Kind: "error", Title: "n", Message: "m"}, {Kind: "info", Title: "n", Message: "m", URL: "/", Link: "l"}}
				check(t, render(t, s.page(p)), p)
			})
		}
	}
}

func render(t *testing.T, c templ.Component) *html.Node {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// all returns the elements with one of the names, in order.
func all(doc *html.Node, names ...string) []*html.Node {
	var found []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && slices.Contains(names, n.Data) {
			found = append(found, n)
		}
	}
	return found
}

// attr returns an attribute's value, or "".
func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// content returns the text of an element with single blanks.
func content(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// upTo is the numbers from 1 up to one, with commas between them.
func upTo(most int) string {
	all := make([]string, most)
	for i := range all {
		all[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(all, ",")
}

func TestPages(t *testing.T) {
	s := newSite(t, week...)
	for _, tt := range []struct {
		name, path string
		status     int
		want       []string
	}{
		{"overview", "/", 200, []string{">2</a>", "/cohorts?expr=active%402026-03-09", "data-chart", "/overview.csv?"}},
		{"overview of another day", "/?as_of=2026-03-06", 200, []string{"/cohorts?as_of=2026-03-06&amp;expr=", `href="/retention?as_of=2026-03-06"`, `name="as_of" value="2026-03-06"`, `<a href="/">`}},
		{"a user of another day", "/users?id=b&as_of=2026-03-06&metric=active", 200, []string{`<a href="/users?id=b&amp;metric=active">`}},
		{"overview with a wrong range", "/?from=2026-02-30&to=2026-03-01", 200, []string{"2026-02-30&#34; is not a date", "aria-invalid"}},
		{"overview long after the data", "/?as_of=2026-09-01", 200, []string{"/?as_of=2026-03-10"}},
		{"retention", "/retention?start=active&cohorts=any&from=2026-03-05&to=2026-03-09&periods=2", 200,
			[]string{"33.3", "/cohorts?expr=active%402026-03-05+%26+active%402026-03-06", "format=csv"}},
		{"retention in groups, of a filter", "/retention?start=active&cohorts=any&from=2026-03-05&to=2026-03-09&brackets=1-2&filter=exposed%7Cactivated", 200,
			[]string{"Day 1-2", "/cohorts?expr=%28active%402026-03-05+%26+active%402026-03-06..2026-03-07%29+%26+%28exposed+%7C+activated%29\"", "brackets=1-2"}},
		{"retention with a wrong group", "/retention?brackets=3-1", 200, []string{"aria-invalid", "3-1&#34; is not a bracket"}},
		{"retention with a wrong column over time", "/retention?columns=1-3", 200, []string{"aria-invalid", "1-3 is not one column"}},
		{"retention with a wrong filter", "/retention?filter=nope", 200, []string{"aria-invalid", "There is no metric"}},
		{"retention long after the data", "/retention?as_of=2026-09-01", 200, []string{"/retention?as_of=2026-03-10"}},
		{"engagement", "/engagement", 200, []string{"/cohorts?expr=first%28active%402026-03-05%29", "/api/v1/lifecycle?", "/api/v1/recency?"}},
		{"engagement of another day", "/engagement?as_of=2026-03-06", 200, []string{"/cohorts?as_of=2026-03-06&amp;expr=", "as_of=2026-03-06&amp;format=csv"}},
		{"engagement by week long after the data", "/engagement?as_of=2026-09-01&from=2026-08-01&granularity=week", 200, []string{"/engagement?as_of=2026-03-10&amp;granularity=week"}},
		{"engagement of a filter", "/engagement?filter=activated", 200, []string{"/cohorts?expr=%28first%28active%402026-03-05%29%29+%26+%28activated%29", "filter=activated&amp;"}},
		{"engagement with a wrong filter", "/engagement?filter=activated+-", 200, []string{"aria-invalid", "A metric, a call"}},
		{"engagement with a wrong range", "/engagement?from=2026-03-09&to=2026-03-01", 200, []string{"aria-invalid", "ends before it begins"}},
		{"engagement long after the data", "/engagement?as_of=2026-09-01", 200, []string{"/engagement?as_of=2026-03-10"}},
		{"retention with a wrong metric", "/retention?start=nope", 200, []string{"aria-invalid"}},
		{"cohorts", "/cohorts", 200, []string{"activated - exposed", "/cohorts?expr=activated+-+exposed"}},
		{"a cohort", "/cohorts?expr=activated-exposed", 200, []string{"/users?id=c", "/api/v1/cohorts/members.csv?expr=activated+-+exposed"}},
		{"a wrong expression", "/cohorts?expr=activated+%26", 200, []string{"<mark", "activated &amp;"}},
		{"users with the metric of a flag", "/users?metric=activated", 200, []string{"activated is not kept by day"}},
		{"a user with a year to come", "/users?id=b&year=2999", 200, []string{"2999&#34; is not accepted here"}},
		{"users", "/users", 200, []string{`name="id"`}},
		{"a user", "/users?id=b", 200, []string{"2026-03-09", "format=csv"}},
		{"a user pasted with quotes", "/users?id=%20%22b%22%0A", 200, []string{"/users?id=b&amp;metric=signed_in"}},
		{"a user's longest run with its days", "/users?id=a", 200, []string{"2 Mar – 9 Mar 2026"}},
		{"a user of an earlier year", "/users?id=b&as_of=2027-02-01", 200, []string{"2026-03-09"}},
		{"an unknown user", "/users?id=nobody", 404, []string{"nobody"}},
		{"an unknown user with an invisible character", "/users?id=no%E2%80%8Bbody", 404, []string{"no⟨U+200B⟩body"}},
		{"an unknown user who is known in small letters", "/users?id=B", 404, []string{`<a href="/users?id=b&amp;metric=signed_in">b</a>`}},
		{"several users", "/users?id=a,nobody%0A%22c%22&metric=active", 200, []string{
			"2 of 3 users found", `<a href="/users?id=a&amp;metric=active">a</a>`, `<a href="/users?id=c&amp;metric=active">c</a>`, `<th scope="row">nobody</th>`,
		}},
		{"too many users", "/users?id=" + strings.Repeat("x,", 60) + upTo(101), 200, []string{"102 IDs are too many. Up to 100 can be looked up at once."}},
		{"several users, each given by itself", "/users?id=a&id=c", 200, []string{"2 of 2 users found"}},
		{"a user's flags", "/users?id=a", 200, []string{`<a href="/cohorts?expr=activated">Activated</a>`, "<strong>yes</strong>"}},
		{"no page", "/nope", 404, []string{"<h1>"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := s.get(tt.path, "Accept", html)
			if a.status != tt.status || !strings.HasPrefix(a.header.Get("Content-Type"), html) {
				t.Fatalf("got %d %s", a.status, a.header.Get("Content-Type"))
			}
			for _, want := range tt.want {
				if !strings.Contains(a.body, want) {
					t.Errorf("%s holds no %q", tt.path, want)
				}
			}
			if csp := a.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") {
				t.Errorf("the policy is %q", csp)
			}
		})
	}
}

func TestARowOfTheFutureHidesNoOldData(t *testing.T) {
	s := newSite(t, "a login 2024-05-01", "a login 2030-03-01")
	if a := s.get("/", "Accept", html); !strings.Contains(a.body, "/?as_of=2024-05-02") {
		t.Errorf("the overview does not lead to the newest data: %.300s", a.body)
	}
}

func TestOverviewBeforeAllDataIsNoFirstStart(t *testing.T) {
	s := newSite(t, week...)
	if a := s.get("/?as_of=2020-01-01", "Accept", html); a.status != http.StatusOK || strings.Contains(a.body, "dashboard import") {
		t.Errorf("%d, or the page asks for an import although there are data", a.status)
	}
}

func TestOverviewWithoutData(t *testing.T) {
	s := newSite(t)
	if a := s.get("/", "Accept", html); a.status != http.StatusOK || !strings.Contains(a.body, "dashboard import events.csv") {
		t.Errorf("%d, and the page does not say how to import", a.status)
	}
}

func TestOverviewRowsAsCSV(t *testing.T) {
	s := newSite(t, week...)
	want := "date,dau,wau,mau,complete,suspect\n2026-03-09,2,3,3,true,\n2026-03-10,0,3,3,false,\n"
	if a := s.get("/overview.csv?metric=active&from=2026-03-09&to=2026-03-10"); a.body != want {
		t.Errorf("got\n%swant\n%s", a.body, want)
	}
}

func TestPreferences(t *testing.T) {
	s := newSite(t)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for _, tt := range []struct{ body, location, cookie string }{
		{"theme=dark&return=%2Fusers%3Fid%3Da", "/users?id=a", "theme=dark"},
		{"theme=&return=%2F", "/", "theme=;"},
		{"lang=zh-CN&return=%2F%2Fevil.example", "/", "lang=zh-CN"},
		{"lang=en&return=https%3A%2F%2Fevil.example", "/", "lang=en"},
		{"lang=en&return=%2F%5Cevil.example", "/", "lang=en"},
	} {
		a := s.post("/preferences", tt.body, form...)
		if a.status != http.StatusSeeOther || a.header.Get("Location") != tt.location || !strings.HasPrefix(a.header.Get("Set-Cookie"), tt.cookie) {
			t.Errorf("%s: got %d to %q with %q", tt.body, a.status, a.header.Get("Location"), a.header.Get("Set-Cookie"))
		}
	}
	if a := s.get("/", "Cookie", "theme=dark; lang=zh-CN", "Accept", html); !strings.Contains(a.body, `lang="zh-CN"`) || !strings.Contains(a.body, `data-theme="dark"`) {
		t.Errorf("the cookies are not followed: %.200s", a.body)
	}
	if a := s.post("/preferences", "theme=dark", append(form, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")...); a.status != http.StatusForbidden {
		t.Errorf("a form of another site gets %d", a.status)
	}
}

func TestStoreThatSaysNothing(t *testing.T) {
	url, _ := storetest.Start(t)
	s := siteOver(t, storetest.Open(t, func(c *store.Config) { c.URL = url }), week...)
	storetest.Silence(t, url)
	begin := time.Now()
	if a := s.get("/readyz"); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "the store did not answer within 2s") {
		t.Errorf("ready: %d %s", a.status, a.body)
	}
	if a := s.get("/users?id=a", "Accept", html); !strings.Contains(a.body, "does not answer: timed out") {
		t.Errorf("the user page answers %d and does not say what is wrong", a.status)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("both answers took %s", took)
	}
}

func TestStoreAway(t *testing.T) {
	url, stop := storetest.Start(t)
	st := storetest.Open(t, func(c *store.Config) { c.URL = url })
	s := siteOver(t, st, week...)
	if a := s.get("/readyz"); a.status != http.StatusOK {
		t.Fatalf("ready: %d %s", a.status, a.body)
	}
	stop()
	for _, path := range []string{"/readyz", "/api/v1/active?metric=active&from=2026-03-01&to=2026-03-02", "/api/v1/cohorts/members.csv?expr=activated", "/api/v1/users/a/calendar?metric=active&from=2026-03-01&to=2026-03-02"} {
		a := s.get(path)
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "store_unavailable") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := s.get("/", "Accept", html); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "store") {
		t.Errorf("the overview answers %d", a.status)
	}
	if a := s.get("/cohorts?expr=activated", "Accept", html); a.status != http.StatusOK || !strings.Contains(a.body, "does not answer") {
		t.Errorf("the cohorts page answers %d and does not say what is wrong", a.status)
	}
	if a := s.post("/api/v1/events", `{"user_id":"z","event":"login","day":"2026-03-01"}`); a.status != http.StatusServiceUnavailable {
		t.Errorf("events are answered with %d %s", a.status, a.body)
	}
	if a := s.get("/healthz"); a.status != http.StatusOK {
		t.Errorf("alive: %d", a.status)
	}
}

func TestAssetsArriveWhole(t *testing.T) {
	s := newSite(t)
	page := s.get("/", "Accept", html).body
	for _, name := range []string{"app", "charts", "favicon"} {
		path := regexp.MustCompile("/static/" + name + `\.[^"]+`).FindString(page)
		plain := s.get(path, "Accept-Encoding", "identity")
		packed := s.get(path, "Accept-Encoding", "gzip")
		if plain.status != http.StatusOK || len(plain.body) < 100 {
			t.Fatalf("%s: %d, %d bytes", path, plain.status, len(plain.body))
		}
		body := packed.body
		if packed.header.Get("Content-Encoding") == "gzip" {
			r, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			body = string(text)
		}
		if body != plain.body {
			t.Errorf("%s unpacked once differs from %s as it is", path, path)
		}
	}
}

func TestHeadIsGetWithoutItsBody(t *testing.T) {
	s := newSite(t, week...)
	for _, path := range []string{"/", "/api/v1/metrics", "/healthz"} {
		get, head := s.get(path), s.do(http.MethodHead, path, "")
		if head.status != http.StatusOK || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("%s: %d %q %q", path, head.status, head.header.Get("Content-Type"), head.body)
		}
	}
}

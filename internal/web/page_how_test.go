package web_test

import (
	"fmt"
	stdhtml "html"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// byHand is the script on the page about an expression.
func (s *site) byHand(expr string) (script, page string) {
	s.t.Helper()
	a := s.get("/how?as_of=2026-03-09&expr="+url.QueryEscape(expr), "Accept", html)
	if a.status != http.StatusOK {
		s.t.Fatalf("%s: %d %s", expr, a.status, a.body)
	}
	_, rest, _ := strings.Cut(a.body, "<pre ")
	_, rest, _ = strings.Cut(rest, ">")
	script, _, _ = strings.Cut(rest, "</pre>")
	return stdhtml.UnescapeString(script), a.body
}

// What the page says is run by a real shell and a real redis-cli.
func TestCountedByHandItIsTheSame(t *testing.T) {
	storetest.EachOf(t, []storetest.Kind{storetest.OnRedis, storetest.OnCluster}, func(t *testing.T, k storetest.Kind) {
		var rows []string
		for u := range 150 {
			for d := 1; d <= 9; d++ {
				if (u*7+d*3)%5 < 2 {
					rows = append(rows, fmt.Sprintf("u%d login 2026-03-%02d", u, d))
				}
			}
			if u%3 == 0 {
				rows = append(rows, fmt.Sprintf("u%d activate 2026-03-01", u))
			}
			if u%4 == 0 && u < 100 { // in the last segment nobody saw it
				rows = append(rows, fmt.Sprintf("u%d expose 2026-03-01", u))
			}
		}
		s := siteOver(t, k.Open(t, func(c *store.Config) { c.SegmentBits = 64 }), rows...)
		for _, expr := range []string{
			"activated", "activated - exposed", "exposed - activated", "!exposed", "!(activated | exposed) & active@2026-03-09",
			"active@2026-03-01..2026-03-09", "all(active@2026-03-08..2026-03-09)", "atleast(4, active@today-6d..today)",
			"exactly(2, active@2026-03-03..2026-03-09) - exposed", "first(active@2026-03-03)", "active@2026-03-03 - active@2026-03-03",
			"activated & !activated", "active@2020-01-01", "(activated | exposed) - (activated & exposed)",
		} {
			var size struct{ Count int }
			s.get("/api/v1/cohorts/count?as_of=2026-03-09&expr="+url.QueryEscape(expr)).read(t, &size)
			script, page := s.byHand(expr)
			out, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(size.Count) {
				t.Errorf("%s is %d, by hand %s (%v):\n%s", expr, size.Count, out, err, script)
			}
			if !strings.Contains(page, fmt.Sprintf(">%d</a>", size.Count)) {
				t.Errorf("the page of %s does not say %d", expr, size.Count)
			}
			if strings.Contains(script, "NOT") || strings.Contains(script, "BITOP") && !strings.Contains(script, "EXPIRE") {
				t.Errorf("what is done by hand is not safe:\n%s", script)
			}
		}
	})
}

func TestWhatIsCountedByHandSaysWhatIsWrong(t *testing.T) {
	s := newSite(t, week...)
	a := s.get("/how?expr=activated+-", "Accept", html)
	if a.status != http.StatusBadRequest || !strings.Contains(a.body, "is expected here") {
		t.Errorf("a wrong expression gives %d %s", a.status, a.body)
	}
	overview := s.get("/cohorts?expr=activated", "Accept", html)
	if !strings.Contains(overview.body, `href="/how?as_of=2026-03-10&amp;expr=activated"`) {
		t.Error("the page of cohorts does not lead to how its number is counted by hand")
	}
}

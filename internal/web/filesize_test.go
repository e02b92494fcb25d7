package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sized is the size of the file as the page of an expression says it.
func (s *site) sized(expr string) string {
	s.t.Helper()
	found := regexp.MustCompile(`Download CSV \(([^)]*)\)`).FindStringSubmatch(s.page("/cohorts?expr=" + url.QueryEscape(expr)))
	if found == nil {
		s.t.Fatalf("the page of %s offers no file", expr)
	}
	return found[1]
}

func TestTheSizeOfAFileIsKnownBefore(t *testing.T) {
	s := newSite(t, week...)
	s.send("=cmd login 2026-03-05", "用户, login 2026-03-05")
	file := s.get("/api/v1/cohorts/members.csv?expr=active@2026-03-05").body
	if got, want := s.sized("active@2026-03-05"), fmt.Sprintf("5 rows, %d bytes", len(file)); got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
	safe := s.get("/api/v1/cohorts/members.csv?expr=active@2026-03-05&safe=1&bom=1").body
	body := s.page("/cohorts?expr=active@2026-03-05&as_of=2026-03-09")
	checkHas(t, "the options", body, fmt.Sprintf("formula (+ %d byte)", len(safe)-len(file)-3), "mark (+ 3 bytes)",
		`action="/api/v1/cohorts/members.csv"`, `name="as_of" value="2026-03-09"`, `name="expr" value="active@2026-03-05"`)
}

func TestTheSizeOfALargeFileIsEstimated(t *testing.T) {
	s := newSite(t)
	for from := 0; from < 70_000; from += 5000 {
		var events strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&events, `{"user_id":"user-%06d","event":"activate","day":"2026-03-01"}`+"\n", from+i)
		}
		if a := s.post("/api/v1/events", events.String()); a.status != 200 {
			t.Fatalf("sending events: %d %s", a.status, a.body)
		}
	}
	file := s.get("/api/v1/cohorts/members.csv?expr=activated").body
	got := s.sized("activated")
	found := regexp.MustCompile(`^70,000 rows, about (\d+) kB$`).FindStringSubmatch(got)
	if found == nil {
		t.Fatalf("the page says %q", got)
	}
	if kilobytes, _ := strconv.Atoi(found[1]); kilobytes < len(file)/1050 || kilobytes > len(file)/950 {
		t.Errorf("the page says %q, the file has %d bytes", got, len(file))
	}
}

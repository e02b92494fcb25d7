package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUserOverYears(t *testing.T) {
	s := newSite(t, "a login 2024-12-30", "a login 2024-12-31", "a login 2025-02-01", "b login 2025-01-05", "b login 2026-03-08", "b login 2026-03-09")
	one := s.get("/users?id=a&metric=active", "Accept", html).body
	checkHas(t, "the last year with a day", one, "2025 · 1 day", "year=all", "Sat, 1 Feb 2025")
	if strings.Contains(one, "Mon, 30 Dec 2024") {
		t.Error("several years are shown that nobody asked for")
	}
	all := s.get("/users?id=a&metric=active&year=all", "Accept", html).body
	checkHas(t, "all years", all, "<strong>2026</strong>", "<strong>2025</strong>", "<strong>2024</strong>",
		"29 Dec 2024, before the first data", "30 Dec 2024, active", "11 Mar 2026, not yet", "4 Jan 2025, no data", "from=2024-01-01", "metric=signed_in&amp;year=all")
	checkHas(t, "presence has days too", s.get("/users?id=a&metric=online", "Accept", html).body, "Days in total")
}

func TestUsersInSeveralParameters(t *testing.T) {
	s := newSite(t, week...)
	checkHas(t, "a list", s.get("/users?id=a&id=b", "Accept", html).body, "2 of 2 users found")
}

func TestUserAsPlainText(t *testing.T) {
	s := newSite(t, week...)
	a := s.get("/users.txt?id=%20b%20&metric=active", "Accept-Language", "zh-CN")
	if want := "用户 ID: b\n指标: Active users\n"; !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(a.body, want) {
		t.Errorf("%d %s: %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	checkHas(t, "the text", a.body, "2026-03: 4 天 (3 5 7 9)", "2026-01: 0 天")
	checkHas(t, "the text of several", s.get("/users.txt?id=c,nope&metric=active").body, "c: 1 day, 2026-03-05 – 2026-03-05\n", "nope: No user has this ID\n")
	if a := s.get("/users.txt?id=nope"); a.status != http.StatusNotFound || !strings.Contains(a.body, "nope") {
		t.Errorf("nobody: %d %s", a.status, a.body)
	}
	if a := s.get("/users.txt"); a.status != http.StatusBadRequest {
		t.Errorf("no ID: %d", a.status)
	}
	var audited []string
	for _, access := range s.audit.accesses {
		audited = append(audited, access.Subject)
	}
	if diff := cmp.Diff([]string{" b ", "b", "c,nope", "c", "nope", "nope"}, audited); diff != "" {
		t.Errorf("audited (-want +got):\n%s", diff)
	}
}

package web_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestPresenceOverHTTP(t *testing.T) {
	s := newSite(t)
	for _, step := range []struct{ name, body, want string }{
		{"come", `{"user_ids":["u1","u2"],"online":true}`, `{"changed":2,"online":2}`},
		{"beat", `{"user_ids":["u3","u1"],"beat":true}`, `{"changed":1,"online":2}`},
		{"leave", `{"user_ids":["u1","who"],"online":false}`, `{"changed":1,"online":1}`},
		{"come and beat", `{"user_ids":["u1"],"online":true,"beat":true}`, `{"changed":1,"online":2}`},
		{"nobody", `{"user_ids":[],"beat":true}`, `{"changed":0,"online":2}`},
	} {
		if a := s.post("/api/v1/presence/online", step.body); a.status != http.StatusOK || strings.TrimSpace(a.body) != step.want {
			t.Errorf("%s answers %d %s, want %s", step.name, a.status, a.body, step.want)
		}
	}
	a := s.get("/api/v1/presence/online?within=5m")
	if want := `{"online":2,"recent":3,"at":"2026-03-10T12:00:00Z"}`; a.status != http.StatusOK || strings.TrimSpace(a.body) != want {
		t.Errorf("answers %d %s, want %s", a.status, a.body, want)
	}
	if a := s.get("/api/v1/presence/online?format=csv"); a.body != "online,recent,at\n2,3,2026-03-10T12:00:00Z\n" {
		t.Errorf("as CSV: %s", a.body)
	}
	if a := s.get("/api/v1/cohorts/count?expr=online@today"); !strings.Contains(a.body, `"count":3`) {
		t.Errorf("as a daily metric: %s", a.body)
	}
}

func TestPresenceThatIsWrong(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"online":true}`, http.StatusBadRequest, "missing"},
		{`{"user_ids":["u1"]}`, http.StatusBadRequest, "missing"},
		{`{"user_ids":["u1"],"beat":false}`, http.StatusBadRequest, "bad_value"},
		{`{"user_ids":["u1"],"online":false,"beat":true}`, http.StatusBadRequest, "bad_value"},
		{`{"user_ids":["u1"],"online":"yes"}`, http.StatusBadRequest, "bad_json"},
		{`{"user_ids":[""],"online":true}`, http.StatusBadRequest, ""},
	} {
		if a := s.post("/api/v1/presence/online", tt.body); a.status != tt.status || !strings.Contains(a.body, tt.code) {
			t.Errorf("%s answers %d %s", tt.body, a.status, a.body)
		}
	}
	for _, within := range []string{"soon", "0m", "16m", "90s", "-5m"} {
		a := s.get("/api/v1/presence/online?within=" + within)
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, `"field":"within"`) || !strings.Contains(a.body, within) {
			t.Errorf("within %s answers %d %s", within, a.status, a.body)
		}
	}
	for path, status := range map[string]int{"nope": http.StatusNotFound, "activated": http.StatusBadRequest} {
		if a := s.get("/api/v1/presence/" + path); a.status != status {
			t.Errorf("%s answers %d %s", path, a.status, a.body)
		}
	}
}

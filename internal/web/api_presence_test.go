package web_test

import (
	"bufio"
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
		{`{"user_ids":["u1"],"online":"yes"}`, http.StatusBadRequest, `{"code":"bad_json","message":"online is a JSON string; give true or false","field":"online"}`},
		{`{"user_ids":["u1"],"beat":true,"at":1}`, http.StatusBadRequest, `{"code":"bad_json","message":"there is no field \"at\" here; leave it out","field":"at"}`},
		{`{"user_ids":["u1"],"beat":true} {}`, http.StatusBadRequest, "not one JSON object"},
		{`{"user_ids":["u1",""],"online":true}`, http.StatusBadRequest, `item 2 of user_ids: the user ID is empty; give 1 to 256 bytes","field":"user_ids"}`},
	} {
		if a := s.post("/api/v1/presence/online", tt.body); a.status != tt.status || !strings.Contains(a.body, tt.code) {
			t.Errorf("%s answers %d %s", tt.body, a.status, a.body)
		}
	}
	if a := s.post("/api/v1/presence/online?within=5m", `{"user_ids":["u1"],"beat":true}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, `"field":"within"`) {
		t.Errorf("a parameter that a heartbeat does not have answers %d %s", a.status, a.body)
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

func TestOnlinePage(t *testing.T) {
	s := newSite(t)
	a := s.get("/online")
	for _, want := range []string{`data-live="online">0<`, `data-live-url="/online/live?metric=online&amp;within=5m"`, "No heartbeat in the last three hours"} {
		if a.status != http.StatusOK || !strings.Contains(a.body, want) {
			t.Errorf("the page with nobody answers %d and lacks %s", a.status, want)
		}
	}
	s.post("/api/v1/presence/online", `{"user_ids":["u1","u2"],"online":true}`)
	s.post("/api/v1/presence/online", `{"user_ids":["u3"],"beat":true}`)
	a = s.get("/online?within=15m")
	for _, want := range []string{`data-live="online">2<`, `data-live="recent">3<`, "/cohorts?expr=online%402026-03-10", `value="15m" checked`, "0 – 4,095"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for wrong, want := range map[string]string{"within=20m": "1m to 15m", "metric=nope": "no metric", "metric=active": "is a daily metric"} {
		if a := s.get("/online?" + wrong); a.status != http.StatusOK || !strings.Contains(a.body, want) {
			t.Errorf("%s answers %d without %s", wrong, a.status, want)
		}
	}
	if a := s.get("/online.csv"); !strings.HasPrefix(a.body, "minute,users\n2026-03-10T09:01:00Z,0\n") || strings.Count(a.body, "\n") != 181 {
		t.Errorf("as CSV: %s", a.body)
	}
	if a := s.get("/online/live?metric=nope"); a.status != http.StatusBadRequest {
		t.Errorf("a stream of no metric answers %d", a.status)
	}
}

// The live numbers come at once and again, until the server stops.
func TestLiveNumbers(t *testing.T) {
	stopping := make(chan struct{})
	s := siteStopping(t, stopping)
	s.post("/api/v1/presence/online", `{"user_ids":["u1"],"online":true}`)
	answer, err := http.Get(s.URL + "/online/live?metric=online&within=1m")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := bufio.NewScanner(answer.Body)
	next := func() string {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return data
			}
		}
		return ""
	}
	if got := next(); !strings.HasPrefix(got, `{"online":1,"recent":1,`) {
		t.Errorf("first %s", got)
	}
	s.post("/api/v1/presence/online", `{"user_ids":["u2"],"online":true}`)
	if got := next(); !strings.HasPrefix(got, `{"online":2,"recent":2,`) {
		t.Errorf("then %s", got)
	}
	close(stopping)
	if got := next(); got != "" || events.Err() != nil {
		t.Errorf("after the end %s, %v", got, events.Err())
	}
}

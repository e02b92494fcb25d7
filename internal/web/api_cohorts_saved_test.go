package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/fault"
)

// savedCohort is what the API says of a saved cohort.
type savedCohort struct {
	Name, Title, Expr string
	CreatedAt         time.Time `json:"created_at"`
	UpdatedAt         time.Time `json:"updated_at"`
}

// put saves a cohort.
func (s *site) put(name, expr string) {
	s.t.Helper()
	if a := s.do(http.MethodPut, "/api/v1/cohorts/"+name, `{"title":"Title of `+name+`","expr":"`+expr+`"}`); a.status != http.StatusCreated && a.status != http.StatusOK {
		s.t.Fatalf("saving %s: %d %s", name, a.status, a.body)
	}
}

// count is the size of an expression.
func (s *site) count(expr string) int64 {
	s.t.Helper()
	a := s.get("/api/v1/cohorts/count?expr=" + url.QueryEscape(expr))
	var body struct{ Count int64 }
	if a.read(s.t, &body); a.status != http.StatusOK {
		s.t.Fatalf("%s: %d %s", expr, a.status, a.body)
	}
	return body.Count
}

func TestASavedCohortsLife(t *testing.T) {
	s := newSite(t, week...)
	a := s.post("/api/v1/cohorts", `{"name":"aa","title":"People who activated","expr":"activated"}`)
	want := savedCohort{"aa", "People who activated", "activated", now, now}
	var got savedCohort
	if a.read(t, &got); a.status != http.StatusCreated || a.header.Get("Location") != "/api/v1/cohorts/aa" || got != want {
		t.Fatalf("POST answers %d at %q: %s", a.status, a.header.Get("Location"), a.body)
	}
	if a := s.get("/api/v1/cohorts/aa"); a.status != http.StatusOK || a.body != `{"name":"aa","title":"People who activated","expr":"activated","created_at":"2026-03-10T12:00:00Z","updated_at":"2026-03-10T12:00:00Z"}`+"\n" {
		t.Errorf("GET answers %d %s", a.status, a.body)
	}
	if a := s.do(http.MethodPut, "/api/v1/cohorts/bb", `{"name":"bb","expr":"cohort(aa) - exposed"}`); a.status != http.StatusCreated {
		t.Errorf("PUT of a new one answers %d %s", a.status, a.body)
	}
	if a := s.do(http.MethodPut, "/api/v1/cohorts/aa", `{"title":"T","expr":"activated|exposed"}`); a.status != http.StatusOK || !strings.Contains(a.body, `"title":"T","expr":"activated|exposed"`) {
		t.Errorf("PUT of one that is there answers %d %s", a.status, a.body)
	}
	var list struct{ Cohorts []savedCohort }
	s.get("/api/v1/cohorts").read(t, &list)
	wantList := []savedCohort{{"aa", "T", "activated|exposed", now, now}, {"bb", "bb", "cohort(aa) - exposed", now, now}}
	if diff := cmp.Diff(wantList, list.Cohorts); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if a := s.get("/api/v1/cohorts?format=csv"); a.body != "name,title,expr,created_at,updated_at\naa,T,activated|exposed,2026-03-10T12:00:00Z,2026-03-10T12:00:00Z\nbb,bb,cohort(aa) - exposed,2026-03-10T12:00:00Z,2026-03-10T12:00:00Z\n" {
		t.Errorf("the list as CSV is %q", a.body)
	}
	if a := s.do(http.MethodDelete, "/api/v1/cohorts/bb", ""); a.status != http.StatusNoContent || a.body != "" {
		t.Errorf("DELETE answers %d %s", a.status, a.body)
	}
	if a := s.get("/api/v1/cohorts/bb"); a.status != http.StatusNotFound {
		t.Errorf("one that is gone is answered with %d %s", a.status, a.body)
	}
}

func TestThereAreNoSavedCohortsAtFirst(t *testing.T) {
	if a := newSite(t).get("/api/v1/cohorts"); a.status != http.StatusOK || a.body != "{\"cohorts\":[]}\n" {
		t.Errorf("the list is answered with %d %s", a.status, a.body)
	}
}

func TestSavedCohortsInQuestions(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	s.put("bb", "cohort(aa) - exposed")
	if n := s.count("cohort(bb)"); n != 1 {
		t.Errorf("the cohort has %d users, want 1", n)
	}
	if n := s.count("!cohort(bb) & active@2026-03-05"); n != 2 {
		t.Errorf("the cohort's complement has %d users on that day, want 2", n)
	}
	if a := s.get("/api/v1/cohorts/members.csv?expr=cohort(bb)"); a.body != "user_id\nc\n" {
		t.Errorf("the members are %q", a.body)
	}
	if a := s.get("/api/v1/active?metric=active&from=2026-03-05&to=2026-03-05&filter=cohort(aa)"); !strings.Contains(a.body, `"count":2`) {
		t.Errorf("filtered by the cohort the day has %s", a.body)
	}
	s.put("aa", "exposed")
	if n := s.count("cohort(bb)"); n != 0 {
		t.Errorf("after the cohort that it uses was changed it has %d users, want 0", n)
	}
}

func TestAnExportIsRecordedByWhatItsCohortMeant(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated|exposed")
	s.get("/api/v1/cohorts/members.csv?expr=cohort(aa)%26active@2026-03-05")
	s.get("/cohorts?expr=cohort(aa)", "Accept", html)
	var subjects []string
	for _, a := range s.audit.accesses {
		subjects = append(subjects, a.Subject)
	}
	if diff := cmp.Diff([]string{"(activated | exposed) & active@2026-03-05", "activated | exposed"}, subjects); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func TestSavedCohortsThatAreRefused(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	s.put("bb", "cohort(aa)")
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		code, field              string
		at                       int
	}{
		{"name that is taken", "POST", "", `{"name":"aa","expr":"exposed"}`, 409, "cohort_exists", "name", fault.NoPosition},
		{"no name", "POST", "", `{"expr":"exposed"}`, 400, "missing", "name", fault.NoPosition},
		{"no expression", "POST", "", `{"name":"cc"}`, 400, "missing", "expr", fault.NoPosition},
		{"empty expression", "POST", "", `{"name":"cc","expr":""}`, 400, "bad_expression", "expr", 0},
		{"bad name", "POST", "", `{"name":"E e","expr":"exposed"}`, 400, "bad_name", "name", fault.NoPosition},
		{"name of another address", "POST", "", `{"name":"count","expr":"exposed"}`, 400, "bad_name", "name", fault.NoPosition},
		{"bad name in the path", "PUT", "/1st", `{"expr":"exposed"}`, 400, "bad_name", "name", fault.NoPosition},
		{"two names", "PUT", "/aa", `{"name":"bb","expr":"exposed"}`, 400, "bad_name", "name", fault.NoPosition},
		{"title that is no text", "POST", "", `{"name":"cc","title":"a` + "\xff" + `","expr":"exposed"}`, 400, "bad_title", "title", 1},
		{"long title", "POST", "", `{"name":"cc","title":"` + strings.Repeat("t", 201) + `","expr":"exposed"}`, 400, "bad_title", "title", fault.NoPosition},
		{"another field", "POST", "", `{"name":"cc","expr":"exposed","owner":"me"}`, 400, "bad_json", "owner", fault.NoPosition},
		{"an expression that is no text", "POST", "", `{"name":"cc","expr":1}`, 400, "bad_json", "expr", fault.NoPosition},
		{"no JSON", "PUT", "/aa", `expr`, 400, "bad_json", "", fault.NoPosition},
		{"another parameter", "DELETE", "/aa?force=1", "", 400, "unknown_parameter", "force", fault.NoPosition},
		{"itself", "POST", "", `{"name":"cc","expr":"cohort(cc)"}`, 400, "cohort_cycle", "expr", 7},
		{"cycle", "PUT", "/aa", `{"expr":"exposed | cohort(bb)"}`, 400, "cohort_cycle", "expr", 17},
		{"unknown cohort", "POST", "", `{"name":"cc","expr":"cohort(zz)"}`, 400, "unknown_cohort", "expr", 7},
		{"unknown metric", "PUT", "/aa", `{"expr":"activated | nope"}`, 400, "unknown_metric", "expr", 12},
		{"one in use", "DELETE", "/aa", "", 409, "cohort_in_use", "", fault.NoPosition},
		{"unknown one", "DELETE", "/zz", "", 404, "unknown_cohort", "", fault.NoPosition},
		{"unknown one", "GET", "/zz", "", 404, "unknown_cohort", "", fault.NoPosition},
		{"name that is none", "GET", "/E%20e", "", 404, "unknown_cohort", "", fault.NoPosition},
		{"unknown one in a question", "GET", "/count?expr=exposed|cohort(zz)", "", 400, "unknown_cohort", "expr", 15},
	} {
		a := s.do(tt.method, "/api/v1/cohorts"+tt.path, tt.body)
		var body struct {
			Error struct {
				Code, Field, Message string
				Position             *int
			}
		}
		a.read(t, &body)
		at := fault.NoPosition
		if body.Error.Position != nil {
			at = *body.Error.Position
		}
		if a.status != tt.status || body.Error.Code != tt.code || body.Error.Field != tt.field || at != tt.at {
			t.Errorf("%s: %s %s is answered with %d %s", tt.name, tt.method, tt.path, a.status, a.body)
		}
		if tt.code == "cohort_in_use" && !strings.Contains(body.Error.Message, "used by bb") {
			t.Errorf("the message does not name who uses it: %s", body.Error.Message)
		}
	}
	if n := s.count("cohort(aa)"); n != 2 {
		t.Errorf("after all of that the cohort has %d users, want 2", n)
	}
}

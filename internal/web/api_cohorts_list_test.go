package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
	"bitboard/internal/web"
)

// upload is what the API says of a list.
type upload struct {
	Name                          string
	Accepted, Unknown, Duplicates int
	UnknownIDs                    []string `json:"unknown_ids"`
}

// eachSite serves the week from each kind of store.
func eachSite(t *testing.T, test func(s *site)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, k storetest.Kind) { test(siteOver(t, k.Open(t), week...)) })
}

func TestAListBecomesASavedCohort(t *testing.T) {
	eachSite(t, func(s *site) {
		t := s.t
		a := s.post("/api/v1/cohorts/loyal/list?title=Loyal+ones", "user_id\nb\n\"c\"\nnobody\n b \n")
		want, got := upload{"loyal", 2, 1, 1, []string{"nobody"}}, upload{}
		a.read(t, &got)
		if diff := cmp.Diff(want, got); diff != "" || a.status != http.StatusCreated || a.header.Get("Location") != "/api/v1/cohorts/loyal" {
			t.Fatalf("POST answers %d at %q (-want +got):\n%s", a.status, a.header.Get("Location"), diff)
		}
		if a := s.get("/api/v1/cohorts/loyal"); a.body != `{"name":"loyal","title":"Loyal ones","expr":"cohort(loyal)","created_at":"2026-03-10T12:00:00Z","updated_at":"2026-03-10T12:00:00Z"}`+"\n" {
			t.Errorf("the cohort is %s", a.body)
		}
		if n := s.count("cohort(loyal) & activated"); n != 1 {
			t.Errorf("of the list %d are activated, want 1", n)
		}
		if a := s.get("/api/v1/cohorts/members.csv?expr=cohort(loyal)"); a.body != "user_id\nb\nc\n" {
			t.Errorf("the members are %q", a.body)
		}
		if a := s.get("/api/v1/active?metric=active&from=2026-03-05&to=2026-03-05&filter=cohort(loyal)"); !strings.Contains(a.body, `"count":2`) {
			t.Errorf("filtered by the list the day has %s", a.body)
		}
		checkHas(t, "the overlap", s.page("/cohorts/compare?a=cohort(loyal)&b=activated"), `expr=cohort%28loyal%29+%26+activated`)
		s.put("bb", "cohort(loyal) | exposed")
		s.send("d login 2026-03-09")
		if n := s.count("cohort(bb)"); n != 3 {
			t.Errorf("a cohort over the list has %d users, want 3", n)
		}
		if a := s.do(http.MethodDelete, "/api/v1/cohorts/loyal", ""); a.status != http.StatusConflict {
			t.Errorf("deleting a list in use is answered with %d %s", a.status, a.body)
		}
		if a := s.do(http.MethodPut, "/api/v1/cohorts/loyal/list", "a\nd\nc"); a.status != http.StatusOK || s.count("cohort(loyal)") != 3 {
			t.Errorf("replacing the list is answered with %d %s", a.status, a.body)
		}
	})
}

func TestAForgottenUserLeavesTheList(t *testing.T) {
	eachSite(t, func(s *site) {
		t := s.t
		s.post("/api/v1/cohorts/two/list", "b\nc")
		s.post("/api/v1/cohorts/one/list", "c")
		if _, err := s.store.Forget(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if n := s.count("cohort(two)"); n != 1 {
			t.Errorf("the list of two has %d users, want 1", n)
		}
		if n := s.count("cohort(one)"); n != 0 {
			t.Errorf("the list of one has %d users, want none", n)
		}
		if a := s.do(http.MethodPut, "/api/v1/cohorts/two/list", "b\nc"); !strings.Contains(a.body, `"accepted":1,"unknown":1`) {
			t.Errorf("the same list again is answered with %s", a.body)
		}
	})
}

func TestListsThatAreNotSaved(t *testing.T) {
	s := newSite(t, week...)
	s.put("taken", "activated")
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		has                      string
	}{
		{"nobody known", "POST", "/cc/list", "x\ny", 422, `{"name":"cc","accepted":0,"unknown":2,"duplicates":0,"unknown_ids":["x","y"]}`},
		{"no ID", "POST", "/cc/list", "", 400, `"code":"no_ids"`},
		{"several on a line", "PUT", "/cc/list", "a,b", 400, "line 1 of the list has 2 cells"},
		{"a bad name", "POST", "/C%20c/list", "a", 400, `"code":"bad_name"`},
		{"the name of another address", "PUT", "/count/list", "a", 400, `"code":"bad_name"`},
		{"a name that is taken", "POST", "/taken/list", "a", 409, `"code":"cohort_exists"`},
		{"a long title", "POST", "/cc/list?title=" + strings.Repeat("t", 201), "a", 400, `"field":"title"`},
		{"another parameter", "POST", "/cc/list?name=dd", "a", 400, `"code":"unknown_parameter"`},
		{"too long", "POST", "/cc/list", strings.Repeat("\n", 32<<20+1), 413, `"code":"too_large"`},
	} {
		if a := s.do(tt.method, "/api/v1/cohorts"+tt.path, tt.body); a.status != tt.status || !strings.Contains(a.body, tt.has) {
			t.Errorf("%s is answered with %d %s", tt.name, a.status, a.body)
		}
	}
	if a := s.get("/api/v1/cohorts"); strings.Count(a.body, `"name"`) != 1 {
		t.Errorf("saved are %s", a.body)
	}
}

func TestAListBecomesAnExpressionAndBack(t *testing.T) {
	s := newSite(t, week...)
	s.post("/api/v1/cohorts/aa/list", "b\nc")
	s.put("aa", "exposed")
	if n := s.count("cohort(aa)"); n != 1 {
		t.Errorf("as an expression it has %d users, want 1", n)
	}
	if a := s.do(http.MethodPut, "/api/v1/cohorts/aa/list", "b\nc"); a.status != http.StatusOK || s.count("cohort(aa)") != 2 {
		t.Errorf("back to a list is answered with %d %s", a.status, a.body)
	}
}

func TestAListOfNumbersThatAreOffsets(t *testing.T) {
	st := storetest.Open(t, func(c *store.Config) { c.Dense = true })
	s := newSiteOf(t, st, func(c *web.Config) { c.Dense = true })
	s.send("5 login 2026-03-05", "7 login 2026-03-05")
	a := s.post("/api/v1/cohorts/aa/list", "7\n07\n9\n5\n7")
	if want := `{"name":"aa","accepted":2,"unknown":2,"duplicates":1,"unknown_ids":["07","9"]}` + "\n"; a.body != want {
		t.Errorf("the answer is %s, want %s", a.body, want)
	}
}

func TestWhoAsksForAListOfUsersIsRecorded(t *testing.T) {
	s := newSite(t, week...)
	s.post("/api/v1/cohorts/aa/list", "b\nx")
	if len(s.audit.accesses) != 1 || s.audit.accesses[0].Permission != web.Define || s.audit.accesses[0].Subject != "cohort(aa)" {
		t.Errorf("recorded is %+v", s.audit.accesses)
	}
}

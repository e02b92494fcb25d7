package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bitboard/internal/cohort"
)

// form sends a form as a browser does on a page of this server.
func (s *site) form(path string, pairs ...string) answer {
	s.t.Helper()
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return s.post(path, v.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept", html, "Sec-Fetch-Site", "same-origin")
}

// page is a page, which must come whole.
func (s *site) page(path string) string {
	s.t.Helper()
	a := s.get(path, "Accept", html)
	if a.status != http.StatusOK {
		s.t.Fatalf("%s is answered with %d", path, a.status)
	}
	return a.body
}

// checkHas reports which parts a page lacks.
func checkHas(t testing.TB, what, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(body, part) {
			t.Errorf("%s lacks %q", what, part)
		}
	}
}

func TestACohortIsSavedOnThePage(t *testing.T) {
	s := newSite(t, week...)
	checkHas(t, "the page at first", s.page("/cohorts"), "No cohort is saved yet")
	checkHas(t, "a result", s.page("/cohorts?expr=activated+-+exposed&as_of=2026-03-09"), `id="save"`, `action="/cohorts?as_of=2026-03-09"`, `name="expr" value="activated - exposed"`)
	a := s.form("/cohorts?as_of=2026-03-09", "expr", "activated - exposed", "name", "never_saw_it", "title", "Never <saw> it")
	if want := "/cohorts?as_of=2026-03-09&expr=cohort%28never_saw_it%29&saved=never_saw_it"; a.status != http.StatusSeeOther || a.header.Get("Location") != want {
		t.Fatalf("saving is answered with %d to %s, want %s", a.status, a.header.Get("Location"), want)
	}
	body := s.page(a.header.Get("Location"))
	checkHas(t, "the page after saving", body, "Saved as cohort(never_saw_it).", "/users?as_of=2026-03-09&amp;id=c", "Never &lt;saw&gt; it", "<code>activated - exposed</code>",
		`href="/cohorts?as_of=2026-03-09&amp;expr=cohort%28never_saw_it%29">1</a>`, "/cohorts?as_of=2026-03-09&amp;edit=never_saw_it", "/cohorts?as_of=2026-03-09&amp;delete=never_saw_it")
	if strings.Contains(body, `id="save"`) {
		t.Error("the cohort itself is offered to be saved again")
	}
}

func TestACohortIsChangedOnThePage(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	checkHas(t, "the page of a change", s.page("/cohorts?edit=aa"), `name="edit" value="aa"`, "activated</textarea>", `value="Title of aa"`, ">2</span>")
	checkHas(t, "the page of a change, counted anew", s.page("/cohorts?edit=aa&expr=exposed"), `name="edit" value="aa"`, `name="expr" value="exposed"`)
	if a := s.form("/cohorts", "expr", "exposed", "edit", "aa", "title", "T"); a.status != http.StatusSeeOther {
		t.Fatalf("the change is answered with %d %s", a.status, a.body)
	}
	if a := s.get("/api/v1/cohorts/aa"); !strings.Contains(a.body, `"title":"T","expr":"exposed"`) {
		t.Errorf("after the change it is %s", a.body)
	}
}

func TestACohortThatCannotBeSavedKeepsWhatWasTyped(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	s.put("bb", "cohort(aa)")
	for _, tt := range []struct {
		name   string
		fields []string
		status int
		has    []string
	}{
		{"a bad name", []string{"expr", "exposed", "name", "E e", "title", "Mine"}, 400, []string{`value="E e"`, `value="Mine"`, `id="f-name-problem"`, `name="expr" value="exposed"`}},
		{"a name that is taken", []string{"expr", "exposed", "name", "aa"}, 409, []string{`id="f-name-problem"`, "already"}},
		{"a long title", []string{"expr", "exposed", "name", "cc", "title", strings.Repeat("t", 201)}, 400, []string{`id="f-title-problem"`}},
		{"a wrong expression", []string{"expr", "exposed | nope", "name", "cc"}, 400, []string{"<mark>n</mark>", `id="f-expr-problem"`, `value="cc"`}},
		{"a cycle", []string{"expr", "cohort(bb)", "edit", "aa", "title", "T"}, 400, []string{"<mark>b</mark>", `name="edit" value="aa"`}},
	} {
		a := s.form("/cohorts", tt.fields...)
		if a.status != tt.status {
			t.Errorf("%s is answered with %d", tt.name, a.status)
		}
		checkHas(t, tt.name, a.body, tt.has...)
		if strings.Contains(a.body, `class="members"`) {
			t.Errorf("%s lists people", tt.name)
		}
	}
}

func TestACohortIsDeletedOnThePage(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	s.put("bb", "cohort(aa)")
	used := s.page("/cohorts?delete=aa")
	checkHas(t, "the question about one in use", used, "cannot be deleted", "<code>bb</code>")
	if strings.Contains(used, `action="/cohorts/delete`) {
		t.Error("one in use can be deleted")
	}
	if a := s.form("/cohorts/delete", "name", "aa"); a.status != http.StatusConflict || !strings.Contains(a.body, "used by bb") {
		t.Errorf("deleting one in use is answered with %d", a.status)
	}
	checkHas(t, "the question", s.page("/cohorts?delete=bb&as_of=2026-03-09"), `action="/cohorts/delete?as_of=2026-03-09"`, `name="name" value="bb"`)
	a := s.form("/cohorts/delete?as_of=2026-03-09", "name", "bb")
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/cohorts?as_of=2026-03-09&deleted=bb" {
		t.Fatalf("deleting is answered with %d to %s", a.status, a.header.Get("Location"))
	}
	checkHas(t, "the page after it", s.page("/cohorts?deleted=bb"), "cohort(bb) is deleted.")
	for _, path := range []string{"/cohorts?edit=bb", "/cohorts?delete=bb"} {
		if a := s.get(path, "Accept", html); a.status != http.StatusNotFound {
			t.Errorf("%s is answered with %d, want 404", path, a.status)
		}
	}
}

func TestOtherSitesSaveNothing(t *testing.T) {
	s := newSite(t, week...)
	for _, path := range []string{"/cohorts", "/cohorts/delete"} {
		a := s.post(path, "expr=exposed&name=aa", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site")
		if a.status != http.StatusForbidden {
			t.Errorf("a form of another site is answered with %d", a.status)
		}
	}
	if a := s.get("/api/v1/cohorts"); a.body != "{\"cohorts\":[]}\n" {
		t.Errorf("another site saved %s", a.body)
	}
}

func TestACohortThatBrokeLeavesTheOthersStanding(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	s.put("zz", "exposed")
	s.breakCohort("aa", "gone | exposed")
	checkHas(t, "the list", s.page("/cohorts"), "There is no metric &#34;gone&#34;. There are: active, signed_in", `expr=cohort%28zz%29">1</a>`)
}

// breakCohort gives a saved cohort an expression that the configuration has no
// metric for any more.
func (s *site) breakCohort(name, expr string) {
	s.t.Helper()
	err := s.store.ChangeCohort(s.t.Context(), name, func(cohort.SavedCohorts) (*cohort.Saved, error) {
		return &cohort.Saved{Name: name, Title: name, Expr: expr}, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestSavedCohortsAreOfferedWhereAPageCanBeNarrowed(t *testing.T) {
	s := newSite(t, week...)
	if a := s.post("/api/v1/cohorts", `{"name":"fans","title":"Fans & friends","expr":"atleast(3, active@2026-03-02..2026-03-09)"}`, "Content-Type", "application/json"); a.status != http.StatusCreated {
		t.Fatalf("saving: %d %s", a.status, a.body)
	}
	for _, path := range []string{"/", "/engagement", "/retention"} {
		page := s.get(path, "Accept", html).body
		for _, want := range []string{`list="ready-filters"`, `<option value="cohort(fans)">Fans &amp; friends</option>`, `<option value="exposed">Saw the new feature</option>`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s holds no %s", path, want)
			}
		}
	}
	if a := s.get("/overview.csv?metric=active&from=2026-03-05&to=2026-03-05&filter=cohort(fans)"); !strings.Contains(a.body, "2026-03-05,2,") {
		t.Errorf("narrowed to the cohort the file is %s", a.body)
	}
}

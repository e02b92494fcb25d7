package cohort_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

var tenth = cohort.DayOfDate(2026, time.March, 10)

// chain is cohorts of which each refers to the one before, c0 to an expression.
func chain(n int, first, pattern string) map[string]string {
	saved := map[string]string{"c0": first}
	for i := 1; i < n; i++ {
		saved[fmt.Sprintf("c%d", i)] = strings.ReplaceAll(pattern, "BEFORE", fmt.Sprintf("cohort(c%d)", i-1))
	}
	return saved
}

func TestSavedCohortThatIsRefused(t *testing.T) {
	some := map[string]string{
		"aa": "activated", "bb": "cohort(aa) - exposed", "dd": "cohort(bb) & active@2026-03-01",
		"wide": "active@1800-01-01..2026-03-01", "wider": "cohort(aa) | cohort(wide)",
	}
	for _, tt := range []struct {
		name  string
		saved map[string]string
		put   cohort.Saved
		field string
		code  string
		at    int
	}{
		{"no name", some, cohort.Saved{Expr: "exposed"}, "name", "missing", fault.NoPosition},
		{"upper case", some, cohort.Saved{Name: "Ee", Expr: "exposed"}, "name", "bad_name", fault.NoPosition},
		{"digit first", some, cohort.Saved{Name: "1st", Expr: "exposed"}, "name", "bad_name", fault.NoPosition},
		{"keyword", some, cohort.Saved{Name: "first", Expr: "exposed"}, "name", "bad_name", fault.NoPosition},
		{"long name", some, cohort.Saved{Name: strings.Repeat("a", 65), Expr: "exposed"}, "name", "bad_name", fault.NoPosition},
		{"long title", some, cohort.Saved{Name: "ee", Title: strings.Repeat("字", 201), Expr: "exposed"}, "title", "bad_title", fault.NoPosition},
		{"title that is no text", some, cohort.Saved{Name: "ee", Title: "é\ufffd\xff", Expr: "exposed"}, "title", "bad_title", 2},
		{"title of two lines", some, cohort.Saved{Name: "ee", Title: "a\nb", Expr: "exposed"}, "title", "bad_title", fault.NoPosition},
		{"no expression", some, cohort.Saved{Name: "ee"}, "expr", "bad_expression", 0},
		{"half an expression", some, cohort.Saved{Name: "ee", Expr: "activated &"}, "expr", "bad_expression", 11},
		{"unknown metric", some, cohort.Saved{Name: "ee", Expr: "activated | nope"}, "expr", "unknown_metric", 12},
		{"unknown cohort", some, cohort.Saved{Name: "ee", Expr: "exposed | cohort(nobody)"}, "expr", "unknown_cohort", 17},
		{"new one of itself", some, cohort.Saved{Name: "ee", Expr: "cohort(ee)"}, "expr", "cohort_cycle", 7},
		{"itself", some, cohort.Saved{Name: "aa", Expr: "exposed | cohort(aa)"}, "expr", "cohort_cycle", 17},
		{"cycle of two", some, cohort.Saved{Name: "aa", Expr: "cohort(bb)"}, "expr", "cohort_cycle", 7},
		{"cycle of three", some, cohort.Saved{Name: "aa", Expr: "activated - cohort(dd)"}, "expr", "cohort_cycle", 19},
		{"users become too large", some, cohort.Saved{Name: "aa", Expr: "active@1900-01-01..2026-03-01"}, "expr", "too_many_days", 0},
		{
			"doubled twenty times", chain(20, "activated", "BEFORE | BEFORE"),
			cohort.Saved{Name: "ee", Expr: "cohort(c19)"}, "expr", "too_long", 7,
		},
		{
			"nested too deep", chain(3, strings.Repeat("!", 40)+"activated", strings.Repeat("(", 40)+"BEFORE"+strings.Repeat(")", 40)),
			cohort.Saved{Name: "ee", Expr: "cohort(c2)"}, "expr", "too_deep", 7,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := scopeWith(tt.saved).Saved.CheckChange(workspace, tenth, tt.put)
			f := fault.As(err)
			if f == nil || f.Text == "" || !errors.Is(err, fault.ErrInvalid) || f.Field != tt.field || f.Code != tt.code || f.Position != tt.at {
				t.Errorf("got %+v, want %s at %s %d", f, tt.code, tt.field, tt.at)
			}
		})
	}
}

func TestLimitsAreReachedAfterExpansion(t *testing.T) {
	for _, tt := range []struct {
		name  string
		saved map[string]string
		expr  string
	}{
		{"a hundred levels", map[string]string{"aa": strings.Repeat("!", 60) + "d"}, strings.Repeat("!", 39) + "cohort(aa)"},
		{"ten thousand characters", map[string]string{"aa": strings.Repeat(" ", 9989) + "d"}, "cohort(aa)"},
		{"the same one in two places", map[string]string{"aa": "d", "bb": "cohort(aa)"}, "cohort(aa) & cohort(bb) & cohort(aa)"},
	} {
		s := scopeWith(tt.saved).Saved
		if _, err := s.CheckNew(workspace, tenth, cohort.Saved{Name: "ee", Expr: tt.expr}); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		one := "!" + tt.expr
		if _, err := s.CheckNew(workspace, tenth, cohort.Saved{Name: "ee", Expr: one}); len(tt.saved) == 1 && err == nil {
			t.Errorf("%s: one more is accepted", tt.name)
		}
	}
}

func TestSavedCohortAsItIsKept(t *testing.T) {
	long, now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	s := cohort.SavedCohorts{"aa": {Name: "aa", Title: "Old", Expr: "activated", Created: long, Updated: long}}
	got, err := s.CheckChange(workspace, tenth, cohort.Saved{Name: "aa", Title: " New ", Expr: " exposed", Created: now, Updated: now})
	if want := (cohort.Saved{Name: "aa", Title: "New", Expr: " exposed", Created: long, Updated: now}); err != nil || got != want {
		t.Errorf("changed to %+v, %v; want %+v", got, err, want)
	}
	got, err = s.CheckNew(workspace, tenth, cohort.Saved{Name: "bb", Expr: "exposed", Created: now, Updated: now})
	if want := (cohort.Saved{Name: "bb", Title: "bb", Expr: "exposed", Created: now, Updated: now}); err != nil || got != want {
		t.Errorf("saved as %+v, %v; want %+v", got, err, want)
	}
	if _, err := s.CheckNew(workspace, tenth, cohort.Saved{Name: "aa", Expr: "exposed"}); !errors.Is(err, fault.ErrConflict) {
		t.Errorf("a name that is taken: %v, want an ErrConflict", err)
	}
}

func TestSavedCohortIsMendedOneAtATime(t *testing.T) {
	// A metric left the configuration: both are broken.
	s := scopeWith(map[string]string{"aa": "gone", "bb": "cohort(aa) | gone"}).Saved
	if _, err := s.CheckChange(workspace, tenth, cohort.Saved{Name: "aa", Expr: "activated"}); err != nil {
		t.Errorf("mending one that a broken one uses: %v", err)
	}
}

func TestThereAreNotTooManySavedCohorts(t *testing.T) {
	s := cohort.SavedCohorts{}
	for i := range cohort.MaxSavedCohorts {
		name := fmt.Sprintf("c%d", i)
		s[name] = cohort.Saved{Name: name, Expr: "d"}
	}
	if _, err := s.CheckNew(workspace, tenth, cohort.Saved{Name: "one_more", Expr: "d"}); !errors.Is(err, fault.ErrConflict) {
		t.Errorf("one more than the most: %v, want an ErrConflict", err)
	}
	if _, err := s.CheckChange(workspace, tenth, cohort.Saved{Name: "c7", Expr: "exposed"}); err != nil {
		t.Errorf("changing one of the most: %v", err)
	}
}

func TestSavedCohortInUseIsNotDeleted(t *testing.T) {
	s := scopeWith(map[string]string{"aa": "d", "bb": "cohort(aa)", "cc": "!cohort(aa)", "dd": "cohort(bb)"}).Saved
	err := s.CheckDelete("aa")
	if f := fault.As(err); f == nil || !errors.Is(err, fault.ErrConflict) || !strings.Contains(f.Message, "bb, cc;") {
		t.Errorf("got %v, want an ErrConflict that names bb and cc", err)
	}
	if err := s.CheckDelete("dd"); err != nil {
		t.Errorf("one that nobody uses: %v", err)
	}
	if err := s.CheckDelete("ee"); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("one that is not there: %v, want an ErrNotFound", err)
	}
}

func TestExpand(t *testing.T) {
	scope := scopeWith(map[string]string{"aa": "activated|d", "bb": "cohort(aa) - exposed"})
	e, err := cohort.ParseExpr("!cohort(bb) & first(active@today) - (cohort(aa) & d)")
	if err != nil {
		t.Fatal(err)
	}
	want := "!((activated | d) - exposed) & first(active@today) - (activated | d) & d"
	if got := e.Expand(scope.Saved).String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	expanded, err := cohort.ParseExpr(want)
	if err != nil {
		t.Fatal(err)
	}
	one, err := e.Resolve(scope)
	if err != nil {
		t.Fatal(err)
	}
	other, err := expanded.Resolve(scope)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(other, one); diff != "" {
		t.Errorf("the expansion names other users (-expanded +named):\n%s", diff)
	}
}

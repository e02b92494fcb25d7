package cohort_test

import (
	"strings"
	"testing"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

var workspace = cohort.Workspace{
	Zone: time.UTC,
	Metrics: []cohort.Metric{
		{Name: "active", Kind: cohort.KindDaily}, {Name: "activated", Kind: cohort.KindFlag},
		{Name: "exposed", Kind: cohort.KindFlag}, {Name: "online", Kind: cohort.KindPresence}, {Name: "d", Kind: cohort.KindFlag},
	},
}

func scopeWith(saved map[string]string) cohort.Scope {
	scope := cohort.Scope{Workspace: workspace, AsOf: cohort.DayOfDate(2026, time.March, 10), Saved: cohort.SavedCohorts{}}
	for name, expr := range saved {
		scope.Saved[name] = cohort.Saved{Name: name, Title: name, Expr: expr}
	}
	return scope
}

func TestNormalForm(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"activated-exposed", "activated - exposed"},
		{" activated\n|\texposed ", "activated | exposed"},
		{"((activated))", "activated"},
		{"activated & (exposed | d)", "activated & (exposed | d)"},
		{"(activated & exposed) | d", "activated & exposed | d"},
		{"activated - exposed - d", "activated - exposed - d"},
		{"activated - (exposed - d)", "activated - (exposed - d)"},
		{"activated - (exposed & d)", "activated - exposed & d"},
		{"! ( activated )", "!activated"},
		{"!(activated|exposed)", "!(activated | exposed)"},
		{"!!activated", "!!activated"},
		{"active @ 2026-03-01 .. 2026-03-07", "active@2026-03-01..2026-03-07"},
		{"active@today-exposed", "active@today - exposed"},
		{"active@today-7d..today", "active@today-7d..today"},
		{"active@today - d", "active@today - d"},
		{"active@today-d", "active@today - d"},
		{"active@2026-03-01-exposed", "active@2026-03-01 - exposed"},
		{"all( active@yesterday )", "all(active@yesterday)"},
		{"atleast(2,active@today-7d..today)", "atleast(2, active@today-7d..today)"},
		{"exactly( 1 , active@2026-03-01 )", "exactly(1, active@2026-03-01)"},
		{"first(online@2026-03-01)", "first(online@2026-03-01)"},
		{"cohort( loyal )", "cohort(loyal)"},
	} {
		e, err := cohort.ParseExpr(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if got := e.String(); got != tt.want {
			t.Errorf("%q is normalised to %q, want %q", tt.text, got, tt.want)
		}
		again, err := cohort.ParseExpr(e.String())
		if err != nil || again.String() != e.String() {
			t.Errorf("the normal form %q of %q is read as %q, %v", e, tt.text, again, err)
		}
	}
}

func TestWrongExpressions(t *testing.T) {
	saved := map[string]string{"self": "cohort(self)", "ping": "exposed | cohort(pong)", "pong": "cohort(ping)", "broken": "gone | exposed"}
	for _, tt := range []struct {
		text string
		code string
		at   int
	}{
		{"", "bad_expression", 0},
		{"  ", "bad_expression", 2},
		{"activated $ exposed", "bad_expression", 10},
		{"activated – exposed", "bad_expression", 10},
		{"activated exposed", "bad_expression", 10},
		{"activated &", "bad_expression", 11},
		{"& activated", "bad_expression", 0},
		{"activated | | exposed", "bad_expression", 12},
		{"(activated", "bad_expression", 10},
		{"activated)", "bad_expression", 9},
		{"()", "bad_expression", 1},
		{"activated !", "bad_expression", 10},
		{"42", "bad_expression", 0},
		{"today", "bad_expression", 0},
		{"first", "bad_expression", 0},
		{"activated | nope", "unknown_metric", 12},
		{"all(nope@2026-03-01)", "unknown_metric", 4},
		{"Activated", "unknown_metric", 0},
		{"ÄÖ | activated", "bad_expression", 0},
		{"active | activated", "dates_needed", 6},
		{"activated@2026-03-01", "no_dates", 0},
		{"active@2026-02-30", "bad_date", 7},
		{"active@2100-02-29", "bad_date", 7},
		{"active@2026-3-1", "bad_date", 7},
		{"active@", "bad_expression", 7},
		{"active@2026-03-01..", "bad_expression", 19},
		{"active@2026-03-01.2026-03-02", "bad_expression", 18},
		{"active@2026-03-05..2026-03-01", "reversed_range", 7},
		{"active@today..yesterday", "reversed_range", 7},
		{"active@today-7", "bad_expression", 14},
		{"active@today-7days", "bad_expression", 14},
		{"active@today-99999999999999999999d", "bad_number", 13},
		{"active@today-999999999d", "bad_date", 7},
		{"atleast(4, active@2026-03-01..2026-03-03)", "bad_number", 8},
		{"atleast(0, active@2026-03-01)", "bad_number", 8},
		{"exactly(99999999999999999999, active@2026-03-01)", "bad_number", 8},
		{"atleast(active@2026-03-01)", "bad_expression", 8},
		{"atleast(-1, active@2026-03-01)", "bad_expression", 8},
		{"atleast(1.5, active@2026-03-01)", "bad_expression", 9},
		{"atleast(2 active@2026-03-01)", "bad_expression", 10},
		{"all(activated)", "bad_expression", 13},
		{"all(active)", "bad_expression", 10},
		{"first(activated@2026-03-01)", "no_dates", 6},
		{"most(2, active@2026-03-01)", "unknown_function", 0},
		{"cohort()", "bad_expression", 7},
		{"cohort(nobody)", "unknown_cohort", 7},
		{"cohort(self)", "cohort_cycle", 7},
		{"exposed & cohort(ping)", "cohort_cycle", 17},
		{"cohort(broken)", "unknown_metric", 7},
		{strings.Repeat("!", 101) + "exposed", "too_deep", 100},
		{strings.Repeat("(", 101) + "exposed", "too_deep", 100},
		{strings.Repeat("exposed|", 1250) + "exposed", "too_long", cohort.MaxExprLength},
		{"active@0001-01-01..2026-03-01", "too_many_days", 7},
	} {
		e, err := cohort.ParseExpr(tt.text)
		if err == nil {
			_, err = e.Resolve(scopeWith(saved))
		}
		f := fault.As(err)
		if f == nil {
			t.Errorf("%.60q: got %v, want an error", tt.text, err)
			continue
		}
		if f.Text == "" {
			t.Errorf("%.60q: pages have no text for %s", tt.text, f.Message)
		}
		if f.Code != tt.code || f.Position != tt.at || f.Field != cohort.ExprField {
			t.Errorf("%.60q: got %s at %s %d, want %s at %d: %s", tt.text, f.Code, f.Field, f.Position, tt.code, tt.at, f.Message)
		}
	}
}

func TestCohortsOfAnExpression(t *testing.T) {
	e, err := cohort.ParseExpr("cohort(b) - (cohort(a) | !cohort(b))")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Cohorts(), " "); got != "b a" {
		t.Errorf("got %q, want %q", got, "b a")
	}
}

func FuzzParseExpr(f *testing.F) {
	f.Add("activated - exposed")
	f.Add("atleast(2, active@today-7d..today) | !(first(active@2026-03-01))")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := cohort.ParseExpr(text)
		if err != nil {
			if p := fault.As(err); p == nil || p.Position < 0 || p.Position > max(len([]rune(text)), cohort.MaxExprLength) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := cohort.ParseExpr(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("the normal form %q of %q is read as %q, %v", e, text, again, err)
		}
	})
}

package cohort_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
)

func terms(t testing.TB, text string, most int) []cohort.Term {
	t.Helper()
	e, err := cohort.ParseExpr(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e.Terms(most)
}

func TestTermsOfExpressions(t *testing.T) {
	flag := func(name string) cohort.Term { return cohort.Term{Kind: cohort.FlagTerm, Name: name} }
	joined := func(j cohort.Join, x cohort.Term) cohort.Term { x.Join = j; return x }
	not := func(x cohort.Term) cohort.Term { x.Not = true; return x }
	other := func(text string) cohort.Term { return cohort.Term{Kind: cohort.OtherTerm, Text: text} }
	week := cohort.Term{Kind: cohort.AnyTerm, Name: "active", From: "today-6d", To: "today"}
	for _, tt := range []struct {
		text string
		want []cohort.Term
	}{
		{"activated - exposed", []cohort.Term{flag("activated"), joined(cohort.JoinMinus, flag("exposed"))}},
		{"(activated | exposed) & active@today-6d..today", []cohort.Term{flag("activated"), joined(cohort.JoinOr, flag("exposed")), joined(cohort.JoinAnd, week)}},
		{"activated & exposed | d", []cohort.Term{flag("activated"), joined(cohort.JoinAnd, flag("exposed")), joined(cohort.JoinOr, flag("d"))}},
		{"activated - (exposed - d)", []cohort.Term{flag("activated"), joined(cohort.JoinMinus, other("exposed - d"))}},
		{"activated | exposed & d", []cohort.Term{flag("activated"), joined(cohort.JoinOr, other("exposed & d"))}},
		{"!activated", []cohort.Term{not(flag("activated"))}},
		{"!!activated", []cohort.Term{not(other("!activated"))}},
		{"!(activated | d)", []cohort.Term{not(other("activated | d"))}},
		{"cohort(loyal)", []cohort.Term{{Kind: cohort.SavedTerm, Name: "loyal"}}},
		{"atleast(3, active@yesterday)", []cohort.Term{{Kind: cohort.AtLeastTerm, Name: "active", K: "3", From: "yesterday"}}},
		{"first(active@2026-03-01..today)", []cohort.Term{{Kind: cohort.FirstTerm, Name: "active", From: "2026-03-01", To: "today"}}},
	} {
		if diff := cmp.Diff(tt.want, terms(t, tt.text, 9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
	want := []cohort.Term{other("activated - exposed"), joined(cohort.JoinOr, flag("d"))}
	if diff := cmp.Diff(want, terms(t, "(activated - exposed) | d", 2)); diff != "" {
		t.Errorf("two terms at most (-want +got):\n%s", diff)
	}
}

// grow writes a random expression over five sets.
func grow(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(4) == 0 {
		return []string{"activated", "exposed", "d", "cohort(loyal)", "active@today"}[r.IntN(5)]
	}
	if r.IntN(5) == 0 {
		return "!(" + grow(r, depth-1) + ")"
	}
	text := grow(r, depth-1)
	for range 1 + r.IntN(3) {
		text += []string{" | ", " & ", " - "}[r.IntN(3)]
		if r.IntN(2) == 0 {
			text += "(" + grow(r, depth-1) + ")"
		} else {
			text += grow(r, depth-1)
		}
	}
	return text
}

// meets decides whether somebody who is in some of the stored sets is in a set:
// with all 16 such people two expressions that mean the same agree.
func meets(s cohort.Set, in map[string]bool) bool {
	switch s := s.(type) {
	case cohort.Stored:
		return s.Bitmap.Kind == cohort.KnownBitmap || in[s.Bitmap.Metric]
	case cohort.OnAny:
		return in[s.Metric]
	case cohort.Union:
		for _, of := range s.Of {
			if meets(of, in) {
				return true
			}
		}
		return false
	case cohort.Intersection:
		for _, of := range s.Of {
			if !meets(of, in) {
				return false
			}
		}
		return true
	case cohort.Difference:
		return meets(s.From, in) && !meets(s.Without, in)
	}
	return false
}

// meaning is who of the 16 possible people an expression names.
func meaning(t testing.TB, e cohort.Expr) (named [16]bool) {
	t.Helper()
	set, err := e.Resolve(scopeWith(map[string]string{"loyal": "active@today - d"}))
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	for person := range named {
		in := map[string]bool{"activated": person&1 != 0, "exposed": person&2 != 0, "d": person&4 != 0, "active": person&8 != 0}
		named[person] = meets(set, in)
	}
	return named
}

// checkRoundTrip checks that an expression's terms name the same people as it.
func checkRoundTrip(t testing.TB, text string, most int) {
	t.Helper()
	e, err := cohort.ParseExpr(text)
	if err != nil {
		return
	}
	if _, err := e.Resolve(scopeWith(map[string]string{"loyal": "active@today - d"})); err != nil {
		return
	}
	parts := e.Terms(most)
	back, err := cohort.Combine(parts)
	if err != nil {
		t.Fatalf("%s does not come back from %+v: %v", text, parts, err)
	}
	if len(parts) > most || meaning(t, e) != meaning(t, back) {
		t.Fatalf("%s becomes %s by way of %+v", text, back, parts)
	}
	if err := cohort.CheckTerms(parts, scopeWith(map[string]string{"loyal": "active@today - d"})); err != nil {
		t.Fatalf("%s has wrong terms: %v", text, err)
	}
}

func TestTermsNameThePeopleOfTheirExpression(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		checkRoundTrip(t, grow(r, 3), 1+r.IntN(6))
	}
}

func FuzzTerms(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		f.Add(grow(r, 2))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1000 && !strings.ContainsAny(text, "()") || strings.Count(text, "(") < 20 {
			checkRoundTrip(t, text, 6)
		}
	})
}

func TestAWrongFieldOfATermIsNamed(t *testing.T) {
	fine := cohort.Term{Kind: cohort.FlagTerm, Name: "activated"}
	days := func(change func(*cohort.Term)) cohort.Term {
		x := cohort.Term{Kind: cohort.AtLeastTerm, Name: "active", K: "2", From: "today-6d", To: "today"}
		change(&x)
		return x
	}
	for _, tt := range []struct {
		name  string
		term  cohort.Term
		field string
	}{
		{"no name", cohort.Term{Kind: cohort.FlagTerm}, cohort.TermName},
		{"an unknown metric", cohort.Term{Kind: cohort.FlagTerm, Name: "nope"}, cohort.TermName},
		{"a flag with days", cohort.Term{Kind: cohort.AnyTerm, Name: "exposed", From: "today"}, cohort.TermName},
		{"days without dates", cohort.Term{Kind: cohort.FlagTerm, Name: "active"}, cohort.TermName},
		{"an unknown cohort", cohort.Term{Kind: cohort.SavedTerm, Name: "nope", Not: true}, cohort.TermName},
		{"no date", days(func(x *cohort.Term) { x.From = "" }), cohort.TermFrom},
		{"more than a date", days(func(x *cohort.Term) { x.From = "today & d" }), cohort.TermFrom},
		{"a date that does not exist", days(func(x *cohort.Term) { x.To = "2026-02-30" }), cohort.TermTo},
		{"a reversed range", days(func(x *cohort.Term) { x.From, x.To = x.To, x.From }), cohort.TermFrom},
		{"no number", days(func(x *cohort.Term) { x.K = "two" }), cohort.TermK},
		{"too high a number", days(func(x *cohort.Term) { x.K, x.Not = "8", true }), cohort.TermK},
		{"a wrong expression", cohort.Term{Kind: cohort.OtherTerm, Text: "d |"}, cohort.TermText},
		{"an expression with an unknown metric", cohort.Term{Kind: cohort.OtherTerm, Text: "d | nope"}, cohort.TermText},
	} {
		err := cohort.CheckTerms([]cohort.Term{fine, tt.term}, scopeWith(nil))
		var wrong *cohort.TermError
		if !errors.As(err, &wrong) || wrong.Term != 2 || wrong.Field != tt.field {
			t.Errorf("%s: %v, want the field %s of condition 2", tt.name, err, tt.field)
		}
	}
}

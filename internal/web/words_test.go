package web

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/views/text"
)

// keptWords are what an error in any language may hold: what was given, and what
// expressions are written with.
var keptWords = regexp.MustCompile(`"[^"]*"|YYYY-MM-DD|today(-7d)?|yesterday|all|atleast|exactly|first|cohort|\bd\b|active|activated|loop|huge|aa|bb`)

func TestWrongExpressionsAreExplainedInTheReadersLanguage(t *testing.T) {
	scope := cohort.Scope{
		Workspace: cohort.Workspace{Metrics: []cohort.Metric{{Name: "active"}, {Name: "activated", Kind: cohort.KindFlag}}},
		AsOf:      cohort.DayOfDate(2026, time.March, 10),
		Saved:     cohort.SavedCohorts{"loop": {Name: "loop", Expr: "cohort(loop)"}, "huge": {Name: "huge", Expr: "active@0001-01-01..2026-03-01"}},
	}
	for _, expr := range []string{
		"", "activated activated", "(activated", "all(active@today", "cohort()", "atleast(2 active@today)", "all()", "atleast(x, active@today)",
		"active@today.x", "active@", "active@today-7", "today", "all(active)", "nope", "most(active@today)", "atleast(9999999999, active@today)",
		"active@2026-02-30", "active", "activated@today", "atleast(2, active@today)", "active@today..yesterday", "cohort(huge)",
		"active@today-999999999d", "cohort(loop)", "cohort(nobody)", strings.Repeat("!", 101) + "activated", strings.Repeat("activated|", 1001),
	} {
		e, err := cohort.ParseExpr(expr)
		if err == nil {
			_, err = e.Resolve(scope)
		}
		f := fault.As(err)
		if f == nil {
			t.Errorf("%.40q is right: %v", expr, err)
			continue
		}
		checkWords(t, f)
	}
}

func TestCohortsThatCannotBeSavedAreExplainedInTheReadersLanguage(t *testing.T) {
	w := cohort.Workspace{Metrics: []cohort.Metric{{Name: "active"}}}
	s := cohort.SavedCohorts{"aa": {Name: "aa", Expr: "active@today"}, "bb": {Name: "bb", Expr: "cohort(aa)|active@1800-01-01..today"}}
	for _, c := range []cohort.Saved{
		{}, {Name: "E e"}, {Name: strings.Repeat("a", 65)}, {Name: "cc", Title: strings.Repeat("t", 201)}, {Name: "cc", Title: "a\nb"},
		{Name: "aa", Expr: "active@1800-01-01..today"},
	} {
		_, err := s.CheckChange(w, cohort.DayOfDate(2026, time.March, 10), c)
		checkWords(t, fault.As(err))
	}
	_, err := s.CheckNew(w, 0, cohort.Saved{Name: "aa"})
	checkWords(t, fault.As(err))
	checkWords(t, fault.As(s.CheckDelete("aa")))
	checkWords(t, fault.As(s.CheckDelete("nobody")))
}

// checkWords checks that an error is explained in Chinese, and in English with
// every value filled in.
func checkWords(t *testing.T, f *fault.Error) {
	t.Helper()
	chinese, english := words(text.For("zh-CN"), f), words(text.For("en"), f)
	if !strings.ContainsFunc(chinese, func(r rune) bool { return unicode.Is(unicode.Han, r) }) || regexp.MustCompile(`[A-Za-z]{3}`).MatchString(keptWords.ReplaceAllString(chinese, "")) {
		t.Errorf("in Chinese: %s", chinese)
	}
	for _, said := range []string{chinese, english} {
		if strings.ContainsAny(said, "{}") {
			t.Errorf("not filled in: %s", said)
		}
	}
}

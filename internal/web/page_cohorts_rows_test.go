package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// rows is the address of the form of conditions, each given as "join of how k from to".
func rows(do string, given ...string) string {
	v := url.Values{"rows": {string(rune('0' + len(given)))}}
	if do != "" {
		v.Set("do", do)
	}
	for i, r := range given {
		n := "-" + string(rune('1'+i))
		for j, f := range strings.Fields(r) {
			if f != "." {
				v.Set([]string{"join", "of", "how", "k", "from", "to"}[j]+n, f)
			}
		}
	}
	return "/cohorts?as_of=2026-03-09&" + v.Encode()
}

func TestConditionsLeadToTheirExpression(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	for _, tt := range []struct {
		name, path, expr, more string
	}{
		{"the ready example", rows("", ". metric:activated", "minus metric:exposed"), "activated - exposed", ""},
		{"left to right", rows("", ". metric:activated", "or metric:exposed", "and metric:active atleast 2 2026-03-01 today"), "(activated | exposed) & atleast(2, active@2026-03-01..today)", ""},
		{"a saved cohort", rows("", ". cohort:aa"), "cohort(aa)", ""},
		{"a row about nothing", rows("", ". metric:activated", "and ."), "activated", ""},
		{"one more row", rows("add", ". metric:activated"), "activated", "&blank=1"},
		{"one row less", rows("remove-1", ". metric:activated", "minus metric:exposed"), "exposed", ""},
		{"none left", rows("remove-1", ". metric:activated"), "", ""},
		{"not", rows("", ". metric:activated") + "&is-1=not", "!activated", ""},
		{"an expression", rows("", ". metric:activated", "minus other") + "&text-2=exposed+%7C+cohort(aa)", "activated - (exposed | cohort(aa))", ""},
		{"the cohort that is changed", rows("", ". metric:exposed") + "&edit=aa", "exposed", "&edit=aa"},
	} {
		a := s.get(tt.path, "Accept", html)
		u, err := url.Parse(a.header.Get("Location"))
		if err != nil || a.status != http.StatusSeeOther || u.Query().Get("expr") != tt.expr || u.Query().Get("as_of") != "2026-03-09" {
			t.Errorf("%s is answered with %d to %s, want the expression %s (%v)", tt.name, a.status, u, tt.expr, err)
		}
		if !strings.Contains("&"+u.RawQuery, tt.more) {
			t.Errorf("%s leads to %s without %s", tt.name, u, tt.more)
		}
	}
}

func TestConditionsAreCountedOneByOne(t *testing.T) {
	s := newSite(t, week...)
	body := s.page("/cohorts?expr=(activated+|+active@2026-03-03)+-+exposed&as_of=2026-03-09")
	checkHas(t, "the page", body, `expr=activated">2</a>`, `expr=active%402026-03-03">2</a>`, `expr=exposed">1</a>`,
		`expr=activated+%7C+active%402026-03-03">3</a>`, `expr=%28activated+%7C+active%402026-03-03%29+-+exposed">2</a>`)
	if n := strings.Count(body, `<li class="row">`); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	if n := strings.Count(s.page("/cohorts?expr=activated&blank=1"), `<li class="row">`); n != 2 {
		t.Errorf("%d rows with a blank one, want 2", n)
	}
	if n := strings.Count(s.page("/cohorts?expr="+url.QueryEscape("activated"+strings.Repeat(" | exposed", 30))), `<li class="row">`); n != 12 {
		t.Errorf("%d rows of a long expression, want 12", n)
	}
}

func TestAWrongConditionIsNamed(t *testing.T) {
	s := newSite(t, week...)
	for _, tt := range []struct{ name, path, field, says string }{
		{"a date", rows("", ". metric:activated", "and metric:active any . 2026-02-30"), "from-2", "Condition 2, from: "},
		{"a number", rows("", ". metric:active atleast x today"), "k-1", "Condition 1, days: "},
		{"a reversed range", rows("add", ". metric:active any . today yesterday"), "from-1", "Condition 1, from: "},
		{"a metric", rows("", ". metric:nope"), "of-1", "There is no metric"},
		{"below a row about nothing", rows("", ". .", ". metric:active any . x"), "from-2", "Condition 2, from: "},
		{"an expression", rows("", ". other") + "&text-1=activated+%7C", "text-1", "Condition 1, expression: "},
	} {
		body := s.page(tt.path)
		checkHas(t, tt.name, body, `id="f-`+tt.field+`"`, tt.says)
		if !strings.Contains(body, `aria-invalid="true"`) {
			t.Errorf("%s: no field is marked", tt.name)
		}
	}
}

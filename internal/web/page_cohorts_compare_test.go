package web_test

import (
	"strings"
	"testing"
)

func TestGroupsAreCompared(t *testing.T) {
	s := newSite(t, week...)
	s.put("aa", "activated")
	body := s.page("/cohorts/compare?a=cohort(aa)&b=active@2026-03-03&c=exposed&as_of=2026-03-09&metric=active")
	checkHas(t, "the page", body,
		// a is in all three; c in the first alone, b in the second alone.
		`expr=cohort%28aa%29+-+active%402026-03-03+-+exposed">1</a>`, `expr=active%402026-03-03+-+cohort%28aa%29+-+exposed">1</a>`,
		`expr=cohort%28aa%29+%26+active%402026-03-03+%26+exposed">1</a>`, `expr=cohort%28aa%29+%26+exposed+-+active%402026-03-03">0</a>`,
		`expr=cohort%28aa%29">2</a>`, `expr=cohort%28aa%29+%7C+active%402026-03-03+%7C+exposed">3</a>`,
		"A · Title of aa", `role="img"`, `<circle class="set-c"`,
		"/retention?as_of=2026-03-09&amp;cohorts=any&amp;filter=cohort%28aa%29&amp;from=2026-02-24&amp;granularity=day&amp;start=active&amp;to=2026-03-09",
		"expr=cohort%28aa%29+%26+active%402026-02-24..2026-03-09\">2</a>",
	)
	if strings.Contains(body, " style=") {
		t.Error("the drawing has a style of its own")
	}
}

func TestGroupsThatAreComparedAtFirst(t *testing.T) {
	s := newSite(t, week...)
	checkHas(t, "the page at first", s.page("/cohorts/compare"), `name="a" type="text" value="activated"`, `name="b" type="text" value="exposed"`, "only in A")
	s.put("bb", "exposed")
	s.put("cc", "activated")
	checkHas(t, "with saved cohorts", s.page("/cohorts/compare"), `value="cohort(bb)"`, `value="cohort(cc)"`, "B · Title of cc")
	checkHas(t, "of nobody", s.page("/cohorts/compare?a=active@today&b=online@today"), "Nobody is in any of these groups")
}

func TestAWrongGroupIsNamed(t *testing.T) {
	s := newSite(t, week...)
	body := s.page("/cohorts/compare?a=activated&b=nope&metric=active")
	checkHas(t, "a wrong group", body, `id="f-b-problem"`, "There is no metric", `value="nope"`)
	checkHas(t, "a wrong metric", s.page("/cohorts/compare?metric=exposed"), `id="f-metric-problem"`)
	if strings.Contains(body, `id="overlap"`) {
		t.Error("what is wrong is drawn all the same")
	}
}

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/playwright-community/playwright-go"
)

// choose picks an option of a select of the builder, and waits for the counts: they
// come by themselves with scripts, and by the button without.
func (b *tab) choose(selector, value string) {
	b.t.Helper()
	_, err := b.Locator(selector).SelectOption(playwright.SelectOptionValues{Values: &[]string{value}})
	must(b.t, err)
	if b.look.noScript {
		b.click("#builder .controls button:not([name])")
		return
	}
	must(b.t, b.Locator(selector+` option[value="`+value+`"][selected]`).WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateAttached}))
}

// TestAnalystBuildsACohort makes the ready example from conditions, watching what
// each of them leaves, and sets it beside other groups.
func TestAnalystBuildsACohort(t *testing.T) {
	inLooks(t, func(b *tab, a *activity) {
		t := b.t
		b.visit("/cohorts?" + asOf)
		b.choose("#f-of-1", "metric:activated")
		if got := number(b.text("#builder .own .num")); got != len(a.activated) {
			t.Errorf("the first condition has %d users, want %d", got, len(a.activated))
		}
		b.click("#builder button[value=add]")
		b.choose("#f-of-2", "metric:exposed")
		b.choose("#f-join-2", "minus")
		b.check()
		want := a.activatedNotExposed()
		if got := number(b.text("#builder .so-far-count .num")); got != len(want) {
			t.Errorf("%d users are left after both, want %d", got, len(want))
		}
		if got, err := b.Locator("textarea[name=expr]").InputValue(); err != nil || got != "activated - exposed" || !strings.Contains(b.URL(), "expr=activated+-+exposed") {
			t.Errorf("the expression is %q at %s (%v)", got, b.URL(), err)
		}
		if diff := cmp.Diff(want, listed(b)); diff != "" {
			t.Errorf("members (-want +got):\n%s", diff)
		}
		b.click("#builder .so-far-count a")
		if diff := cmp.Diff(want, listed(b)); diff != "" {
			t.Errorf("members behind the count (-want +got):\n%s", diff)
		}
		b.click(`#result a[href^="/cohorts/compare"]`)
		b.check()
		b.fill("#f-b", "activated")
		b.fill("#f-c", "exposed")
		b.click("#groups button[type=submit]")
		b.check()
		if !b.look.noScript {
			b.drawn()
		}
		if got := b.texts("#overlap tbody:first-of-type td:nth-of-type(1)"); number(got[3]) != len(want) {
			t.Errorf("the first two groups alone share %q, want %d", got, len(want))
		}
		if n, err := b.Locator("svg.euler circle").Count(); err != nil || n != 3 {
			t.Errorf("%d circles, want 3 (%v)", n, err)
		}
		b.click("#overlap tbody:first-of-type tr:nth-child(4) a")
		if diff := cmp.Diff(want, listed(b)); diff != "" {
			t.Errorf("members of the part (-want +got):\n%s", diff)
		}
		b.fill("textarea[name=expr]", "atleast(2, active@today-6d..today) - exposed")
		b.click("#expression form button")
		b.fill("#f-from-1", "2026-02-30")
		b.click("#builder .controls button:not([name])")
		b.check()
		if n, err := b.Locator("#f-from-1[aria-invalid=true]").Count(); err != nil || n != 1 {
			t.Errorf("the wrong date is not marked: %s (%v)", b.text("#builder"), err)
		}
	})
}

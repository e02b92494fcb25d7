package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/store/storetest"
)

// TestAnalystSavesACohort saves a group, builds another on it, changes the first,
// is kept from deleting it, and deletes both.
func TestAnalystSavesACohort(t *testing.T) {
	a := newActivity()
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			saveACohort(open(t, serve(t, storetest.Redis(t), a.rows.String()), l, "/cohorts?"+asOf), a)
		})
	}
}

func saveACohort(b *tab, a *activity) {
	t := b.t
	want := a.activatedNotExposed()
	b.visit("/cohorts?" + asOf)
	b.click(`.examples li:first-child a`)
	b.fill("#save input[name=name]", "Never Saw It")
	b.click("#save button")
	b.check()
	if n, err := b.Locator("#save input[name=name][aria-invalid=true]").Count(); err != nil || n != 1 {
		t.Errorf("%d names are marked as wrong, want 1 (%v)", n, err)
	}
	b.fill("#save input[name=name]", "never_saw_it")
	b.fill("#save input[name=title]", "Never saw it")
	b.click("#save button")
	b.check()
	if diff := cmp.Diff(want, listed(b)); diff != "" {
		t.Errorf("members of the saved cohort (-want +got):\n%s", diff)
	}
	b.fill("textarea[name=expr]", "cohort(never_saw_it) & active@today-13d..today")
	b.click("#expression form button")
	b.fill("#save input[name=name]", "lately")
	b.click("#save button")
	if diff := cmp.Diff([]string{"lately lately", "Never saw it never_saw_it"}, b.texts("#saved tbody th")); diff != "" {
		t.Errorf("saved cohorts (-want +got):\n%s", diff)
	}
	if got := b.texts("#saved tbody td:nth-of-type(1)"); got[1] != strconv.Itoa(len(want)) {
		t.Errorf("the list says %q, want %d users", got, len(want))
	}

	b.click(`#saved a[href*="edit=never_saw_it"]`)
	b.check()
	b.fill("textarea[name=expr]", "activated & exposed")
	b.click("#expression form button")
	b.click("#save button")
	b.check()
	if got := listed(b); slices.ContainsFunc(want, func(u string) bool { return slices.Contains(got, u) }) {
		t.Errorf("after the change %q are in it, of whom none was before", got)
	}

	b.click(`#saved a[href*="delete=never_saw_it"]`)
	b.check()
	if n, err := b.Locator("#delete button").Count(); err != nil || n != 0 || !strings.Contains(b.text("#delete"), "lately") {
		t.Errorf("one in use can be deleted: %s (%v)", b.text("#delete"), err)
	}
	for _, name := range []string{"lately", "never_saw_it"} {
		b.click(`#saved a[href*="delete=` + name + `"]`)
		b.check()
		b.click("#delete button")
	}
	b.check()
	if n, err := b.Locator("#saved .empty").Count(); err != nil || n != 1 {
		t.Errorf("the list is not empty: %s (%v)", b.text("#saved"), err)
	}
}

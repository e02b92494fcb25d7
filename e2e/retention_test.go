package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// retentionOf is a page about all users of each of seven days.
func retentionOf(query string) string {
	return "/retention?start=active&cohorts=any&from=" + day(9) + "&to=" + day(3) + "&" + asOf + "&" + query
}

// cells are the numbers of a row of the table, the cohort's size first.
func cells(b *tab, table string, row int) []string {
	b.t.Helper()
	shown := b.texts(fmt.Sprintf("%s tbody tr:nth-child(%d) td", table, row))
	for i, s := range shown {
		if words := strings.Fields(s); len(words) > 0 {
			shown[i] = words[0]
		}
	}
	return shown
}

func TestProductManagerReadsRetention(t *testing.T) {
	inLooks(t, func(b *tab, a *activity) {
		t := b.t
		b.visit(retentionOf("show=count&periods=3"))
		if !b.look.noScript {
			b.drawn()
		}
		for i, ago := range []int{9, 8, 7, 6, 5, 4, 3} {
			want := []string{strconv.Itoa(len(a.within(ago, ago)))}
			for n := range 4 {
				want = append(want, strconv.Itoa(len(a.cameBack(ago, n, n))))
			}
			if diff := cmp.Diff(want, cells(b, "#table", i+1)); diff != "" {
				t.Errorf("size and days 0 to 3 of %s (-want +got):\n%s", day(ago), diff)
			}
		}
		if n := len(b.texts("#table .states li")); n != 5 {
			t.Errorf("the legend names %d kinds of cell, want 5", n)
		}
		b.click("#over-time details.as-table summary")
		b.check()
		// The first cohort there is 30 days before the range, and its day 30 in it.
		if diff := cmp.Diff([]string{strconv.Itoa(len(a.within(39, 39))), strconv.Itoa(len(a.cameBack(39, 1, 1))), strconv.Itoa(len(a.cameBack(39, 7, 7))),
			strconv.Itoa(len(a.cameBack(39, 30, 30)))}, cells(b, "#over-time", 1)); diff != "" {
			t.Errorf("size and days 1, 7 and 30 of %s (-want +got):\n%s", day(39), diff)
		}
		b.click("#table tbody tr:nth-child(1) td:nth-of-type(3) a")
		if diff := cmp.Diff(a.bothDays(9), listed(b)); diff != "" {
			t.Errorf("those who came back (-want +got):\n%s", diff)
		}
	})
}

func TestProductManagerNarrowsRetention(t *testing.T) {
	inLooks(t, func(b *tab, a *activity) {
		t := b.t
		b.visit(retentionOf(""))
		b.fill("input[name=brackets]", "1-2,3")
		b.fill("input[name=filter]", "activated")
		b.click(`label[for="f-show-count"]`)
		b.click("main form button")
		b.check()
		activated := func(users []string) []string {
			return slices.DeleteFunc(users, func(u string) bool { return !a.activated[u] })
		}
		want := []string{
			strconv.Itoa(len(activated(a.within(9, 9)))), strconv.Itoa(len(activated(a.cameBack(9, 1, 2)))), strconv.Itoa(len(activated(a.cameBack(9, 3, 3)))),
		}
		if diff := cmp.Diff(want, cells(b, "#table", 1)); diff != "" {
			t.Errorf("size, days 1 to 2 and day 3 of the activated (-want +got):\n%s", diff)
		}
		b.click(`label[for="f-show-previous"]`)
		b.click("main form button")
		b.check()
		share := func(part, whole []string) string {
			return fmt.Sprintf("%.1f%%", 100*float64(len(part))/float64(len(whole)))
		}
		first, second := activated(a.cameBack(9, 1, 2)), activated(a.cameBack(9, 3, 3))
		if diff := cmp.Diff([]string{share(first, activated(a.within(9, 9))), share(second, first)}, cells(b, "#table", 1)[1:]); diff != "" {
			t.Errorf("shares of the column before (-want +got):\n%s", diff)
		}
		b.click("#table tbody tr:nth-child(1) td:nth-of-type(2) a")
		if diff := cmp.Diff(first, listed(b)); diff != "" {
			t.Errorf("the activated who came back (-want +got):\n%s", diff)
		}
	})
}

func TestRetentionInItsOtherForms(t *testing.T) {
	inLooks(t, func(b *tab, _ *activity) {
		t := b.t
		b.visit("/retention?" + asOf)
		b.visit("/retention?granularity=week&returning=on_or_after&" + asOf)
		b.visit("/retention?granularity=month&returning=every&cohorts=any&return=signed_in&" + asOf)
		for _, wrong := range []string{"from=2026-02-30", "brackets=4-2", "columns=nope", "filter=nope"} {
			b.visit("/retention?" + wrong + "&" + asOf)
			if n, err := b.Locator("[aria-invalid=true]").Count(); err != nil || n != 1 {
				t.Errorf("%s: %d fields are marked as wrong, want 1 (%v)", wrong, n, err)
			}
		}
	})
}

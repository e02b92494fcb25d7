package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/playwright-community/playwright-go"

	"bitboard/internal/store/storetest"
)

// A column of a spreadsheet is pasted as it is: each of its IDs is looked up.
func TestSupportAgentPastesAColumn(t *testing.T) {
	inLooks(t, func(b *tab, _ *activity) {
		b.visit("/users?" + asOf)
		b.fill("#f-id", "\"u-010\",\nu-011\r\nnobody\n")
		b.click("[role=search] button")
		b.come()
		b.check()
		want := []string{"u-010", "u-011", "nobody"}
		if diff := cmp.Diff(want, b.texts("main tbody th")); diff != "" {
			b.t.Errorf("the users that were found (-want +got):\n%s", diff)
		}
		b.click(`main tbody a:text-is("u-010")`)
		if got := b.text("main h2"); got != "u-010" {
			b.t.Errorf("the line of u-010 leads to %q", got)
		}
	})
}

// Without a mouse: Enter searches, Tab reaches the calendar once, and arrow keys move in it.
func TestSupportAgentUsesTheKeyboardOnly(t *testing.T) {
	site := serve(t, storetest.Redis(t), newActivity().rows.String())
	for _, l := range []look{looks[0], looks[3]} {
		b := open(t, site, l, "id=U-010")
		b.visit("/?" + asOf)
		b.pressTo("/", "#f-id")
		must(t, b.Keyboard().Type("U-010"))
		b.pressTo("Enter", "id=U-010")
		b.come()
		b.click(`main a:text-is("u-010")`)
		b.check()
		if got := b.text("main h2"); got != "u-010" {
			t.Errorf("the ID in small letters leads to %q", got)
		}
		if n := b.evaluate(`document.querySelectorAll("td[tabindex='0']").length`); n != 1 {
			t.Errorf("Tab reaches %v days", n)
		}
		must(t, b.Locator("td[tabindex='0']").Focus())
		for _, step := range []struct{ key, day string }{
			{"ArrowLeft", "2026-03-09"}, {"ArrowUp", "2026-03-02"}, {"ArrowUp", "2026-02-23"}, {"ArrowRight", "2026-02-24"},
			{"ArrowDown", "2026-03-03"}, {"Home", "2026-03-02"}, {"End", "2026-03-08"}, {"PageUp", "2026-02-28"}, {"PageDown", "2026-03-01"},
		} {
			b.press(step.key)
			if got := b.evaluate(`document.activeElement.querySelector("time")?.dateTime`); got != step.day {
				t.Errorf("%s leads to %v, want %s", step.key, got, step.day)
			}
		}
	}
}

// A year of a user is printed on one page.
func TestUserYearOnOnePageOfPaper(t *testing.T) {
	site := serve(t, storetest.Redis(t), newActivity().rows.String())
	b := open(t, site, looks[0])
	for _, year := range []string{"2025", "2026"} {
		b.visit("/users?id=u-010&year=" + year + "&" + asOf)
		paper, err := b.PDF(playwright.PagePdfOptions{Format: new("A4")})
		must(t, err)
		if n := strings.Count(string(paper), "/Type /Page\n"); n != 1 {
			t.Errorf("%s takes %d pages", year, n)
		}
	}
}

// The text for a ticket has the days that the log has.
func TestSupportAgentCopiesTheText(t *testing.T) {
	inLooks(t, func(b *tab, a *activity) {
		b.visit("/users?id=u-010&" + asOf)
		b.click("details.as-table summary")
		var days []string
		for ago := 9; ago >= 0; ago-- {
			if a.active[day(ago)]["u-010"] {
				days = append(days, fmt.Sprint(10-ago))
			}
		}
		if len(days) == 0 {
			b.t.Fatal("u-010 did not come this month")
		}
		lines := strings.Split(b.text("#user-text"), "\n")
		if !slices.ContainsFunc(lines, func(line string) bool {
			return strings.HasPrefix(line, "2026-03: ") && strings.Contains(line, strings.Join(days, " "))
		}) {
			b.t.Errorf("no line has the days %v of March:\n%s", days, strings.Join(lines, "\n"))
		}
	})
}

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"

	"bitboard/internal/store/storetest"
)

// hidden waits for an element that is not to be seen.
var hidden = playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateHidden}

// press types keys, one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		must(b.t, b.Keyboard().Press(key))
	}
}

// pressTo presses a key that leads to another address, which holds a part.
func (b *tab) pressTo(key, part string) {
	b.t.Helper()
	b.press(key)
	must(b.t, b.WaitForURL(regexp.MustCompile(regexp.QuoteMeta(part)), playwright.PageWaitForURLOptions{Timeout: new(10_000.0)}))
}

// focused is the ID of the element that has the focus.
func (b *tab) focused() any { return b.evaluate(`document.activeElement.id`) }

// Everything is reached without a mouse, and single keys can be turned off.
func TestReaderUsesTheKeyboardOnly(t *testing.T) {
	a := newActivity()
	site := serve(t, storetest.Redis(t), a.rows.String())
	for _, l := range []look{looks[0], looks[3]} {
		b := open(t, site, l)
		b.visit("/?" + asOf)
		b.pressTo("1", "range=yesterday")
		b.pressTo("p", "from=2026-03-08")
		b.pressTo("n", "from=2026-03-09")
		b.press("Control+p", "Alt+n")
		b.visit("/engagement?range=28d&filter=activated&" + asOf)
		b.pressTo("w", "granularity=week")
		if url := b.URL(); !strings.Contains(url, "filter=activated") || !strings.Contains(url, "range=28d") {
			t.Errorf("weeks lose the rest of the question: %s", url)
		}
		b.press("?")
		must(t, b.Locator("dialog#keys[open]").WaitFor())
		b.check()
		b.press("m", "Escape") // closes the help, and only that
		must(t, b.Locator("dialog#keys").WaitFor(hidden))
		if url := b.URL(); !strings.Contains(url, "granularity=week") {
			t.Errorf("a key works below the open help: %s", url)
		}
		b.pressTo("/", "/users?as_of=2026-03-10#f-id")
		if id := b.focused(); id != "f-id" {
			t.Errorf("the search leads to %v", id)
		}
		must(t, b.Keyboard().Type("p/?1u-000"))
		if got, err := b.Locator("#f-id").InputValue(); err != nil || got != "p/?1u-000" {
			t.Errorf("typing p/?1u-000 into the search gives %q (%v)", got, err)
		}
	}
}

func TestSingleKeysCanBeTurnedOff(t *testing.T) {
	site := serve(t, storetest.Redis(t), newActivity().rows.String())
	b := open(t, site, looks[0])
	b.visit("/?" + asOf)
	must(t, b.Locator(".keys-button").Focus())
	b.press("Enter", "Shift+Tab", "Space", "Escape")
	must(t, b.Locator("dialog#keys").WaitFor(hidden))
	if on := b.evaluate(`document.activeElement.className.includes("keys-button")`); on != true {
		t.Error("the focus does not return to the button")
	}
	b.visit("/?range=7d&" + asOf)
	b.press("1", "p", "/", "?")
	if n, err := b.Locator("dialog[open]").Count(); err != nil || n != 0 || !strings.Contains(b.URL(), "/?range=7d") {
		t.Errorf("keys that are off lead to %s (%v)", b.URL(), err)
	}
	plain := open(t, site, looks[4])
	plain.visit("/?" + asOf)
	must(t, plain.Locator(".keys-button").WaitFor(hidden))
}

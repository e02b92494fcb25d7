package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// browser is the one browser of the test binary.
var browser playwright.Browser

func TestMain(m *testing.M) {
	code, err := withBrowser(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func withBrowser(run func() int) (code int, err error) {
	driver, err := filepath.Abs("driver")
	if err != nil {
		return 0, err
	}
	pw, err := playwright.Run(&playwright.RunOptions{DriverDirectory: driver, SkipInstallBrowsers: true})
	if err != nil {
		return 0, fmt.Errorf("start the browser's driver (make deps installs it): %w", err)
	}
	defer func() { _ = pw.Stop() }()
	browser, err = pw.Chromium.Launch(playwright.BrowserTypeLaunchOptions{
		ExecutablePath: new("/usr/bin/chromium"),
		Args: []string{
			"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync",
		},
	})
	if err != nil {
		return 0, fmt.Errorf("start Chromium: %w", err)
	}
	defer func() { _ = browser.Close() }()
	return run(), nil
}

// look is how a person looks at the product.
type look struct {
	name     string
	width    int
	dark     bool
	language string
	noScript bool
}

var looks = []look{
	{name: "desktop", width: 1280, language: "en"},
	{name: "desktop dark Chinese", width: 1280, dark: true, language: "zh-CN"},
	{name: "phone", width: 360, language: "en"},
	{name: "phone dark Chinese", width: 360, dark: true, language: "zh-CN"},
	{name: "without JavaScript", width: 1280, language: "en", noScript: true},
}

// tab is a page of the browser that notes everything that goes wrong in it.
type tab struct {
	playwright.Page
	t    *testing.T
	site string
	look look
}

// open opens a tab in a context of its own. The test fails on an error in the
// console or of the page, on a violated policy, and on a failed request other
// than to a path in mayFail.
func open(t *testing.T, site string, l look, mayFail ...string) *tab {
	t.Helper()
	scheme := playwright.ColorSchemeLight
	if l.dark {
		scheme = playwright.ColorSchemeDark
	}
	c, err := browser.NewContext(playwright.BrowserNewContextOptions{
		Viewport: &playwright.Size{Width: l.width, Height: 900}, ColorScheme: scheme, Locale: new(l.language),
		JavaScriptEnabled: new(!l.noScript), AcceptDownloads: new(true), ReducedMotion: playwright.ReducedMotionReduce,
	})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.AddInitScript(playwright.Script{Content: new(
		`document.addEventListener("securitypolicyviolation", e => console.error("policy violated:", e.violatedDirective, e.blockedURI, e.sample))`)}))
	p, err := c.NewPage()
	must(t, err)
	p.SetDefaultTimeout(10_000)
	expected := func(url string) bool {
		for _, path := range mayFail {
			if strings.Contains(url, path) {
				return true
			}
		}
		return false
	}
	p.OnConsole(func(m playwright.ConsoleMessage) {
		if m.Type() == "error" && !expected(m.Location().URL) {
			t.Errorf("console of %s: %s", p.URL(), m.Text())
		}
	})
	p.OnPageError(func(err error) { t.Errorf("%s: %v", p.URL(), err) })
	p.OnResponse(func(r playwright.Response) {
		if r.Status() >= 400 && !expected(r.URL()) {
			t.Errorf("%s answers %d", r.URL(), r.Status())
		}
	})
	return &tab{p, t, site, l}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// visit goes to a path and checks what holds for every page.
func (b *tab) visit(path string) {
	b.t.Helper()
	_, err := b.Goto(b.site + path)
	must(b.t, err)
	b.check()
}

// check finds sideways scroll and what axe finds.
func (b *tab) check() {
	b.t.Helper()
	if b.look.noScript {
		return
	}
	if wide, err := b.Evaluate(`document.scrollingElement.scrollWidth > innerWidth`); err != nil || wide != false {
		b.t.Errorf("%s scrolls sideways at %d px (%v)", b.URL(), b.look.width, err)
	}
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	must(b.t, err)
	_, err = b.Evaluate(string(axe))
	must(b.t, err)
	found, err := b.Evaluate(`axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.map(n => n.html).slice(0, 2)).join("\n"))`)
	must(b.t, err)
	if found != "" {
		b.t.Errorf("axe on %s: %v", b.URL(), found)
	}
}

// text is the visible text of the one element that a selector finds.
func (b *tab) text(selector string) string {
	b.t.Helper()
	s, err := b.Locator(selector).InnerText()
	must(b.t, err)
	return strings.TrimSpace(s)
}

// texts are the visible texts of all elements that a selector finds.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	all, err := b.Locator(selector).AllInnerTexts()
	must(b.t, err)
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

func (b *tab) click(selector string) {
	b.t.Helper()
	must(b.t, b.Locator(selector).Click())
}

func (b *tab) fill(selector, value string) {
	b.t.Helper()
	must(b.t, b.Locator(selector).Fill(value))
}

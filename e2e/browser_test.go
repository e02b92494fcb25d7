package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var (
	// browser is the one browser of the test binary.
	browser playwright.Browser
	// axe is the source of the accessibility checks.
	axe string
)

func TestMain(m *testing.M) {
	code, err := withBrowser(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func withBrowser(run func() int) (code int, err error) {
	source, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		return 0, fmt.Errorf("read axe (make deps installs it): %w", err)
	}
	axe = string(source)
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
	// mayFail are parts of the URLs that may answer with a failure.
	mayFail []string
}

// open opens a tab in a context of its own. The test fails on an error in the
// console or of the page, on a violated policy, and on a failed request other
// than to a URL that holds one of mayFail.
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
	b := &tab{p, t, site, l, mayFail}
	b.listen()
	return b
}

func (b *tab) listen() {
	b.OnConsole(func(m playwright.ConsoleMessage) {
		expected := strings.HasPrefix(m.Text(), "Failed to load resource") && b.expects(m.Location().URL)
		if m.Type() == "error" && !expected {
			b.t.Errorf("console of %s: %s", b.URL(), m.Text())
		}
	})
	b.OnPageError(func(err error) { b.t.Errorf("%s: %v", b.URL(), err) })
	b.OnResponse(func(r playwright.Response) {
		if r.Status() >= 400 && !b.expects(r.URL()) {
			b.t.Errorf("%s answers %d", r.URL(), r.Status())
		}
	})
}

// expects reports whether a URL may answer with a failure.
func (b *tab) expects(url string) bool {
	return slices.ContainsFunc(b.mayFail, func(part string) bool { return strings.Contains(url, part) })
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
	b.come()
	b.check()
}

// come waits for a page that was slow and shows its progress first.
func (b *tab) come() {
	b.t.Helper()
	must(b.t, b.Locator(working).WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateDetached}))
}

// working is what a page that is not there yet shows.
const working = "main .working"

// check finds another language than the chosen one, sideways scroll, and what
// axe finds; axe needs the page's scripts.
func (b *tab) check() {
	b.t.Helper()
	if got := b.evaluate(`document.documentElement.lang`); got != b.look.language {
		b.t.Errorf("%s is in %v, want %s", b.URL(), got, b.look.language)
	}
	if b.evaluate(`document.scrollingElement.scrollWidth > innerWidth`) != false {
		b.t.Errorf("%s scrolls sideways at %d px", b.URL(), b.look.width)
	}
	if b.look.noScript {
		return
	}
	b.evaluate(axe)
	if found := b.evaluate(`axe.run({resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.map(n => n.html).slice(0, 2)).join("\n"))`); found != "" {
		b.t.Errorf("axe on %s: %v", b.URL(), found)
	}
}

// drawn waits for the charts and finds one without a single pixel.
func (b *tab) drawn() {
	b.t.Helper()
	must(b.t, b.Locator("figure.chart canvas").First().WaitFor())
	blank := b.evaluate(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(
		[...document.querySelectorAll("figure.chart")].filter(f => {
			const c = f.querySelector("canvas");
			return !c || !c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(v => v > 0);
		}).map(f => f.dataset.chart).join(" ")))))`)
	if blank != "" {
		b.t.Errorf("charts without a drawing: %v", blank)
	}
}

func (b *tab) evaluate(script string) any {
	b.t.Helper()
	v, err := b.Evaluate(script)
	must(b.t, err)
	return v
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
	b.come()
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

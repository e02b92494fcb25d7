package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/playwright-community/playwright-go"

	"bitboard/internal/store/storetest"
)

// On paper there is what can be read and nothing to click, dark on light.
func TestPagesOnPaper(t *testing.T) {
	site := serve(t, storetest.Redis(t), newActivity().rows.String())
	b := open(t, site, looks[1])
	for _, path := range []string{"/?compare=previous&range=90d&" + asOf, "/retention?" + asOf, "/engagement?" + asOf, "/cohorts?expr=activated&" + asOf, "/users?id=u-000&" + asOf} {
		b.visit(path)
		if n, err := b.Locator("figure.chart").Count(); err == nil && n > 0 {
			b.drawn()
		}
		// The colours of the lines are looked at while the page is printed.
		b.evaluate(`addEventListener("beforeprint", () => {
			window.dark = [...document.querySelectorAll("figure .canvas canvas")].filter(canvas => {
				const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
				for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255 && data.slice(i, i + 3).join() === "130,189,242") return true;
			}).length;
		})`)
		_, err := b.PDF()
		must(t, err)
		must(t, b.EmulateMedia(playwright.PageEmulateMediaOptions{Media: playwright.MediaPrint}))
		b.evaluate(`document.querySelectorAll("details.as-table").forEach(d => d.open = true)`)
		got := b.evaluate(`({
			shown: [...document.querySelectorAll("nav:not(.range), .range a, form, input, button:not(.legend button), main .download, summary")].filter(e => e.offsetParent).map(e => e.outerHTML.slice(0, 80)).join("\n"),
			cut: [...document.querySelectorAll(".scroll")].filter(e => e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflowY !== "visible").length,
			tables: [...document.querySelectorAll("table")].every(e => e.offsetHeight > 0),
			ink: getComputedStyle(document.body).color,
			dark,
		})`)
		want := map[string]any{"shown": "", "cut": 0, "tables": true, "ink": "rgb(22, 32, 44)", "dark": 0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s on paper (-want +got):\n%s", path, diff)
		}
		must(t, b.EmulateMedia(playwright.PageEmulateMediaOptions{Media: playwright.MediaScreen}))
	}
}

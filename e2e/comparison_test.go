package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/playwright-community/playwright-go"

	"bitboard/internal/store/storetest"
)

// Active users are compared weekday by weekday; the choice stays while the days
// change, and the chart, the table, the people and the file say the same.
func TestProductManagerComparesPeriods(t *testing.T) {
	a := newActivity()
	site := serve(t, storetest.Redis(t), a.rows.String())
	for _, l := range []look{looks[0], looks[3], looks[4]} {
		t.Run(l.name, func(t *testing.T) {
			b := open(t, site, l)
			b.visit("/?range=28d&" + asOf)
			b.click(`.range-compare a[href*="compare=previous"]`)
			b.click(`.range-presets a[href*="range=7d"]`)
			if url := b.URL(); !strings.Contains(url, "compare=previous") || !strings.Contains(url, "range=7d") {
				t.Fatalf("the choices do not stay: %s", url)
			}
			b.click("form.controls button") // the form keeps them too
			if url := b.URL(); !strings.Contains(url, "compare=previous") || !strings.Contains(url, "range=7d") {
				t.Fatalf("the form loses the choices: %s", url)
			}
			if !l.noScript {
				b.drawn()
				b.comparedTooltip(a)
			}
			b.click("#active details.as-table summary")
			now, before := len(a.within(1, 1)), len(a.within(8, 8))
			row := b.texts("#active tbody tr:nth-last-child(2) td")
			if diff := cmp.Diff([]string{strconv.Itoa(now), strconv.Itoa(before), signed(now, before)}, row[1:4]); diff != "" {
				t.Errorf("yesterday's row (-want +got):\n%s", diff)
			}
			b.check()
			rows := b.download(`#active a.download`)
			last := rows[len(rows)-2]
			if diff := cmp.Diff([]string{day(1), strconv.Itoa(now), day(8), strconv.Itoa(before)}, []string{last[0], last[1], last[6], last[7]}); diff != "" {
				t.Errorf("yesterday in the file (-want +got):\n%s", diff)
			}
			b.click("#active tbody tr:nth-last-child(2) .earlier a >> nth=0")
			if diff := cmp.Diff(a.within(8, 8), listed(b)); diff != "" {
				t.Errorf("the users a week before (-want +got):\n%s", diff)
			}
			b.visit("/engagement?compare=year&range=7d&" + asOf)
		})
	}
}

// comparedTooltip looks at what the chart says of its last day but one.
func (b *tab) comparedTooltip(a *activity) {
	b.t.Helper()
	canvas := b.Locator("#active canvas")
	must(b.t, canvas.ScrollIntoViewIfNeeded())
	box, err := canvas.BoundingBox()
	must(b.t, err)
	must(b.t, b.Mouse().Move(box.X+box.Width*0.8, box.Y+box.Height/2))
	must(b.t, b.Locator(".tip-against").WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateVisible}))
	now, before := len(a.within(1, 1)), len(a.within(8, 8))
	got := strings.Join(b.texts(".tip-row:nth-of-type(3) :is(b, .tip-before, .tip-change)"), " ")
	if want := fmt.Sprintf("%d %d %s", now, before, signed(now, before)); got != want {
		b.t.Errorf("the tooltip says %q of yesterday, want %q", got, want)
	}
}

// download takes a file of rows away.
func (b *tab) download(selector string) [][]string {
	b.t.Helper()
	download, err := b.ExpectDownload(func() error { return b.Locator(selector).Click() })
	must(b.t, err)
	path, err := download.Path()
	must(b.t, err)
	text, err := os.ReadFile(path)
	must(b.t, err)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	must(b.t, err)
	return rows
}

// signed is a change in percent as pages write it.
func signed(now, before int) string {
	change := math.Round(1000*float64(now-before)/float64(before)) / 10
	switch {
	case change > 0:
		return fmt.Sprintf("+%.1f%%", change)
	case change < 0:
		return fmt.Sprintf("−%.1f%%", -change)
	default:
		return "±0.0%"
	}
}

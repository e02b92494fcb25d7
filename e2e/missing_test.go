package e2e

import (
	"strings"
	"testing"

	"bitboard/internal/store/storetest"
)

// isDrawn reports whether a panel's chart has a pixel of a colour of the theme.
const isDrawn = `([panel, colour]) => {
	const probe = document.createElement("i");
	document.body.append(probe);
	probe.style.setProperty("color", "var(--" + colour + ")");
	const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
	probe.remove();
	const c = document.querySelector(panel + " canvas");
	const pixels = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	for (let i = 0; i < pixels.length; i += 4)
		if (pixels[i] === r && pixels[i + 1] === g && pixels[i + 2] === b && pixels[i + 3] === 255) return true;
	return false;
}`

func TestAMissingDayIsMarked(t *testing.T) {
	a := newActivity()
	site := serve(t, storetest.Redis(t), a.without(day(6)))
	for _, l := range looks {
		b := open(t, site, l)
		for _, panel := range []struct{ path, id string }{{"/?", "#active"}, {"/?", "#return"}, {"/engagement?", "#ratio"}, {"/retention?cohorts=any&", "#over-time"}} {
			b.visit(panel.path + asOf)
			if n, err := b.Locator(panel.id + " .marks .doubt").Count(); err != nil || n == 0 {
				t.Errorf("%s: %s%s explains no mark (%v)", l.name, panel.path, panel.id, err)
			}
			if l.noScript {
				continue
			}
			b.drawn()
			if key := strings.Join(b.texts(panel.id+" .legend"), " "); l.language == "en" && !strings.Contains(key, "suspect") {
				t.Errorf("%s: the legend of %s is %q", l.name, panel.id, key)
			}
			if found, err := b.Evaluate(isDrawn, []string{panel.id, "warn"}); err != nil || found != true {
				t.Errorf("%s: no mark is drawn on %s%s (%v)", l.name, panel.path, panel.id, err)
			}
		}
	}
}

package static

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	tokenPattern = regexp.MustCompile(`--([a-z0-9-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));`)
	hexPattern   = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b`)
	usedPattern  = regexp.MustCompile(`var\(--([a-z0-9-]+)\)`)
	namePattern  = regexp.MustCompile(`--([a-z0-9-]+):`)
)

// colours returns the colour tokens of the light and the dark theme.
func colours(t *testing.T) (themes map[string]map[string]string) {
	t.Helper()
	themes = map[string]map[string]string{"light": {}, "dark": {}}
	for _, m := range tokenPattern.FindAllStringSubmatch(string(byName["app.css"].plain), -1) {
		themes["light"][m[1]], themes["dark"][m[1]] = m[2]+m[4], m[3]+m[4]
	}
	if len(themes["light"]) < 20 {
		t.Fatalf("found only %d colour tokens", len(themes["light"]))
	}
	return themes
}

// luminance is WCAG's relative luminance of #rrggbb.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", hex, err)
	}
	channel := func(shift int) float64 {
		v := float64(n>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// pair is a foreground on a background with the contrast it needs.
type pair struct {
	front, back string
	least       float64
}

func pairs() []pair {
	const text, graphic = 4.5, 3
	all := []pair{
		{"on-accent", "accent", text}, {"accent", "accent-soft", text}, {"bad", "bad-soft", text},
		{"warn", "warn-soft", text}, {"ink", "bad-soft", text}, {"ink", "warn-soft", text}, {"ink", "accent-soft", text},
		{"control", "panel", graphic}, {"control", "paper", graphic}, {"panel", "bad", text},
	}
	for _, back := range []string{"paper", "panel", "sunken"} {
		for _, front := range []string{"ink", "ink-soft", "accent", "good", "bad"} {
			all = append(all, pair{front, back, text})
		}
	}
	for i := 1; i <= 4; i++ {
		all = append(all, pair{fmt.Sprintf("series-%d", i), "panel", graphic})
	}
	for step := range 11 {
		front := "on-low"
		switch {
		case step >= 7:
			front = "on-high"
		case step >= 5:
			front = "on-middle"
		}
		all = append(all, pair{front, fmt.Sprintf("scale-%d", step), text})
	}
	return all
}

func TestContrastInBothThemes(t *testing.T) {
	for theme, colour := range colours(t) {
		for _, p := range pairs() {
			if got := contrast(t, colour[p.front], colour[p.back]); got < p.least {
				t.Errorf("%s theme: %s on %s is %.2f, want at least %.1f", theme, p.front, p.back, got, p.least)
			}
		}
	}
}

func TestScaleOnlyEverGetsStronger(t *testing.T) {
	for theme, colour := range colours(t) {
		first := luminance(t, colour["scale-0"])
		last := luminance(t, colour["scale-10"])
		for step := 1; step <= 10; step++ {
			before := luminance(t, colour[fmt.Sprintf("scale-%d", step-1)])
			if now := luminance(t, colour[fmt.Sprintf("scale-%d", step)]); (now > before) != (last > first) {
				t.Errorf("%s theme: step %d goes back", theme, step)
			}
		}
	}
}

func TestColoursStandInTheTokensOnly(t *testing.T) {
	for _, name := range styleSheets[1:] {
		content := string(readAll([]string{name})[0])
		if found := hexPattern.FindString(content); found != "" {
			t.Errorf("%s sets the colour %s by hand", name, found)
		}
	}
}

func TestTokensAreDefinedAndUsed(t *testing.T) {
	all := string(byName["app.css"].plain) + string(byName["charts.js"].plain)
	defined := map[string]bool{}
	for _, m := range namePattern.FindAllStringSubmatch(all, -1) {
		defined[m[1]] = true
	}
	for _, m := range usedPattern.FindAllStringSubmatch(all, -1) {
		if !defined[m[1]] {
			t.Errorf("token --%s is used but not defined", m[1])
		}
	}
	for name := range defined {
		used := strings.Contains(all, "var(--"+name+")") || strings.HasPrefix(name, "series-")
		if !used {
			t.Errorf("token --%s is never used", name)
		}
	}
}

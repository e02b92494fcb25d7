//go:build shots

package e2e

import (
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"

	"bitboard/internal/store/storetest"
)

// plausibleLog is 120 days of a product that grows, rests at weekends, and
// loses some of its users for good.
func plausibleLog() string {
	var b strings.Builder
	b.WriteString("user_id,event,day\n")
	chance := func(parts ...any) float64 {
		h := fnv.New64a()
		fmt.Fprint(h, parts...)
		return float64(h.Sum64()%10_000) / 10_000
	}
	for u := range 4000 {
		born := 120 - u*120/4000
		stays := 2 + int(120*chance("stays", u)*chance("stays more", u))
		for ago := born; ago >= 0; ago-- {
			rate := 0.55
			if w := today.AddDate(0, 0, -ago).Weekday(); w == 0 || w == 6 {
				rate = 0.33
			}
			if ago == born || born-ago < stays && chance("day", u, ago) < rate {
				fmt.Fprintf(&b, "u-%05d,login,%s\n", 10_000+u, day(ago))
			}
		}
		if chance("activate", u) < 0.5 {
			fmt.Fprintf(&b, "u-%05d,activate,%s\n", 10_000+u, day(max(0, born-2)))
		}
		if chance("expose", u) < 0.4 {
			fmt.Fprintf(&b, "u-%05d,expose,%s\n", 10_000+u, day(max(0, born-9)))
		}
	}
	return b.String()
}

var shotPages = []struct{ name, path string }{
	{"overview", "/?" + asOf},
	{"retention", "/retention?granularity=week&cohorts=first&" + asOf},
	{"engagement", "/engagement?" + asOf},
	{"online", "/online"},
	{"cohorts", "/cohorts?expr=activated+-+exposed&" + asOf},
	{"groups compared", "/cohorts/compare?a=activated&b=exposed&" + asOf},
	{"counted by hand", "/how?expr=activated+-+exposed&" + asOf},
	{"jobs", "/jobs"},
	{"overview compared", "/?compare=previous&" + asOf},
	{"several users", "/users?id=u-10773,u-10774,nobody&" + asOf},
	{"wrong expression", "/cohorts?expr=activated+%26+nope&" + asOf},
	{"user", "/users?id=u-10773&" + asOf},
	{"unknown user", "/users?id=nobody&" + asOf},
}

// TestShots writes a picture of every page in both themes and two widths to
// shots/, all of them on one sheet, and the README's picture.
func TestShots(t *testing.T) {
	site := serve(t, storetest.Redis(t), plausibleLog())
	must(t, os.MkdirAll("shots", 0o755))
	var files []string
	for _, l := range looks[:4] {
		for _, p := range shotPages {
			b := open(t, site, l, "id=nobody")
			b.visit(p.path)
			file := filepath.Join("shots", strings.ReplaceAll(p.name+" "+l.name, " ", "-")+".png")
			b.shoot(file, true)
			files = append(files, file)
		}
	}
	must(t, sheet(filepath.Join("shots", "sheet.png"), files, len(shotPages)))
	b := open(t, site, looks[0])
	b.visit("/?" + asOf)
	b.shoot("../docs/overview.png", false)
}

func (b *tab) shoot(file string, whole bool) {
	b.t.Helper()
	charts, err := b.Locator("figure.chart").Count()
	must(b.t, err)
	if charts > 0 {
		b.drawn()
	}
	_, err = b.Screenshot(playwright.PageScreenshotOptions{Path: new(file), FullPage: new(whole)})
	must(b.t, err)
}

// A sheet shows the upper part of each picture at a third of its size.
const scale, cellWidth, cellHeight = 3, 1280 / 3, 500

// sheet puts pictures on one, a row for each so many.
func sheet(to string, files []string, perRow int) error {
	all := image.NewRGBA(image.Rect(0, 0, perRow*cellWidth, (len(files)+perRow-1)/perRow*cellHeight))
	for i, file := range files {
		small, err := smaller(file)
		if err != nil {
			return err
		}
		at := image.Pt(i%perRow*cellWidth, i/perRow*cellHeight)
		draw.Draw(all, small.Bounds().Add(at), small, image.Point{}, draw.Src)
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	return png.Encode(f, all)
}

func smaller(file string) (image.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		return nil, err
	}
	b := picture.Bounds()
	small := image.NewRGBA(image.Rect(0, 0, min(cellWidth, b.Dx()/scale), min(cellHeight, b.Dy()/scale)))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			small.Set(x, y, mean(picture, x*scale, y*scale))
		}
	}
	return small, nil
}

// mean is the mean colour of a square; one pixel of it alone makes text illegible.
func mean(picture image.Image, left, top int) color.Color {
	var r, g, b uint32
	for i := range scale * scale {
		red, green, blue, _ := picture.At(left+i%scale, top+i/scale).RGBA()
		r, g, b = r+red, g+green, b+blue
	}
	const n = scale * scale
	return color.RGBA64{uint16(r / n), uint16(g / n), uint16(b / n), math.MaxUint16}
}

package e2e

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/store/storetest"
)

const asOf = "as_of=2026-03-10"

// inLooks runs a journey in every look, each over the same site.
func inLooks(t *testing.T, journey func(b *tab, a *activity), mayFail ...string) {
	t.Helper()
	a := newActivity()
	site := serve(t, storetest.Redis(t), a.rows.String())
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			journey(open(t, site, l, mayFail...), a)
		})
	}
}

// number is the first number in a text.
func number(s string) int {
	digits := strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return -1
	}
	n, _ := strconv.Atoi(digits[0])
	return n
}

// listed returns the users on the cohorts page, which shows up to 50.
func listed(b *tab) []string {
	users := b.texts(`main a[href^="/users?"]`)
	slices.Sort(users)
	return users
}

func TestProductManagerReadsTheOverview(t *testing.T) {
	inLooks(t, func(b *tab, a *activity) {
		t := b.t
		b.visit("/?from=" + day(13) + "&" + asOf)
		var got []string
		for _, figure := range b.texts(".fact .figure") {
			got = append(got, strings.Fields(figure)[0])
		}
		came, of := len(a.bothDays(2)), len(a.within(2, 2))
		want := []string{
			strconv.Itoa(len(a.within(1, 1))), strconv.Itoa(len(a.within(7, 1))), strconv.Itoa(len(a.within(28, 1))),
			fmt.Sprintf("%.1f%%", 100*float64(len(a.within(1, 1)))/float64(len(a.within(28, 1)))), fmt.Sprintf("%.1f%%", 100*float64(came)/float64(of)),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("head numbers (-want +got):\n%s", diff)
		}
		if !b.look.noScript {
			b.drawn()
		}
		b.click("#active details.as-table summary")
		if diff := cmp.Diff(want[:3], b.texts("#active tbody tr:nth-last-child(2) td")); diff != "" {
			t.Errorf("yesterday's row of the table (-want +got):\n%s", diff)
		}
		b.check()
		b.click(".fact:first-child .figure a")
		if diff := cmp.Diff(a.within(1, 1), listed(b)); diff != "" {
			t.Errorf("yesterday's users (-want +got):\n%s", diff)
		}
		b.check()
	})
}

func TestProductManagerReadsEngagement(t *testing.T) {
	inLooks(t, func(b *tab, a *activity) {
		t := b.t
		b.visit("/engagement?from=" + day(13) + "&to=" + day(1) + "&" + asOf)
		if !b.look.noScript {
			b.drawn()
		}
		for _, id := range []string{"lifecycle", "stickiness", "ratio", "recency"} {
			b.click("#" + id + " details.as-table summary")
		}
		b.check()
		yesterday := b.texts("#lifecycle tbody tr:last-child td")
		came := number(yesterday[0]) + number(yesterday[1]) + number(yesterday[2])
		if want := len(a.within(1, 1)); came != want {
			t.Errorf("%d new, returning and resurrected users yesterday, want %d", came, want)
		}
		if got, want := number(b.texts("#stickiness tbody tr:first-child td")[1]), len(a.within(13, 1)); got != want {
			t.Errorf("%d users came at least once, want %d", got, want)
		}
		if got, want := number(b.texts("#ratio tbody tr:last-child td")[1]), len(a.within(28, 1)); got != want {
			t.Errorf("%d monthly users yesterday, want %d", got, want)
		}
		if got, want := number(b.texts("#recency tbody tr:first-child td")[0]), len(a.within(7, 0)); got != want {
			t.Errorf("%d users came in the last week, want %d", got, want)
		}
		b.click("#lifecycle tbody tr:last-child td:nth-of-type(2) a")
		if diff := cmp.Diff(a.bothDays(2), listed(b)); diff != "" {
			t.Errorf("yesterday's returning users (-want +got):\n%s", diff)
		}
		b.visit("/engagement?granularity=week&" + asOf)
		b.visit("/engagement?from=2026-02-30&" + asOf)
		if n, err := b.Locator("[aria-invalid=true]").Count(); err != nil || n != 1 {
			t.Errorf("%d fields are marked as wrong, want 1 (%v)", n, err)
		}
	})
}

func TestAnalystTakesACohortAway(t *testing.T) {
	inLooks(t, func(b *tab, a *activity) {
		t := b.t
		want := a.activatedNotExposed()
		b.visit("/cohorts?" + asOf)
		b.click(`.examples li:first-child a`)
		b.check()
		if diff := cmp.Diff(want, listed(b)); diff != "" {
			t.Errorf("members shown (-want +got):\n%s", diff)
		}
		if got := number(b.text("#result .figure")); got != len(want) {
			t.Errorf("%d users are counted, want %d", got, len(want))
		}
		download, err := b.ExpectDownload(func() error { return b.Locator(`a[href^="/api/v1/cohorts/members.csv"]`).Click() })
		must(t, err)
		path, err := download.Path()
		must(t, err)
		text, err := os.ReadFile(path)
		must(t, err)
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		must(t, err)
		var got []string
		for _, r := range rows[1:] {
			got = append(got, r[0])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("members in the file (-want +got):\n%s", diff)
		}
		b.fill("textarea[name=expr]", "activated & nope")
		b.click("#expression form button")
		b.check()
		if got := b.text("mark"); got != "n" {
			t.Errorf("the mark is on %q, want the n of nope", got)
		}
		if got, err := b.Locator("textarea[name=expr]").InputValue(); err != nil || got != "activated & nope" {
			t.Errorf("the input became %q (%v)", got, err)
		}
	})
}

func TestSupportAgentLooksAUserUp(t *testing.T) {
	const user = "u-010" // one who came every day but some, and was activated
	inLooks(t, func(b *tab, a *activity) {
		t := b.t
		marked := func(what string, want int) {
			t.Helper()
			if got, err := b.Locator("td.day.on").Count(); err != nil || got != want {
				t.Errorf("%s: %d days are marked, want %d (%v)", what, got, want, err)
			}
		}
		b.visit("/users?" + asOf)
		b.fill("textarea[name=id]", ` "`+user+`" `)
		b.click("main form button")
		b.check()
		if got := b.text("main h2"); got != user {
			t.Errorf("the page is about %q, want %s", got, user)
		}
		runs := a.runs(user)
		want := []int{runs[len(runs)-1], slices.Max(runs), a.daysIn("20", user)}
		var got []int
		for _, shown := range b.texts("dl.numbers dd.figure")[:3] {
			got = append(got, number(shown))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("current streak, longest streak and days in total (-want +got):\n%s", diff)
		}
		marked("this year", a.daysIn("2026", user))
		b.click(`.year-head a:text-is("2025")`)
		marked("the year before", a.daysIn("2025", user))
		b.click(`.year-head a:text-is("2026")`)
		b.click(`.tabs a[href*="metric=activated_on"]`)
		marked("activations", 1)
		b.check()
		b.visit("/users?id=nobody&" + asOf)
		if n, err := b.Locator(".advice li").Count(); err != nil || n == 0 || b.text(".searched") != "nobody" {
			t.Errorf("the answer to an unknown ID does not help: %s", b.text("main"))
		}
	}, "id=nobody")
}

func TestKeyboardAlone(t *testing.T) {
	a := newActivity()
	b := open(t, serve(t, storetest.Redis(t), a.rows.String()), looks[0])
	b.visit("/cohorts?" + asOf)
	reach := func(selector string) {
		t.Helper()
		for range 60 {
			must(t, b.Keyboard().Press("Tab"))
			if at, err := b.Evaluate(`s => document.activeElement.matches(s)`, selector); err == nil && at == true {
				return
			}
		}
		t.Fatalf("Tab never reaches %s", selector)
	}
	reach("textarea[name=expr]")
	must(t, b.Keyboard().Type("activated - exposed"))
	reach("main form button")
	must(t, b.Keyboard().Press("Enter"))
	must(t, b.WaitForURL("**/cohorts?*expr=*"))
	if diff := cmp.Diff(a.activatedNotExposed(), listed(b)); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestFirstStart(t *testing.T) {
	site := serve(t, storetest.Redis(t), "")
	for _, l := range looks {
		b := open(t, site, l)
		b.visit("/")
		if main := b.text("main"); !strings.Contains(main, "dashboard import") {
			t.Errorf("%s: an empty overview does not say how to import: %s", l.name, main)
		}
	}
}

func TestOldLog(t *testing.T) {
	b := open(t, serve(t, storetest.Redis(t), "user_id,event,day\nu-1,login,2020-05-01\n"), looks[0])
	b.visit("/")
	b.click(".notice a")
	if got := b.texts(".fact .figure")[0]; got != "1" {
		t.Errorf("as of the day after the newest data %s were active, want 1", got)
	}
	b.check()
	b.click(`nav a[href^="/retention"]`)
	if url := b.URL(); !strings.Contains(url, "as_of=2020-05-02") {
		t.Errorf("the chosen day is lost at %s", url)
	}
}

func TestPreferences(t *testing.T) {
	site := serve(t, storetest.Redis(t), newActivity().rows.String())
	for _, l := range []look{looks[0], looks[len(looks)-1]} {
		b := open(t, site, l)
		b.visit("/retention?" + asOf)
		before := b.URL()
		b.click("button[name=theme][value=dark]")
		b.click("button[name=lang][value=zh-CN]")
		b.look.language = "zh-CN"
		b.check()
		if got := b.evaluate(`getComputedStyle(document.documentElement).colorScheme`); got != "dark" {
			t.Errorf("%s: the colour scheme is %v, want dark", l.name, got)
		}
		if b.URL() != before {
			t.Errorf("%s: choosing leads from %s to %s", l.name, before, b.URL())
		}
	}
}

// movingStore is a Redis server that can be stopped and started again on the
// same socket and folder. start returns what stops it.
func movingStore(t *testing.T) (url string, start func() (stop func())) {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "store.sock")
	return "unix://" + socket, func() func() {
		now, stop := storetest.Start(t, "--appendonly", "yes", "--dir", dir)
		_ = os.Remove(socket)
		must(t, os.Symlink(strings.TrimPrefix(now, "unix://"), socket))
		return stop
	}
}

func TestStoreAwayAndBack(t *testing.T) {
	redis, start := movingStore(t)
	stop := start()
	a := newActivity()
	b := open(t, serve(t, redis, a.rows.String()), looks[0], asOf)
	b.visit("/?" + asOf)
	stop()
	for _, path := range []string{"/?", "/retention?", "/cohorts?expr=activated&", "/users?id=u-010&"} {
		b.visit(path + asOf)
		if main := b.text("main"); !strings.Contains(main, "does not answer") {
			t.Errorf("%s does not say that the store is away: %s", path, main)
		}
	}
	start()
	want := strconv.Itoa(len(a.within(1, 1)))
	for attempt := 0; ; attempt++ {
		b.visit("/?" + asOf)
		if got := b.texts(".fact .figure"); len(got) > 0 && got[0] == want {
			return
		}
		if attempt == 20 {
			t.Fatalf("the page does not recover: %s", b.text("main"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

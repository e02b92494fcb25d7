package web_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	dom "golang.org/x/net/html"
)

// pagesInLanguage are addresses of all pages, with answers of every kind.
var pagesInLanguage = []string{
	"/", "/?compare=previous", "/?range=8d", "/?compare=x", "/?from=2026-02-30", "/?from=2026-03-09&to=2026-03-01", "/?from=0001-01-01", "/?metric=nope", "/?metric=activated",
	"/?as_of=2026-09-01", "/?as_of=x", "/?filter=nope", "/?complete=2",
	"/retention", "/retention?granularity=week&show=count", "/retention?granularity=x", "/retention?periods=999999", "/retention?brackets=3-1", "/retention?columns=1-3",
	"/retention?cohorts=x", "/retention?returning=x", "/retention?start=nope", "/retention?show=x", "/retention?periods=366&from=2000-01-01", "/retention?brackets=1-2&returning=every",
	"/engagement", "/engagement?compare=year&granularity=month", "/engagement?window=0", "/engagement?granularity=x",
	"/online", "/online?within=x",
	"/cohorts", "/cohorts?expr=activated", "/cohorts?expr=activated+%26+nope", "/cohorts?edit=nobody", "/cohorts?delete=nobody",
	"/cohorts/compare", "/cohorts/compare?a=nope&b=exposed", "/cohorts/compare?a=activated&b=exposed&c=active@today-7d..today",
	"/users", "/users?id=b", "/users?id=nobody", "/users?id=b&year=2999", "/users?id=b&year=x", "/users?metric=activated", "/users?metric=nope&id=b", "/users?id=%ff",
	"/jobs", "/nope",
}

// notWords is what pages hold in no language: names, expressions and what was given.
var notWords = regexp.MustCompile(`"[^"]*"|Bitboard( test)?|\{[a-z_]+\}|Redis|English|Active users|Sign-ins|Activated|Saw the new feature|Online\b|JavaScript|NDJSON|CSV|UTF-8|gzip|DAU|MAU|UTC|[a-z0-9_]+(, [a-z0-9_]+)+|\bID\b|YYYY-MM-DD|online|activated|exposed|signed_in|active|today(-\d+d)?|yesterday|nobody|nope|cohort\(name\)`)

// code are elements whose text is code, or kept as it was given.
var code = []string{"code", "script", "textarea", "noscript", "kbd", "datalist", "style"}

var latinWord = regexp.MustCompile(`[A-Za-z]{3,}`)

func TestPagesSpeakTheReadersLanguageOnly(t *testing.T) {
	s := newSite(t, week...)
	for _, path := range pagesInLanguage {
		a := s.get(path, "Accept", html, "Accept-Language", "zh-CN")
		if a.status == http.StatusSeeOther {
			continue
		}
		doc, err := dom.Parse(strings.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			for _, said := range saidBy(n) {
				if latinWord.MatchString(notWords.ReplaceAllString(said, "")) {
					t.Errorf("%s says %q", path, strings.TrimSpace(said))
				}
			}
		}
	}
}

func TestEveryPageOfTheNavigationIsReadInOtherLanguages(t *testing.T) {
	menu := regexp.MustCompile(`(?s)<nav class="main-nav".*?</nav>`).FindString(newSite(t).get("/", "Accept", html).body)
	links := regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(menu, -1)
	if len(links) < 6 {
		t.Fatalf("found only %d pages", len(links))
	}
	for _, link := range links {
		if !slices.Contains(pagesInLanguage, link[1]) {
			t.Errorf("%s is not among the pages that are read", link[1])
		}
	}
}

// saidBy is what readers see or hear of a node itself.
func saidBy(n *dom.Node) []string {
	if n.Type == dom.TextNode && !slices.Contains(code, n.Parent.Data) {
		return []string{n.Data}
	}
	var said []string
	for _, a := range n.Attr {
		if slices.Contains([]string{"aria-label", "alt", "title", "placeholder"}, a.Key) || strings.HasPrefix(a.Key, "data-") && strings.Contains(a.Val, " ") {
			said = append(said, a.Val)
		}
	}
	return said
}

package views

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestEveryPageHasItsFrame(t *testing.T) {
	eachState(t, func(t *testing.T, doc *html.Node, p Page) {
		t.Helper()
		root := all(doc, "html")[0]
		if attr(root, "lang") != p.Text.Code() || attr(root, "data-theme") != "dark" {
			t.Errorf("html has %v", root.Attr)
		}
		for _, name := range []string{"h1", "main", "head", "footer"} {
			if n := len(all(doc, name)); n != 1 {
				t.Errorf("%d %s, want 1", n, name)
			}
		}
		h1 := content(all(doc, "h1")[0])
		if title := content(all(all(doc, "head")[0], "title")[0]); !strings.HasPrefix(title, h1) {
			t.Errorf("title %q does not begin with the heading %q", title, h1)
		}
		if first := all(doc, "a")[0]; attr(first, "href") != "#main" {
			t.Error("the first link does not skip to the content")
		}
	})
}

func TestNoInlineScriptOrStyle(t *testing.T) {
	eachState(t, func(t *testing.T, doc *html.Node, _ Page) {
		t.Helper()
		for n := range doc.Descendants() {
			for _, a := range n.Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s has the attribute %s", n.Data, a.Key)
				}
				loads := a.Key == "src" || a.Key == "href" || a.Key == "action"
				if loads && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("%s leads to %q", n.Data, a.Val)
				}
			}
		}
		if len(all(doc, "style")) > 0 {
			t.Error("there is an inline style sheet")
		}
		for _, s := range all(doc, "script") {
			if !has(s, "src") && attr(s, "type") != "application/json" {
				t.Error("there is an inline script")
			}
		}
	})
}

func TestEveryControlIsLabelled(t *testing.T) {
	eachState(t, func(t *testing.T, doc *html.Node, _ Page) {
		t.Helper()
		labelled := map[string]bool{}
		for _, l := range all(doc, "label") {
			labelled[attr(l, "for")] = content(l) != ""
		}
		for _, c := range all(doc, "input", "select", "textarea") {
			if attr(c, "type") != "hidden" && !labelled[attr(c, "id")] {
				t.Errorf("the control %q has no label", attr(c, "name"))
			}
		}
		for _, named := range all(doc, "nav", "form", "figure", "summary", "button", "a", "legend") {
			if named.Data != "figure" && content(named)+attr(named, "aria-label") == "" {
				t.Errorf("a %s has no name", named.Data)
			}
		}
	})
}

func TestReferencesLeadSomewhereAndIDsAreUnique(t *testing.T) {
	eachState(t, func(t *testing.T, doc *html.Node, _ Page) {
		t.Helper()
		ids := map[string]bool{}
		for n := range doc.Descendants() {
			if id := attr(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("id %q twice", id)
				}
				ids[id] = true
			}
		}
		for n := range doc.Descendants() {
			for _, name := range []string{"for", "aria-describedby", "aria-labelledby", "data-chart"} {
				for id := range strings.FieldsSeq(attr(n, name)) {
					if !ids[id] {
						t.Errorf("%s=%q of %s leads nowhere", name, id, n.Data)
					}
				}
			}
		}
	})
}

func TestTablesHaveCaptionsAndScopes(t *testing.T) {
	eachState(t, func(t *testing.T, doc *html.Node, _ Page) {
		t.Helper()
		for _, table := range all(doc, "table") {
			captions := all(table, "caption")
			if len(captions) != 1 || content(captions[0]) == "" {
				t.Error("a table has no caption")
			}
			for _, th := range all(table, "th") {
				if !has(th, "scope") {
					t.Errorf("the heading %q has no scope", content(th))
				}
			}
			width := 0
			for i, row := range all(table, "tr") {
				cells := 0
				for _, cell := range all(row, "th", "td") {
					if span, err := strconv.Atoi(attr(cell, "colspan")); err == nil {
						cells += span
					} else {
						cells++
					}
				}
				if i == 0 {
					width = cells
				}
				if cells != width {
					t.Errorf("row %d of %q has %d cells, want %d", i, content(captions[0]), cells, width)
				}
			}
		}
	})
}

func TestHeadingsDoNotSkipALevel(t *testing.T) {
	eachState(t, func(t *testing.T, doc *html.Node, _ Page) {
		t.Helper()
		level := 0
		for _, h := range all(doc, "h1", "h2", "h3", "h4") {
			now := int(h.Data[1] - '0')
			if now > level+1 {
				t.Errorf("%s %q follows level %d", h.Data, content(h), level)
			}
			level = now
		}
	})
}

// data is what the fixtures bring in themselves, in no language.
var data = regexp.MustCompile(`Bitboard|Redis|redis-cli|REDISCLI_AUTH|[Ss]hell|echo 0|\bms\b|English|Active users|Sign-ins|Activated|Saw the new feature|Asia/Shanghai|JavaScript|NDJSON|CSV|gzip|\bID\b|u-\d+|=cmd.*</script>|activated, but never|active this week and|saw the new feature|no such date|no such metric|a metric is missing|too (many|long)`)

// untold are elements whose text is code, or kept as it was given.
var untold = []string{"code", "script", "textarea", "noscript"}

var latin = regexp.MustCompile(`[A-Za-z]{3,}`)

func TestNothingIsLeftUntranslated(t *testing.T) {
	eachState(t, func(t *testing.T, doc *html.Node, p Page) {
		t.Helper()
		if p.Text.Code() == "en" {
			return
		}
		for n := range doc.Descendants() {
			shown := ""
			switch {
			case n.Type == html.TextNode && !slices.Contains(untold, n.Parent.Data):
				shown = n.Data
			case n.Type == html.ElementNode:
				shown = attr(n, "aria-label") + attr(n, "alt") + attr(n, "title")
			}
			if rest := data.ReplaceAllString(shown, ""); latin.MatchString(rest) {
				t.Errorf("%q is not in the reader's language", strings.TrimSpace(shown))
			}
		}
	})
}

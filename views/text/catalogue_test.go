package text

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// moduleRoot is where the source lies that uses the catalogues.
const moduleRoot = "../.."

var (
	usePattern         = regexp.MustCompile(`\.(T|Count)\(\s*"([^"]+)"`)
	noticePattern      = regexp.MustCompile(`web\.Notice\{[^}]*?Title: *("[^"]+"), *Message: *("[^"]+")`)
	wrongPattern       = regexp.MustCompile(`"(wrong\.[a-z_.]+)"`)
	placeholderPattern = regexp.MustCompile(`\{[a-z_]+\}`)
)

// source returns the text of every hand-written .go and .templ file.
func source(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(moduleRoot, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "node_modules" || len(name) > 2 && name[0] == '.') {
			return filepath.SkipDir
		}
		written := strings.HasSuffix(name, ".templ") || strings.HasSuffix(name, ".go") &&
			!strings.HasSuffix(name, "_templ.go") && !strings.HasSuffix(name, "_test.go")
		if entry.IsDir() || !written {
			return nil
		}
		content, err := os.ReadFile(path)
		b.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryUsedKeyIsInTheCatalogue(t *testing.T) {
	uses := usePattern.FindAllStringSubmatch(source(t), -1)
	if len(uses) < 100 {
		t.Fatalf("found only %d uses of keys: the pattern no longer fits the source", len(uses))
	}
	for _, use := range uses {
		all, ok := printers[0].messages[use[2]]
		if !ok {
			t.Errorf("key %q is used but in no catalogue", use[2])
		}
		if _, hasOne := all["one"]; ok && (use[1] == "Count") != hasOne {
			t.Errorf("key %q is used with %s, but its plural forms say otherwise", use[2], use[1])
		}
	}
}

func TestNoticesNameTextsOfTheCatalogue(t *testing.T) {
	notices := noticePattern.FindAllStringSubmatch(source(t), -1)
	if len(notices) == 0 {
		t.Fatal("found no notice: the pattern no longer fits the source")
	}
	for _, notice := range notices {
		for _, quoted := range notice[1:] {
			if _, ok := printers[0].messages[strings.Trim(quoted, `"`)]; !ok {
				t.Errorf("a notice names %s, which is in no catalogue", quoted)
			}
		}
	}
}

func TestErrorsNameTextsOfTheCatalogue(t *testing.T) {
	errors := wrongPattern.FindAllStringSubmatch(source(t), -1)
	if len(errors) < 30 {
		t.Fatalf("found only %d texts of errors: the pattern no longer fits the source", len(errors))
	}
	for _, e := range errors {
		if _, ok := printers[0].messages[e[1]]; !ok {
			t.Errorf("an error names %q, which is in no catalogue", e[1])
		}
	}
}

func TestEveryKeyIsUsed(t *testing.T) {
	text := source(t)
	for _, key := range slices.Sorted(maps.Keys(printers[0].messages)) {
		if !strings.Contains(text, `"`+key+`"`) {
			t.Errorf("key %q is never used", key)
		}
	}
}

func TestCataloguesAgree(t *testing.T) {
	first := printers[0]
	for _, p := range printers[1:] {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(first.messages)), slices.Sorted(maps.Keys(p.messages))); diff != "" {
			t.Errorf("keys of %s (-en +it):\n%s", p.Code(), diff)
		}
		for key, forms := range p.messages {
			got, want := placeholders(forms["other"]), placeholders(first.messages[key]["other"])
			if !strings.HasPrefix(key, "date.") && !cmp.Equal(got, want) {
				t.Errorf("%s %s has placeholders %v, want %v", p.Code(), key, got, want)
			}
		}
	}
}

func placeholders(message string) []string {
	found := placeholderPattern.FindAllString(message, -1)
	slices.Sort(found)
	return found
}

func TestPluralFormsAreThoseOfTheLanguage(t *testing.T) {
	for _, p := range printers {
		needed := pluralForms(p.tag)
		for key, forms := range p.messages {
			if len(printers[0].messages[key]) == 1 { // never counted
				continue
			}
			if got := slices.Sorted(maps.Keys(forms)); !slices.Equal(got, needed) {
				t.Errorf("%s %s has forms %v, want %v", p.Code(), key, got, needed)
			}
		}
	}
}

// pluralForms returns the forms that whole numbers of a language take.
func pluralForms(tag language.Tag) []string {
	found := map[string]bool{}
	for n := range 200 {
		found[formNames[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

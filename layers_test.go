package bitboard_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "bitboard/"

// layer is a package and the packages of this module that it may import.
type layer struct {
	name string
	may  []string
}

// layers is every package of this module.
// Arrows point down only: a package stands above all that it imports.
var layers = []layer{
	{"cmd/dashboard", []string{"internal/app"}},
	{"e2e", []string{"internal/app"}},
	{"internal/app", []string{
		"internal/config", "internal/doctor", "internal/memberlist", "internal/web", "internal/job", "internal/ingest", "internal/query", "internal/store", "internal/store/embedded", "internal/store/memory",
		"internal/store/address", "internal/demo", "internal/cohort", "internal/fault",
	}},
	{"internal/demo", []string{"internal/cohort"}},
	{"internal/doctor", []string{"internal/store", "internal/cohort", "internal/bitmap", "internal/fault"}},
	{"internal/web", []string{
		"internal/query", "internal/job", "internal/cohort", "internal/ingest", "internal/chart", "internal/euler", "internal/memberlist", "internal/fault",
		"views", "views/ui", "views/text", "static",
	}},
	{"views", []string{"views/ui", "views/text", "static"}},
	{"views/ui", []string{"views/text", "static"}},
	{"views/text", nil},
	{"static", nil},
	{"internal/chart", []string{"internal/cohort"}},
	{"internal/euler", nil},
	{"internal/ingest", []string{"internal/ingest/rows", "internal/store", "internal/cohort", "internal/fault"}},
	{"internal/ingest/rows", []string{"internal/fault"}},
	{"internal/query", []string{"internal/cohort", "internal/bitmap", "internal/fault"}},
	{"internal/store/storetest", []string{"internal/store", "internal/store/memory"}},
	{"internal/store", []string{"internal/store/address", "internal/store/pattern", "internal/job", "internal/cohort", "internal/bitmap", "internal/fault"}},
	{"internal/store/embedded", []string{"internal/fault"}},
	{"internal/store/memory", nil},
	{"internal/memberlist", []string{"internal/cohort"}},
	{"internal/config", []string{"internal/store/address", "internal/store/pattern", "internal/cohort", "internal/fault"}},
	{"internal/store/address", nil},
	{"internal/store/pattern", []string{"internal/cohort", "internal/fault"}},
	{"internal/cohort", []string{"internal/fault"}},
	{"internal/job", []string{"internal/fault"}},
	{"internal/bitmap", nil},
	{"internal/fault", nil},
	{".", nil},
}

// libraries are the modules that only some packages may know, tests aside.
var libraries = []struct {
	name string
	only []string
}{
	{"github.com/labstack/echo/", []string{"internal/web"}},
	{"github.com/redis/go-redis/", []string{"internal/store"}},
	{"github.com/alicebob/miniredis/", []string{"internal/store/memory"}},
	{"github.com/go-echarts/go-echarts/", []string{"internal/chart"}},
	{"github.com/a-h/templ", []string{"views", "views/ui", "internal/web"}},
	{"github.com/spf13/cobra", []string{"internal/app"}},
	{"github.com/RoaringBitmap/roaring/", []string{"internal/demo", "internal/ingest", "internal/store", "internal/query", "internal/bitmap"}},
	{"github.com/playwright-community/playwright-go", nil},
}

// vague are names that say nothing about what a package is for.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base", "types"}

const maxLines = 500

// pkg is the part of `go list -json` that is read here.
type pkg struct {
	ImportPath string
	Imports    []string
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		name := nameOf(p.ImportPath)
		at := slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
		if at < 0 {
			t.Errorf("package %s has no layer: give it a row in layers, below all that may import it, and describe it in ARCHITECTURE.md", name)
			continue
		}
		for _, imported := range p.Imports {
			if ours(imported) && !slices.Contains(layers[at].may, nameOf(imported)) {
				t.Errorf("%s imports %s: an edge that layers does not allow; move the code, or declare the interface where it is used", name, nameOf(imported))
			}
		}
	}
}

func TestLayersAreInOrder(t *testing.T) {
	for i, l := range layers {
		for _, m := range l.may {
			below := slices.IndexFunc(layers, func(o layer) bool { return o.name == m })
			if below <= i {
				t.Errorf("%s may import %s, which does not stand below it", l.name, m)
			}
		}
	}
}

func TestLibrariesStayInTheirRoom(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			for _, l := range libraries {
				if strings.HasPrefix(imported, l.name) && !slices.Contains(l.only, nameOf(p.ImportPath)) {
					t.Errorf("%s imports %s: only %v may, tests aside", nameOf(p.ImportPath), imported, l.only)
				}
			}
		}
	}
}

func TestPackageNamesSayWhatTheyAreFor(t *testing.T) {
	for _, p := range packages(t) {
		if slices.Contains(vague, path.Base(p.ImportPath)) {
			t.Errorf("package %s: name it after what it does", nameOf(p.ImportPath))
		}
	}
}

func TestFilesStayReadable(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || name == ".git" || name == "data"):
			return fs.SkipDir
		case d.IsDir() || !written(name):
			return nil
		}
		if n := strings.Count(read(t, name), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: which two things are in it?", name, n, maxLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// packages lists the packages of this module with what they import, tests aside.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := d.Decode(&p); err {
		case nil:
			all = append(all, p)
		case io.EOF:
			return all
		default:
			t.Fatal(err)
		}
	}
}

// nameOf returns a package's path within the module, "." for its root.
func nameOf(importPath string) string {
	if importPath+"/" == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module)
}

func ours(importPath string) bool { return strings.HasPrefix(importPath+"/", module) }

// written reports whether people write the file, as opposed to a generator.
func written(name string) bool {
	if strings.HasSuffix(name, "_templ.go") {
		return false
	}
	return slices.Contains([]string{".go", ".templ"}, filepath.Ext(name))
}

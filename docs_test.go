package bitboard_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestArchitectureDescribesEveryPackage(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	for _, p := range packages(t) {
		if name := nameOf(p.ImportPath); name != "." && !strings.Contains(text, "`"+name+"`") {
			t.Errorf("ARCHITECTURE.md does not say what %s is for", name)
		}
	}
}

func TestArchitectureGivesAReasonForEveryDependency(t *testing.T) {
	const direct = `{{if not (or .Main .Indirect)}}{{.Path}}{{end}}`
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", direct, "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "ARCHITECTURE.md")
	for module := range strings.FieldsSeq(string(out)) {
		if !strings.Contains(text, "`"+module+"`") {
			t.Errorf("ARCHITECTURE.md gives no reason for the dependency %s", module)
		}
	}
}

func TestReadmeShowsTheDefaultConfiguration(t *testing.T) {
	defaults := read(t, "internal/config/defaults.yaml")
	if !strings.Contains(read(t, "README.md"), "```yaml\n"+defaults+"```") {
		t.Errorf("the configuration in README.md is not internal/config/defaults.yaml:\n%s", defaults)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package app

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestImportIDs(t *testing.T) {
	onRedis(t)
	path := file(t, "ids.csv", "user_id,offset\nu1,70\nu2,3\n")
	for _, fresh := range []string{"2", "0"} {
		got := run(t, "import-ids", path)
		if want := regexp.MustCompile(`^pairs=2 new=` + fresh + ` seconds=\d+\.\d\d\n$`); got.code != 0 || !want.MatchString(got.stdout) {
			t.Fatalf("got %+v, want %v", got, want)
		}
	}
	log := file(t, "log.csv", "user_id,event,day\nu1,login,2026-03-01\nu2,login,2026-03-01\nu3,login,2026-03-01\n")
	if got := run(t, "import", log); got.code != 0 || !strings.Contains(got.stdout, "users_new=3 ") {
		t.Fatalf("got %+v; imported IDs must not be known users", got)
	}
	// Members stand in the order of their offsets.
	if got := run(t, "export", "active@2026-03-01"); got.stdout != "user_id\nu2\nu1\nu3\n" {
		t.Errorf("got %+v", got)
	}
	clash := file(t, "clash.csv", "user_id,offset\nu9,99\nu1,71\n")
	got := run(t, "import-ids", clash)
	if want := "dashboard: " + clash + ": line 3: the user ID \"u1\" cannot have offset 71: the store gave it offset 70; nothing was taken in\n"; got.code != 1 || got.stderr != want || got.stdout != "" {
		t.Errorf("got %+v, want %s", got, want)
	}
}

func TestImportIDsUsage(t *testing.T) {
	onRedis(t)
	path := file(t, "ids.csv", "user_id,offset\n7,7\n")
	tests := []struct {
		name string
		ids  string
		args []string
		code int
		says string
	}{
		{"no file", "", nil, 2, "FILE is missing; usage: dashboard import-ids FILE"},
		{"two files", "", []string{path, path}, 2, "unexpected argument"},
		{"standard input", "", []string{"-"}, 2, "give a file"},
		{"a device", "", []string{os.DevNull}, 1, "is no regular file"},
		{"a file that is missing", "", []string{path + "x"}, 1, "does not exist"},
		{"dense IDs", "dense", []string{path}, 2, "import-ids needs ids: dictionary"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("BITBOARD_IDS", tt.ids)
			got := run(t, append([]string{"import-ids"}, tt.args...)...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.says) || strings.Count(got.stderr, "\n") != 1 || got.stdout != "" {
				t.Errorf("got %+v, want exit code %d and %q", got, tt.code, tt.says)
			}
		})
	}
}

package app

import (
	"strings"
	"testing"
)

func TestForget(t *testing.T) {
	for _, ids := range []string{"dictionary", "dense"} {
		t.Run(ids, func(t *testing.T) {
			onRedis(t)
			t.Setenv("BITBOARD_IDS", ids)
			log := file(t, "log.csv", "user_id,event,day\n1,login,2026-03-01\n2,login,2026-03-01\n2,expose,2026-03-02\n3,login,2026-03-01\n")
			if got := run(t, "import", log); got.code != 0 {
				t.Fatalf("got %+v", got)
			}
			got := run(t, "forget", "2")
			if got.code != 0 || got.stdout != "user=2 marks=3\n" || !isAccess(got.stderr, "forget", "2") {
				t.Errorf("got %+v", got)
			}
			for _, expr := range []string{"active@2026-03-01 | exposed", "!exposed"} {
				if got := run(t, "export", expr); got.stdout != "user_id\n1\n3\n" {
					t.Errorf("%s: got %+v", expr, got)
				}
			}
			again := run(t, "forget", "2")
			if want := "dashboard: nothing is stored of a user \"2\"\n"; again.code != 1 || !strings.HasSuffix(again.stderr, want) || again.stdout != "" {
				t.Errorf("got %+v, want %q", again, want)
			}
			if got := run(t, "import", log); got.code != 0 || !strings.Contains(got.stdout, "users_new=1 bits_new=3 ") {
				t.Errorf("the same ID is no new user: %+v", got)
			}
		})
	}
}

func TestForgetUsage(t *testing.T) {
	onRedis(t)
	if got := run(t, "forget"); got.code != 2 || !strings.Contains(got.stderr, "USER is missing; usage: dashboard forget USER") {
		t.Errorf("got %+v", got)
	}
}

func TestIDsAreShownAsOneWord(t *testing.T) {
	for id, want := range map[string]string{
		"u-1071": "u-1071", "日本語": "日本語", "a b": `"a b"`, "a\nb": `"a\nb"`, `a"b`: `"a\"b"`, " ": `" "`,
	} {
		if got := oneWord(id); got != want {
			t.Errorf("%q is shown as %s, want %s", id, got, want)
		}
	}
}

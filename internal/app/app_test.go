package app

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitboard/internal/store/storetest"
)

// result is what a command left behind.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command in an environment with the test's own settings only.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runWith(t.Context(), t, "", args...)
}

func runWith(ctx context.Context, t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Main(ctx, args, strings.NewReader(stdin), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// onRedis points the commands of a test at a Redis of its own prefix.
func onRedis(t *testing.T) {
	t.Helper()
	t.Setenv("REDIS_URL", storetest.Redis(t))
	t.Setenv("BITBOARD_PREFIX", storetest.Prefix())
}

// file writes a file into a folder of the test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrongUsageIsOneLineAndExitCode2(t *testing.T) {
	onRedis(t)
	tests := []struct {
		name string
		args []string
		says string
	}{
		{"unknown command", []string{"frobnicate"}, `unknown command "frobnicate"; dashboard --help lists the commands`},
		{"misspelt command", []string{"exprot"}, `unknown command "exprot"; did you mean export?`},
		{"unknown flag", []string{"serve", "--frobnicate"}, "unknown flag: --frobnicate; dashboard serve --help lists the flags"},
		{"flag without its value", []string{"export", "--out"}, "flag needs an argument: --out; dashboard export --help lists the flags"},
		{"missing argument", []string{"export"}, "EXPR is missing; usage: dashboard export [--out FILE] EXPR"},
		{"too many arguments", []string{"version", "now"}, `unexpected argument "now"; usage: dashboard version`},
		{"expression that ends too early", []string{"export", "activated -"}, "expected"},
		{"expression with an unknown metric", []string{"export", "nope"}, `there is no metric "nope"`},
		{"address of all the world", []string{"serve", "--listen", "0.0.0.0:0"}, "cannot listen on 0.0.0.0:0: this version has no sign-in"},
		{"address without a host", []string{"serve", "--listen", ":0"}, "cannot listen on :0: this version has no sign-in"},
		{"address that is none", []string{"serve", "--listen", "nowhere.invalid:0"}, "cannot listen on nowhere.invalid:0: no such address"},
		{"cluster with a database", []string{"export", "--redis", "redis+cluster://a:1,b:2/3", "activated"}, "a cluster has no databases to choose from"},
		{"output that is no file", []string{"export", "--out", os.DevNull, "activated"}, "it is there and no file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := run(t, test.args...)
			if got.code != 2 {
				t.Errorf("exit code %d, want 2", got.code)
			}
			if !strings.HasPrefix(got.stderr, "dashboard: "+test.says) && !strings.Contains(got.stderr, test.says) {
				t.Errorf("stderr %q does not say %q", got.stderr, test.says)
			}
			if strings.Count(got.stderr, "\n") != 1 || got.stdout != "" {
				t.Errorf("stderr %q is not one line, or stdout %q not empty", got.stderr, got.stdout)
			}
		})
	}
}

func TestFailuresAreOneLineAndExitCode1(t *testing.T) {
	locked, _ := storetest.Start(t, "--requirepass", "secret")
	dir := t.TempDir()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connections wait, and nobody takes them
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	mute := "redis://" + silent.Addr().String()
	tests := []struct {
		name  string
		redis string
		args  []string
		says  string
	}{
		{"Redis away", "redis://127.0.0.1:1", []string{"serve", "--listen", "127.0.0.1:0"}, "dashboard: the store at redis://127.0.0.1:1 does not answer: connection refused\n"},
		{"Redis says nothing", mute, []string{"export", "activated"}, "dashboard: the store at " + mute + " does not answer: timed out\n"},
		{"Redis asks for a password", locked, []string{"export", "activated"}, "dashboard: the store at " + locked + " asks for a password\n"},
		{"folder that is not there", storetest.Redis(t), []string{"export", "--out", dir + "/none/out.csv", "activated"}, "dashboard: cannot write " + dir + "/none/out.csv: no such file or directory\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("REDIS_URL", test.redis)
			got := run(t, test.args...)
			if got.code != 1 || got.stderr != test.says || got.stdout != "" {
				t.Errorf("got %+v, want exit code 1 and %q", got, test.says)
			}
		})
	}
}

func TestMistakesOfTheConfiguration(t *testing.T) {
	path := file(t, "bad.yaml", "timezone: Mars/Phobos\ncolour: red\n")
	for _, args := range [][]string{
		{"serve", "--config", path, "--listen", "127.0.0.1:0"},
		{"export", "--config", path, "activated"},
	} {
		got := run(t, args...)
		lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
		if got.code != 2 || len(lines) != 2 || !strings.HasPrefix(lines[0], path+":1: timezone: ") || !strings.HasPrefix(lines[1], path+`:2: unknown key "colour"`) {
			t.Errorf("%v: got %+v", args, got)
		}
	}
	t.Setenv("BITBOARD_CONFIG", path)
	if got := run(t, "export", "activated"); got.code != 2 || !strings.HasPrefix(got.stderr, path+":1: ") {
		t.Errorf("with BITBOARD_CONFIG: got %+v", got)
	}
}

func TestHelpSaysHowElseAFlagIsGiven(t *testing.T) {
	tests := []struct {
		args []string
		says []string
	}{
		{[]string{"serve", "--help"}, []string{
			"(env BITBOARD_LISTEN, key listen, default 127.0.0.1:8080)", "(env REDIS_URL, key redis, default embedded)",
			"(env BITBOARD_DATA_DIR, key data_dir, default ./data)", "(env BITBOARD_CONFIG)", "engine.temp_ttl          BITBOARD_ENGINE_TEMP_TTL",
		}},
		{[]string{"export", "--help"}, []string{"(env BITBOARD_EXPORT_OUT)", "(env REDIS_URL, key redis"}},
	}
	for _, test := range tests {
		got := run(t, test.args...)
		for _, s := range test.says {
			if !strings.Contains(got.stdout, s) {
				t.Errorf("%v does not say %q:\n%s", test.args, s, got.stdout)
			}
		}
		if got.code != 0 || got.stderr != "" {
			t.Errorf("%v: exit code %d, stderr %q", test.args, got.code, got.stderr)
		}
	}
}

func TestNoCommandPrintsTheHelp(t *testing.T) {
	got := run(t)
	if got.code != 2 || got.stderr != "" || !strings.Contains(got.stdout, "Available Commands:") {
		t.Errorf("got %+v", got)
	}
}

func TestVersion(t *testing.T) {
	got := run(t, "version")
	if got.code != 0 || !strings.HasPrefix(got.stdout, "bitboard ") || strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("got %+v", got)
	}
}

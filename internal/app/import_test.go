package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"bitboard/internal/ingest"
)

const activity = `user_id,event,day
u1,login,2026-03-01
u2,login,2026-03-01
u2,login,2026-03-02
`

var seconds = regexp.MustCompile(`seconds=\d+\.\d+\n$`)

// summary is the last line on standard output without the time.
func summary(r result) string {
	return seconds.ReplaceAllString(r.stdout, "seconds=S\n")
}

func TestImport(t *testing.T) {
	tests := []struct {
		name, text string
		args       []string
		code       int
		summary    string
		stderr     string // a part of it; empty for nothing at all
	}{
		{
			name: "every row accepted", text: activity,
			summary: "rows=3 accepted=3 rejected=0 users_new=2 bits_new=6 seconds=S\n",
		},
		{
			name: "some rows rejected", text: activity + "u3,login,2026-02-30\n", code: 3,
			summary: "rows=4 accepted=3 rejected=1 users_new=2 bits_new=6 seconds=S\n",
			stderr:  ":5: ",
		},
		{
			name: "no rows", text: "user_id,event,day\n",
			summary: "rows=0 accepted=0 rejected=0 users_new=0 bits_new=0 seconds=S\n",
		},
		{
			name: "event of this import", text: "user_id,event,day\nu1,a=b,2026-03-01\n", args: []string{"--event", "a=b=exposed", "--event", "a=b=active"},
			summary: "rows=1 accepted=1 rejected=0 users_new=1 bits_new=2 seconds=S\n",
		},
		{
			name: "replace, verified", text: activity, args: []string{"--mode", "replace", "--verify"},
			summary: "rows=3 accepted=3 rejected=0 users_new=2 bits_new=6 seconds=S\n",
		},
		{
			name: "a day in the future", text: "user_id,event,day\nu1,expose,2026-03-01\nu1,login,2999-12-31\n",
			summary: "rows=2 accepted=2 rejected=0 users_new=1 bits_new=3 seconds=S\n",
			stderr:  "note: active has marks up to 2999-12-31, which is after today, ",
		},
		{name: "missing column", text: "user_id,event\nu1,login\n", code: 1, stderr: "dashboard: "},
		{name: "junk", text: "\x00\x01\x02\xff", code: 1, stderr: "dashboard: "},
		{name: "unknown mode", text: activity, args: []string{"--mode", "swap"}, code: 2, stderr: `dashboard: --mode "swap" is not accepted; give merge or replace`},
		{name: "event without a metric", text: activity, args: []string{"--event", "a"}, code: 2, stderr: `dashboard: --event "a" is not accepted; give NAME=METRIC`},
		{name: "event with an unknown metric", text: activity, args: []string{"--event", "a=b"}, code: 2, stderr: `names the metric "b", which is not configured`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onRedis(t)
			got := run(t, append(append([]string{"import"}, test.args...), file(t, "events.csv", test.text))...)
			if got.code != test.code {
				t.Errorf("exit code %d, want %d: %s", got.code, test.code, got.stderr)
			}
			if summary(got) != test.summary {
				t.Errorf("stdout %q, want %q", got.stdout, test.summary)
			}
			if !strings.Contains(got.stderr, test.stderr) || (test.stderr == "") != (got.stderr == "") {
				t.Errorf("stderr %q, want %q in it", got.stderr, test.stderr)
			}
		})
	}
}

func TestImportThenExport(t *testing.T) {
	onRedis(t)
	if got := runWith(t.Context(), t, activity+"\"a,\"\"b\"\"\",login,2026-03-01\n", "import", "-"); got.code != 0 {
		t.Fatalf("import: %+v", got)
	}
	const want = "user_id\nu1\nu2\n\"a,\"\"b\"\"\"\n"
	if got := run(t, "export", "active@2026-03-01"); got.code != 0 || got.stdout != want {
		t.Errorf("export: %+v", got)
	}
	url, _ := serving(t, settings(t, map[string]string{"redis": os.Getenv("REDIS_URL"), "prefix": os.Getenv("BITBOARD_PREFIX")}))
	if _, body := get(t, url+"/api/v1/cohorts/members.csv?expr=active@2026-03-01"); body != want {
		t.Errorf("members.csv is %q, but the export %q", body, want)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	if got := run(t, "export", "--out", out, " active@2026-03-02 "); got.code != 0 || got.stdout != "" || !isAccess(got.stderr, "export", "active@2026-03-02") {
		t.Errorf("export --out: %+v", got)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "user_id\nu2\n" {
		t.Errorf("the exported file holds %q, %v", text, err)
	}
}

func TestExportThatFailsLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.csv")
	if err := os.WriteFile(out, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := writeWhole(out, func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			t.Fatal(err)
		}
		return context.Canceled
	})
	if err == nil {
		t.Error("no error")
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "before" || len(left) != 1 {
		t.Errorf("the folder holds %v, the file %q, %v", left, text, err)
	}
}

func TestRejectsFile(t *testing.T) {
	onRedis(t)
	rejects := filepath.Join(t.TempDir(), "rejects.txt")
	text := "user_id,event,day\n" + strings.Repeat("u1,unheard_of,2026-03-01\n", 30)
	got := run(t, "import", "--rejects", rejects, file(t, "events.csv", text))
	if got.code != 3 || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
	lines, err := os.ReadFile(rejects)
	if err != nil || strings.Count(string(lines), "\n") != 30 || !strings.Contains(string(lines), ":31: ") {
		t.Errorf("rejects: %v, %s", err, lines)
	}
	if got := run(t, "import", file(t, "events.csv", text)); strings.Count(got.stderr, "events.csv:") != 20 || !strings.Contains(got.stderr, "30 × unknown_event: ") {
		t.Errorf("without a file, stderr is %s", got.stderr)
	}
}

func TestRejectsMustNotOverwriteAnInput(t *testing.T) {
	onRedis(t)
	path := file(t, "events.csv", activity)
	got := run(t, "import", "--rejects", path, path)
	if text, err := os.ReadFile(path); got.code != 2 || err != nil || string(text) != activity {
		t.Errorf("got %+v; the input holds %q, %v", got, text, err)
	}
}

func TestImportUsage(t *testing.T) {
	onRedis(t)
	if got := run(t, "import"); got.code != 2 || got.stderr != "dashboard: FILE is missing; give one or more, or - for standard input\n" {
		t.Errorf("without a file: %+v", got)
	}
	if got := run(t, "import", "-", "-"); got.code != 2 || got.stderr != "dashboard: - is given twice; the standard input can be read once only\n" {
		t.Errorf("the standard input twice: %+v", got)
	}
	if got := run(t, "import", "missing.csv"); got.code != 1 || !strings.Contains(got.stderr, "missing.csv") {
		t.Errorf("missing file: %+v", got)
	}
	t.Setenv("BITBOARD_IMPORT_MODE", "swap")
	if got := run(t, "import", file(t, "events.csv", activity)); got.code != 2 || !strings.Contains(got.stderr, `"swap"`) {
		t.Errorf("mode by the environment: %+v", got)
	}
}

func TestInterruptedImport(t *testing.T) {
	onRedis(t)
	if got := run(t, "import", file(t, "events.csv", activity)); got.code != 0 {
		t.Fatalf("import: %+v", got)
	}
	input, feed := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		// More than is read ahead, so that the import is under way when it is written.
		_, _ = io.WriteString(feed, "user_id,event,day\n"+strings.Repeat("u9,login,2026-03-01\n", 10_000))
		interrupt()
	}()
	var stdout, stderr strings.Builder
	code := Main(ctx, []string{"import", "--mode", "replace", "--force", "-"}, input, &stdout, &stderr)
	if want := "dashboard: interrupted; the same import again completes it\n"; code != 1 || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
	if got := run(t, "export", "active@2026-03-01"); got.stdout != "user_id\nu1\nu2\n" {
		t.Errorf("after an interrupted replacement the day holds %q", got.stdout)
	}
}

// fullDevice is a file that takes nothing, as on a full disk.
const fullDevice = "/dev/full"

func TestImportWhoseAnswerCannotBeWritten(t *testing.T) {
	onRedis(t)
	full, err := os.OpenFile(fullDevice, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { full.Close() })
	var stderr strings.Builder
	code := Main(t.Context(), []string{"import", file(t, "events.csv", activity)}, strings.NewReader(""), full, &stderr)
	if want := "dashboard: the import is done, but its summary cannot be written: no space left on device\n"; code != 1 || stderr.String() != want {
		t.Errorf("summary: exit code %d, stderr %q", code, stderr.String())
	}
	for _, rejects := range []int{1, 1000} { // written at the end, and while reading
		got := run(t, "import", "--rejects", fullDevice, file(t, "events.csv", activity+strings.Repeat("u3,login,2026-02-30\n", rejects)))
		want := "dashboard: the rejected rows cannot be written to /dev/full: no space left on device\n"
		if got.code != 1 || !strings.HasPrefix(got.stderr, want) || got.stdout != "" {
			t.Errorf("%d rejects: %+v", rejects, got)
		}
	}
}

func TestInterruptedWhileNobodyWritesToThePipe(t *testing.T) {
	onRedis(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer interrupt()
	ended := make(chan result, 1)
	go func() { ended <- runWith(ctx, t, "", "import", pipe) }()
	select {
	case got := <-ended:
		if want := "dashboard: interrupted; the same import again completes it\n"; got.code != 1 || got.stderr != want {
			t.Errorf("got %+v", got)
		}
	case <-time.After(5 * time.Second):
		t.Error("the import goes on after it was interrupted")
	}
}

func TestProgressLine(t *testing.T) {
	tests := []struct {
		name string
		at   ingest.Progress
		took time.Duration
		want string
	}{
		{"a known size", ingest.Progress{Rows: 1_500_000, Bytes: 30, Total: 120}, 3 * time.Second, "[======                  ]  25 %  1,500,000 rows, 500,000 rows/s, 9s left"},
		{"too early to tell the time left", ingest.Progress{Rows: 10, Bytes: 1, Total: 120}, 100 * time.Millisecond, "[                        ]   0 %  10 rows, 100 rows/s"},
		{"all read", ingest.Progress{Rows: 10, Bytes: 120, Total: 120}, 2 * time.Second, "[========================] 100 %  10 rows, 5 rows/s"},
		{"a file that grew", ingest.Progress{Rows: 10, Bytes: 150, Total: 120}, 2 * time.Second, "[========================] 100 %  10 rows, 5 rows/s"},
		{"minutes left", ingest.Progress{Rows: 100, Bytes: 1, Total: 101}, time.Second, "[                        ]   0 %  100 rows, 100 rows/s, 1m40s left"},
		{"an unknown size", ingest.Progress{Rows: 10, Bytes: 30}, time.Second, "10 rows, 10 rows/s"},
		{"writing", ingest.Progress{Phase: ingest.Writing, Rows: 1234, Bytes: 30, Total: 30}, time.Second, "1,234 rows read, writing"},
		{"checking", ingest.Progress{Phase: ingest.Checking, Rows: 1234}, time.Second, "1,234 rows written, checking"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := progressLine(tt.at, tt.took); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// isAccess reports whether a log is one line about one access.
func isAccess(log, permission, subject string) bool {
	return strings.Count(log, "\n") == 1 && strings.Contains(log, "msg=access") &&
		strings.Contains(log, "permission="+permission) && strings.Contains(log, "subject="+subject+" ")
}

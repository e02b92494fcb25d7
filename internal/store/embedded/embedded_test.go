package embedded

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bitboard/internal/fault"
)

// start starts a server on the folder and stops it with the test.
func start(t *testing.T, dir string) (url string, stop func()) {
	t.Helper()
	url, end, err := Start(t.Context(), dir)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	stopped := false
	stop = func() {
		t.Helper()
		if stopped {
			return
		}
		stopped = true
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := end(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	t.Cleanup(stop)
	return url, stop
}

// ask sends one inline command and returns all that comes back with QUIT.
func ask(t *testing.T, url, command string) string {
	t.Helper()
	reply, err := tryAsk(url, command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return reply
}

func tryAsk(url, command string) (string, error) {
	conn, err := net.DialTimeout("unix", strings.TrimPrefix(url, "unix://"), time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, command+"\r\nQUIT\r\n"); err != nil {
		return "", err
	}
	reply, err := io.ReadAll(conn)
	return strings.TrimSuffix(string(reply), "+OK\r\n"), err
}

// serverID returns the process ID of the server.
func serverID(t *testing.T, url string) int {
	t.Helper()
	_, rest, _ := strings.Cut(ask(t, url, "INFO server"), "process_id:")
	digits, _, _ := strings.Cut(rest, "\r")
	id, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// eventually waits until a command gets the reply.
func eventually(t *testing.T, url, command, want string) {
	t.Helper()
	var got string
	var err error
	for range 500 {
		if got, err = tryAsk(url, command); err == nil && got == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s: got %q, %v, want %q", command, got, err, want)
}

func TestDataSurviveAStop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	url, stop := start(t, dir)
	ask(t, url, "SET k kept")
	stop()
	if _, err := tryAsk(url, "PING"); err == nil {
		t.Error("the server still answers after stop")
	}
	url, _ = start(t, dir)
	if got := ask(t, url, "GET k"); got != "$4\r\nkept\r\n" {
		t.Errorf("after a restart GET k is %q", got)
	}
}

func TestServerThatIsKilledComesBackWithItsData(t *testing.T) {
	url, _ := start(t, t.TempDir())
	ask(t, url, "SET k kept")
	if err := syscall.Kill(serverID(t, url), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, url, "GET k", "$4\r\nkept\r\n")
}

func TestSecondOnTheFolderTalksToTheRunningOneAndTakesOver(t *testing.T) {
	dir := t.TempDir()
	first, stopFirst := start(t, dir)
	second, _ := start(t, dir)
	if a, b := serverID(t, first), serverID(t, second); a != b {
		t.Fatalf("two servers on one folder: processes %d and %d", a, b)
	}
	ask(t, first, "SET k kept")
	stopFirst()
	eventually(t, second, "GET k", "$4\r\nkept\r\n")
}

func TestStopOfTheSecondLeavesTheServerAlone(t *testing.T) {
	dir := t.TempDir()
	url, _ := start(t, dir)
	before := serverID(t, url)
	_, stopSecond := start(t, dir)
	stopSecond()
	if after := serverID(t, url); after != before {
		t.Errorf("the server was process %d and is now %d", before, after)
	}
}

func TestLongPathOfTheFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	url, stop := start(t, filepath.Join(t.TempDir(), strings.Repeat("long/", 40)))
	if got := ask(t, url, "PING"); got != "+PONG\r\n" {
		t.Errorf("PING answers %q", got)
	}
	stop()
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "bitboard-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// inAnotherProcess says that the test binary was started by a test to be killed.
const inAnotherProcess = "BITBOARD_TEST_EMBEDDED_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(inAnotherProcess); dir != "" {
		url, _, err := Start(context.Background(), dir)
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString(url + "\n")
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestServerEndsWithAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), inAnotherProcess+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(string(line[:n]))
	ask(t, url, "SET k kept")
	killed := serverID(t, url)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a killed process ended well")
	}

	url, _ = start(t, dir)
	if got := ask(t, url, "GET k"); got != "$4\r\nkept\r\n" {
		t.Errorf("GET k is %q", got)
	}
	if now := serverID(t, url); now == killed {
		t.Errorf("the server of the killed process, %d, still runs", now)
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := t.TempDir()
	if err := os.Mkdir(filepath.Join(broken, "appendonlydir"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "appendonlydir", "appendonly.aof.manifest"), []byte("junk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, dir string
		path      string
		kind      error
		says      string
	}{
		{"folder that is a file", file, os.Getenv("PATH"), fault.ErrInvalid, "cannot be used: not a directory"},
		{"no redis-server", t.TempDir(), t.TempDir(), fault.ErrUnavailable, "there is no redis-server program on PATH"},
		{"data that cannot be read", broken, os.Getenv("PATH"), fault.ErrUnavailable, "ended: Invalid AOF manifest file format"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			_, _, err := Start(t.Context(), test.dir)
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error is %v, want a %v that says %q", err, test.kind, test.says)
			}
		})
	}
}

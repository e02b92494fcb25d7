package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"bitboard/internal/store/storetest"
)

// asProgram makes the test binary be the program, for the tests of signals.
const asProgram = "DASHBOARD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program is a running dashboard.
type program struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *bytes.Buffer
}

// start starts a dashboard with a store of its own.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	return startOn(t, storetest.Redis(t), storetest.Prefix(), args...)
}

// startOn starts a dashboard on the data under a prefix of a store.
func startOn(t *testing.T, redis, prefix string, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...), stderr: &bytes.Buffer{}}
	p.Env = append(os.Environ(), asProgram+"=1", "REDIS_URL="+redis, "BITBOARD_PREFIX="+prefix)
	p.Stderr = p.stderr
	var err error
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// url waits until the program says where it serves.
func (p *program) url(t *testing.T) string {
	t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("no URL: %v, %s", err, p.stderr)
	}
	return strings.TrimSpace(line)
}

func (p *program) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// end waits for the end of the program, at most ten seconds.
func (p *program) end(t *testing.T) *os.ProcessState {
	t.Helper()
	late := time.AfterFunc(10*time.Second, func() { _ = p.Process.Kill() })
	err := p.Wait()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(failed, err)
	}
	if !late.Stop() {
		t.Error("still running after 10 s")
	}
	return p.ProcessState
}

func TestServeEndsWellOnASignal(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(s.String(), func(t *testing.T) {
			p := start(t, "serve", "--listen", "127.0.0.1:0")
			answer, err := http.Get(p.url(t) + "readyz")
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("readyz answers %s", answer.Status)
			}
			p.signal(t, s)
			if state := p.end(t); state.ExitCode() != 0 || p.stderr.Len() > 0 {
				t.Errorf("%s, stderr %q", state, p.stderr)
			}
		})
	}
}

// unfinishedRequest keeps the server from ending in order: it waits for a body.
func unfinishedRequest(t *testing.T, url string) {
	t.Helper()
	host := strings.Trim(strings.TrimPrefix(url, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, "POST /api/v1/events HTTP/1.1\r\nHost: "+host+
		"\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	// The server says so when it begins to read.
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("the server answers %q, %v", line, err)
	}
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	p := start(t, "serve", "--listen", "127.0.0.1:0")
	unfinishedRequest(t, p.url(t))
	p.signal(t, syscall.SIGTERM)
	time.Sleep(300 * time.Millisecond)
	p.signal(t, syscall.SIGTERM)
	begin := time.Now()
	state := p.end(t)
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || time.Since(begin) > 2*time.Second {
		t.Errorf("%s after %s, want an end by the signal at once", state, time.Since(begin))
	}
}

func TestImportEndsOnASignal(t *testing.T) {
	p := start(t, "import", "-")
	// More than a pipe holds: once it is written, most of it was read.
	rows := "user_id,event,day\n" + strings.Repeat("u1,login,2026-03-01\n", 50_000)
	if _, err := io.WriteString(p.stdin, rows); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // until it has read the rest and waits for more
	p.signal(t, os.Interrupt)
	state := p.end(t)
	if want := "dashboard: interrupted; the same import again completes it\n"; state.ExitCode() != 1 || p.stderr.String() != want {
		t.Errorf("%s, stderr %q", state, p.stderr)
	}
}

func TestAKilledDashboardTakesItsServerAlongAndLosesNothing(t *testing.T) {
	dir := t.TempDir()
	serve := func() (*program, string) {
		p := startOn(t, "embedded", "bb", "serve", "--listen", "127.0.0.1:0", "--data-dir", dir)
		return p, p.url(t)
	}
	p, url := serve()
	answer, err := http.Post(url+"api/v1/flags/activated", "application/json", strings.NewReader(`{"user_ids":["u1"],"value":true}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	p.signal(t, syscall.SIGKILL)
	p.end(t)
	within(t, "the end of the redis-server", func() bool {
		conn, err := net.Dial("unix", dir+"/redis.sock")
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	p, url = serve()
	answer, err = http.Get(url + "api/v1/cohorts/members.csv?expr=activated")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if members, err := io.ReadAll(answer.Body); err != nil || string(members) != "user_id\nu1\n" {
		t.Errorf("after a kill and a start the members are %q, %v", members, err)
	}
	p.signal(t, syscall.SIGTERM)
	p.end(t)
}

// within waits until a check holds.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within five seconds", what)
		}
	}
}

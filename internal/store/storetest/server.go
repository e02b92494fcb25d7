package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// supervise runs a server until our end of the pipe on its input closes, which
// it does when the test binary ends, however it ends.
const supervise = `
trap '' INT
redis-server "$@" </dev/null &
server=$!
read -r _
kill -9 $server
rm -rf "$DIR"
`

// patience is how long tests wait for what servers do by themselves.
const patience = 20 * time.Second

// endpoint is where a server listens.
type endpoint struct {
	network, address string
	dir              string // of its files
	arguments        []string
}

// server is a server that was started. Its end of the pipe is closed when
// nothing refers to it any more.
type server struct {
	endpoint
	stop func()
}

// onSocket is a new socket, in a folder of its own.
func onSocket() endpoint { return endpoint{network: "unix"} }

// onPort is a port of this machine that is free.
func onPort(t testing.TB) endpoint {
	t.Helper()
	port := freePort(t)
	return endpoint{network: "tcp", address: "127.0.0.1:" + port, arguments: []string{"--port", port, "--bind", "127.0.0.1"}}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// URL returns the URL of the server.
func (e endpoint) URL() string {
	if e.network == "unix" {
		return "unix://" + e.address
	}
	return "redis://" + e.address
}

// lazily returns what starts a store once, for all tests of the test binary,
// and gives its URL.
func lazily[S interface{ URL() string }](start func(t testing.TB, arguments ...string) S) func(t testing.TB) string {
	var once sync.Once
	var started *S // also so that it is referred to as long as the test binary runs
	return func(t testing.TB) string {
		t.Helper()
		once.Do(func() {
			s := start(t)
			started = &s
		})
		if started == nil {
			t.Fatal("the shared store did not start for an earlier test")
		}
		return (*started).URL()
	}
}

// launch starts a server and waits until it answers. An endpoint without a
// folder gets one.
func launch(t testing.TB, e endpoint, arguments ...string) *server {
	t.Helper()
	if e.dir == "" {
		e = settle(t, e)
	}
	ctx := context.WithoutCancel(t.Context())
	args := append([]string{"-c", supervise, "redis"}, e.arguments...)
	supervisor := exec.CommandContext(ctx, "sh", append(args, arguments...)...)
	supervisor.Env = append(os.Environ(), "DIR="+e.dir)
	input, err := supervisor.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		input.Close()
		_ = supervisor.Wait() // it tells how the server ended, which was our doing
	})
	s := &server{e, stop}
	if err := s.await(ctx, "PING", ""); err != nil {
		stop()
		t.Fatal(err)
	}
	return s
}

// settle gives an endpoint a folder, and what does not listen on a port a socket in it.
func settle(t testing.TB, e endpoint) endpoint {
	t.Helper()
	// A socket's path has about 100 bytes at most; a test's own folder may have more.
	dir, err := os.MkdirTemp("", "redis") //nolint:usetesting // as above, and the server may outlive the test
	if err != nil {
		t.Fatal(err)
	}
	e.dir = dir
	if e.network == "unix" {
		e.address = filepath.Join(dir, "redis.sock")
		e.arguments = []string{"--port", "0", "--unixsocket", e.address}
	}
	e.arguments = append(e.arguments, "--dir", dir, "--save", "")
	return e
}

// kill ends the server at once, as a crash does. Its files stay.
func (s *server) kill(t testing.TB) {
	t.Helper()
	id, err := strconv.Atoi(field(s.must(t, "INFO server"), "process_id"))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// field returns a field of an answer of INFO.
func field(info, name string) string {
	_, rest, _ := strings.Cut(info, name+":")
	value, _, _ := strings.Cut(rest, "\r")
	return value
}

// await sends a command until its answer, be it a refusal, has a part.
func (s *server) await(ctx context.Context, command, part string) error {
	const pause = 5 * time.Millisecond
	var answer string
	var err error
	for range patience / pause {
		if answer, err = s.send(ctx, command); err == nil && strings.Contains(answer, part) {
			return nil
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("%s at %s: got %q, %w, want an answer with %q", command, s.address, answer, errors.Join(err), part)
}

// must sends a command and returns its answer.
func (s *server) must(t testing.TB, command string) string {
	t.Helper()
	answer, err := s.send(context.WithoutCancel(t.Context()), command)
	if err == nil && strings.HasPrefix(answer, "-") {
		err = errors.New(answer)
	}
	if err != nil {
		t.Fatalf("%s at %s: %v", command, s.address, err)
	}
	return answer
}

// send sends one command and returns the answer as it comes, that of one line
// or one text.
func (s *server) send(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, s.network, s.address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Write([]byte(command + "\r\n")); err != nil {
		return "", err
	}
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil || line[0] != '$' {
		return strings.TrimSpace(line), err
	}
	size, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil {
		return "", err
	}
	text := make([]byte, size)
	_, err = io.ReadFull(r, text)
	return string(text), err
}

// Silence makes the server at a URL of Start accept connections and commands
// for a minute and answer none, like a server that hangs.
func Silence(t testing.TB, url string) {
	t.Helper()
	s := &server{endpoint: endpoint{network: "unix", address: strings.TrimPrefix(url, "unix://")}}
	s.must(t, "CLIENT PAUSE 60000 ALL")
}

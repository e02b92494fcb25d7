// Package storetest gives tests a real Redis server of their own.
package storetest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bitboard/internal/store"
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

// server is a running server. Its end of the pipe is closed when nothing refers
// to it any more.
type server struct {
	url  string
	stop func()
}

var (
	start    sync.Once
	shared   server
	prefixes atomic.Int64
)

// Redis returns the URL of a Redis server that all tests of the test binary
// share and nobody else uses. Take a prefix of your own.
func Redis(t testing.TB) (url string) {
	t.Helper()
	start.Do(func() { shared = launch(t) })
	if shared.url == "" {
		t.Fatal("the shared Redis server did not start for an earlier test")
	}
	return shared.url
}

// Prefix returns a prefix that no other test has.
func Prefix() string { return "t" + strconv.FormatInt(prefixes.Add(1), 10) }

// Config returns a configuration on the shared server under a prefix of its
// own: a dictionary, segments of 4,096 bits, UTC, nothing expires.
func Config(t testing.TB) store.Config {
	t.Helper()
	return store.Config{
		URL:         Redis(t),
		Prefix:      Prefix(),
		SegmentBits: 4096,
		MaxOffset:   3_435_973_836,
		Zone:        "UTC",
		Location:    time.UTC,
		TempTTL:     time.Minute,
	}
}

// Open returns a store on the shared server under a prefix of its own, with
// Config as changed by the options. It is closed when the test ends.
func Open(t testing.TB, options ...func(*store.Config)) *store.Store {
	t.Helper()
	c := Config(t)
	for _, o := range options {
		o(&c)
	}
	s, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Start runs a server of its own, for a test that stops it or configures it
// otherwise, and returns its URL and what stops it.
func Start(t testing.TB, arguments ...string) (url string, stop func()) {
	t.Helper()
	own := launch(t, arguments...)
	t.Cleanup(own.stop)
	return own.url, own.stop
}

func launch(t testing.TB, arguments ...string) server {
	t.Helper()
	// A socket's path has about 100 bytes at most; a test's own folder may have more.
	dir, err := os.MkdirTemp("", "redis") //nolint:usetesting // as above, and the server may outlive the test
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context())
	socket := filepath.Join(dir, "redis.sock")
	args := []string{"-c", supervise, "redis", "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", ""}
	supervisor := exec.CommandContext(ctx, "sh", append(args, arguments...)...)
	supervisor.Env = append(os.Environ(), "DIR="+dir)
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
	if err := await(ctx, socket); err != nil {
		stop()
		t.Fatal(err)
	}
	return server{"unix://" + socket, stop}
}

// Silence makes the server at a URL of Start accept connections and commands
// for a minute and answer none, like a server that hangs.
func Silence(t testing.TB, url string) {
	t.Helper()
	if err := send(t.Context(), strings.TrimPrefix(url, "unix://"), "CLIENT PAUSE 60000 ALL"); err != nil {
		t.Fatal(err)
	}
}

// await waits until the server answers, be it with a refusal.
func await(ctx context.Context, socket string) (err error) {
	const patience, pause = 10 * time.Second, 2 * time.Millisecond
	for range patience / pause {
		if err = send(ctx, socket, "PING"); err == nil {
			return nil
		}
		time.Sleep(pause)
	}
	return err
}

// send sends one command and waits for any answer.
func send(ctx context.Context, socket, command string) error {
	c, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte(command + "\r\n")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

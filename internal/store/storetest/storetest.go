// Package storetest gives tests a real Redis server of their own.
package storetest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

var (
	shared   = sync.OnceValues(start)
	prefixes atomic.Int64
	// running holds the shared server's end of its pipe, which would be closed
	// when nothing referred to it any more.
	running func()
)

// Redis returns the URL of a Redis server that all tests of the test binary
// share and nobody else uses. Take a prefix of your own.
func Redis(t testing.TB) (url string) {
	t.Helper()
	url, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return url
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
	url, stop, err := launch(arguments...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url, stop
}

func start() (url string, err error) {
	url, running, err = launch()
	return url, err
}

func launch(arguments ...string) (url string, stop func(), err error) {
	// A socket's path has about 100 bytes at most; a test's own folder may have more.
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		return "", nil, err
	}
	socket := filepath.Join(dir, "redis.sock")
	args := []string{"-c", supervise, "redis", "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", ""}
	server := exec.Command("sh", append(args, arguments...)...)
	server.Env = append(os.Environ(), "DIR="+dir)
	input, err := server.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = sync.OnceFunc(func() {
		input.Close()
		server.Wait()
	})
	if err := await(socket); err != nil {
		stop()
		return "", nil, err
	}
	return "unix://" + socket, stop, nil
}

// await waits until the server answers, be it with a refusal.
func await(socket string) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := ping(socket)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func ping(socket string) error {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

package store_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// checkUnavailable checks the kind of an error and what it tells the user.
func checkUnavailable(t *testing.T, err error, says string) {
	t.Helper()
	f := fault.As(err)
	if f == nil || !errors.Is(err, fault.ErrUnavailable) || !strings.Contains(f.Message, says) {
		t.Errorf("got %v, want an ErrUnavailable that says %q", err, says)
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("the error shows a password: %v", err)
	}
}

func configOf(t testing.TB, url string) store.Config {
	t.Helper()
	c := storetest.Config(t)
	c.URL = url
	return c
}

func TestPasswords(t *testing.T) {
	url, _ := storetest.Start(t, "--requirepass", "right")
	socket := strings.TrimPrefix(url, "unix://")
	for _, c := range []struct{ name, url, says string }{
		{"none", url, "asks for a password"},
		{"wrong", "unix://:secret@" + socket, "does not accept the password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := store.Open(t.Context(), configOf(t, c.url))
			checkUnavailable(t, err, c.says)
		})
	}
	open(t, configOf(t, "unix://:right@"+socket))
}

func TestStoppedServer(t *testing.T) {
	url, stop := storetest.Start(t)
	s := open(t, configOf(t, url))
	mustMerge(t, s, marks{active(1): bits(1)})
	stop()
	_, err := s.Catalogue(t.Context())
	checkUnavailable(t, err, "does not answer")
	_, err = s.Merge(t.Context(), marks{active(1): bits(2)})
	checkUnavailable(t, err, "does not answer")
	checkUnavailable(t, s.Ping(t.Context()), "does not answer: no such socket")
}

func TestServerThatSaysNothing(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	storetest.Silence(t, url)
	for _, c := range []struct {
		name string
		ask  func() error
	}{
		{"one command", func() error { _, err := s.Catalogue(t.Context()); return err }},
		{"a pipeline", func() error { _, err := s.Fetch(t.Context(), 0, []cohort.Bitmap{active(1)}, 0, 8, nil); return err }},
		{"a transaction", func() error { _, err := s.Merge(t.Context(), marks{active(1): bits(1)}); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			checkUnavailable(t, c.ask(), "does not answer: timed out")
			if took := time.Since(begin); took > 6*time.Second {
				t.Errorf("the error came after %s", took)
			}
		})
	}
}

// freePort returns a port of 127.0.0.1 where nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestNothingListens(t *testing.T) {
	address := "127.0.0.1:" + freePort(t)
	_, err := store.Open(t.Context(), configOf(t, "redis://:secret@"+address))
	checkUnavailable(t, err, "the store at redis://"+address+" does not answer: connection refused")
}

func TestSomethingElseListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	_, err = store.Open(t.Context(), configOf(t, "redis://"+l.Addr().String()))
	checkUnavailable(t, err, "closed the connection")
}

func TestFullServer(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	mustMerge(t, s, marks{active(1): bits(1)})
	if err := raw(t, url).ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	many := roaring.New()
	many.AddRange(0, 4000)
	_, err := s.Merge(t.Context(), marks{active(1): many})
	checkUnavailable(t, err, "has no memory left for writes")
	_, err = s.Assign(t.Context(), []string{"a"})
	checkUnavailable(t, err, "has no memory left for writes")
}

func TestReadOnlyServer(t *testing.T) {
	url, _ := storetest.Start(t)
	s := open(t, configOf(t, url))
	if err := raw(t, url).ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Merge(t.Context(), marks{active(1): bits(1)})
	checkUnavailable(t, err, "is a read-only replica")
}

func TestUserWithoutRights(t *testing.T) {
	url, _ := storetest.Start(t)
	if err := raw(t, url).Do(t.Context(), "ACL", "SETUSER", "guest", "on", ">secret", "~*", "+@all", "-eval", "-evalsha").Err(); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), configOf(t, "unix://guest:secret@"+strings.TrimPrefix(url, "unix://")))
	checkUnavailable(t, err, "does not allow this user")
}

func TestEndedContextStaysWhatItIs(t *testing.T) {
	s := storetest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Catalogue(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, fault.ErrUnavailable) {
		t.Errorf("canceled: got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if _, err := s.Merge(ctx, marks{active(1): bits(1)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past its deadline: got %v", err)
	}
}

func TestBadAddressShowsNoPassword(t *testing.T) {
	for _, url := range []string{"", "redis://:secret@host:port", "http://host", "unix://", "redis+cluster://:secret@a:1/2", "redis+sentinel://:secret@a:1", "nonsense"} {
		_, err := store.Open(t.Context(), configOf(t, url))
		if !errors.Is(err, fault.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want an ErrInvalid without the password", url, err)
		}
	}
}

func TestNoRedisServer(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	_, err := store.Open(t.Context(), configOf(t, "redis://"+web.Listener.Addr().String()))
	checkUnavailable(t, err, "is not a Redis server")
}

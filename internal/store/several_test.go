package store_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// recovered retries what a store that is coming back may refuse, for a while.
func recovered(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
		if !errors.Is(err, fault.ErrUnavailable) {
			t.Fatalf("got %v, want an ErrUnavailable until it is back", err)
		}
	}
	t.Fatalf("it did not come back: %v", err)
}

func mustGeneration(t *testing.T, s *store.Store) string {
	t.Helper()
	g, err := s.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// spread is one user in each of many segments, so that every master has some.
func spread() marks {
	users := bits()
	for segment := range uint32(30) {
		users.Add(segment * 4096)
	}
	return marks{active(1): users}
}

func TestClusterWithoutOneOfItsMasters(t *testing.T) {
	nodes := storetest.StartCluster(t)
	c := configOf(t, nodes.URL())
	s := open(t, c)
	mustMerge(t, s, spread())
	if _, err := s.Assign(t.Context(), manyIDs(100)); err != nil {
		t.Fatal(err)
	}
	generation := mustGeneration(t, s)
	nodes.Kill(t, 1)
	for name, ask := range map[string]func() error{
		"ping":      func() error { return s.Ping(t.Context()) },
		"catalogue": func() error { _, err := s.Catalogue(t.Context()); return err },
		"fetch": func() error {
			for segment := range 30 {
				if _, err := s.Fetch(t.Context(), segment, []cohort.Bitmap{active(1)}, 0, 8, nil); err != nil {
					return err
				}
			}
			return nil
		},
		"merge":  func() error { _, err := s.Merge(t.Context(), spread()); return err },
		"assign": func() error { _, err := s.Assign(t.Context(), []string{"new"}); return err },
		"scan":   func() error { return s.Scan(t.Context()) },
		"open":   func() error { _, err := store.Open(t.Context(), c); return err },
	} {
		begin := time.Now()
		err := ask()
		checkUnavailable(t, err, "the store at "+nodes.URL())
		if took := time.Since(begin); took > 6*time.Second {
			t.Errorf("%s: the error came after %s", name, took)
		}
	}
	nodes.Restart(t, 1)
	recovered(t, func() error { _, err := s.Merge(t.Context(), marks{active(1): bits(7)}); return err })
	want := spread()[active(1)]
	want.Add(7)
	checkUsers(t, s, active(1), want)
	if got := mustGeneration(t, s); got == generation {
		t.Error("a master was restarted and the generation is the same")
	}
}

func TestGenerationOfAClusterIsStable(t *testing.T) {
	s := storetest.OnCluster.Open(t)
	first := mustGeneration(t, s)
	mustMerge(t, s, spread())
	if _, err := s.Assign(t.Context(), manyIDs(1000)); err != nil {
		t.Fatal(err)
	}
	if err := s.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mustGeneration(t, s); got != first {
		t.Errorf("using all nodes changed the generation from %q to %q", first, got)
	}
}

func TestSentinelFailover(t *testing.T) {
	url, failover := storetest.Sentinel(t)
	s := open(t, configOf(t, url))
	mustMerge(t, s, spread())
	if _, err := s.Assign(t.Context(), []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	generation := mustGeneration(t, s)
	failover()
	recovered(t, func() error { _, err := s.Merge(t.Context(), marks{active(2): bits(1)}); return err })
	checkUsers(t, s, active(1), spread()[active(1)])
	checkUsers(t, s, active(2), bits(1))
	if got := mustGeneration(t, s); got == generation {
		t.Error("a replica took over and the generation is the same")
	}
}

func TestSentinelWithoutThatMaster(t *testing.T) {
	url, _ := storetest.Sentinel(t)
	other := strings.TrimSuffix(url, "/main") + "/other"
	_, err := store.Open(t.Context(), configOf(t, other))
	checkUnavailable(t, err, "the store at "+other+" does not answer: its sentinels know no master of that name")
}

func TestAddressOfAnotherKind(t *testing.T) {
	cluster := storetest.Cluster(t)
	node, _, _ := strings.Cut(strings.TrimPrefix(cluster, "redis+cluster://"), ",")
	sentinel, _ := storetest.Sentinel(t)
	sentinel = strings.TrimSuffix(strings.TrimPrefix(sentinel, "redis+sentinel://"), "/main")
	port := freePort(t)
	storetest.Start(t, "--port", port, "--bind", "127.0.0.1")
	for _, c := range []struct{ name, url, says string }{
		{"one node of a cluster", "redis://" + node, "is a node of a cluster; give redis+cluster://"},
		{"a sentinel", "redis://" + sentinel, "is a sentinel; give redis+sentinel://"},
		{"a server as a cluster", "redis+cluster://127.0.0.1:" + port, "is no cluster; give redis://"},
		{"a sentinel as a cluster", "redis+cluster://" + sentinel, "is no cluster; give redis://"},
		{"a server as a sentinel", "redis+sentinel://127.0.0.1:" + port + "/main", "has no sentinel there; give redis://"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := store.Open(t.Context(), configOf(t, c.url))
			checkUnavailable(t, err, c.says)
		})
	}
}

func TestTLS(t *testing.T) {
	url := storetest.TLS(t)
	s := open(t, configOf(t, url))
	mustMerge(t, s, spread())
	checkUsers(t, s, active(1), spread()[active(1)])
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "rediss://"))
	for _, c := range []struct{ name, url, says string }{
		{"a certificate for another name", "rediss://localhost:" + port, "does not answer: its certificate is not trusted here"},
		{"without TLS", "redis://127.0.0.1:" + port, "does not answer: it closed the connection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := store.Open(t.Context(), configOf(t, c.url))
			checkUnavailable(t, err, c.says)
		})
	}
}

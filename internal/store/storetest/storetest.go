// Package storetest gives tests real Redis servers of their own: one, a
// cluster, a master with a sentinel, one with TLS; and the store in memory.
package storetest

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"bitboard/internal/store"
)

var (
	single   = lazily(startSingle)
	prefixes atomic.Int64
)

func startSingle(t testing.TB, arguments ...string) *server {
	t.Helper()
	return launch(t, onSocket(), arguments...)
}

// Redis returns the URL of a Redis server that all tests of the test binary
// share and nobody else uses. Take a prefix of your own.
func Redis(t testing.TB) (url string) {
	t.Helper()
	return single(t)
}

// Prefix returns a prefix that no other test has.
func Prefix() string { return "t" + strconv.FormatInt(prefixes.Add(1), 10) }

// Kind is a kind of store. The same tests run on every kind.
type Kind struct {
	// Name names the sub-tests.
	Name string
	// URL returns the URL of a store that many tests share.
	URL func(t testing.TB) string
}

// The kinds of stores.
var (
	OnRedis   = Kind{"redis", Redis}
	OnCluster = Kind{"cluster", Cluster}
	OnMemory  = Kind{"memory", Memory}
	Kinds     = []Kind{OnRedis, OnCluster, OnMemory}
)

// String returns the kind's name.
func (k Kind) String() string { return k.Name }

// Each runs a test on every kind of store, as a sub-test of its name.
func Each(t *testing.T, test func(t *testing.T, k Kind)) {
	t.Helper()
	EachOf(t, Kinds, test)
}

// EachOf is Each for some kinds of store.
func EachOf(t *testing.T, kinds []Kind, test func(t *testing.T, k Kind)) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.Name, func(t *testing.T) { test(t, k) })
	}
}

// Config returns a configuration on a store of the kind under a prefix of its
// own: a dictionary, segments of 4,096 bits, UTC, nothing expires.
func (k Kind) Config(t testing.TB) store.Config {
	t.Helper()
	return store.Config{
		URL:         k.URL(t),
		Prefix:      Prefix(),
		SegmentBits: 4096,
		MaxOffset:   3_435_973_836,
		Zone:        "UTC",
		Location:    time.UTC,
		TempTTL:     time.Minute,
	}
}

// Open returns a store of the kind under a prefix of its own, with Config as
// changed by the options. It is closed when the test ends.
func (k Kind) Open(t testing.TB, options ...func(*store.Config)) *store.Store {
	t.Helper()
	c := k.Config(t)
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

// Config is that of OnRedis.
func Config(t testing.TB) store.Config {
	t.Helper()
	return OnRedis.Config(t)
}

// Open is that of OnRedis.
func Open(t testing.TB, options ...func(*store.Config)) *store.Store {
	t.Helper()
	return OnRedis.Open(t, options...)
}

// Start runs a server of its own, for a test that stops it or configures it
// otherwise, and returns its URL and what stops it.
func Start(t testing.TB, arguments ...string) (url string, stop func()) {
	t.Helper()
	own := startSingle(t, arguments...)
	t.Cleanup(own.stop)
	return own.URL(), own.stop
}

package storetest

import (
	"testing"

	"bitboard/internal/store/memory"
)

// inMemory is the URL of a store in this process's memory.
type inMemory string

// URL returns the URL.
func (m inMemory) URL() string { return string(m) }

var remembered = lazily(startMemory)

func startMemory(t testing.TB, _ ...string) inMemory {
	t.Helper()
	url, _, err := memory.Start() // it ends with the process
	if err != nil {
		t.Fatal(err)
	}
	return inMemory(url)
}

// Memory returns the URL of a store in memory that all tests of the test
// binary share. Take a prefix of your own.
func Memory(t testing.TB) (url string) {
	t.Helper()
	return remembered(t)
}

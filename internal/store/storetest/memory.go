package storetest

import (
	"testing"

	"bitboard/internal/store/memory"
)

// Memory returns the URL of a store in memory of the test's own.
func Memory(t testing.TB) (url string) {
	t.Helper()
	url, stop, err := memory.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url
}

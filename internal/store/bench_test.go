package store_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/store/storetest"
)

const (
	benchIDs = 2_000_000
	// benchIDBatch is what an import asks for at once.
	benchIDBatch = 10_000
	// mostBytes is what one ID of 16 bytes may take in Redis, both directions.
	mostBytes = 64
)

// BenchmarkDictionary gives offsets to two million IDs of 16 bytes, and reports
// what they take in Redis besides the time.
func BenchmarkDictionary(b *testing.B) {
	url, _ := storetest.Start(b)
	client := raw(b, url)
	ids := make([]string, benchIDBatch)
	bytes := int64(0)
	for b.Loop() {
		c := configOf(b, url)
		s := open(b, c)
		before := usedMemory(b, client)
		for first := 0; first < benchIDs; first += len(ids) {
			for i := range ids {
				ids[i] = fmt.Sprintf("user-%011x", first+i)
			}
			mustAssign(b, s, ids...)
		}
		bytes += usedMemory(b, client) - before
	}
	perID := float64(bytes) / float64(b.N) / benchIDs
	b.ReportMetric(perID, "B/ID")
	b.ReportMetric(benchIDs*float64(b.N)/b.Elapsed().Seconds(), "IDs/s")
	if perID > mostBytes {
		b.Errorf("an ID takes %.1f bytes, more than %d", perID, mostBytes)
	}
}

// usedMemory returns what the server's allocator has handed out, in bytes.
func usedMemory(b *testing.B, client redis.UniversalClient) int64 {
	b.Helper()
	info, err := client.Info(b.Context(), "memory").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, "used_memory:"); found {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatal("the server does not say how much memory it uses")
	return 0
}

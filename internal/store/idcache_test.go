package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/store"
)

// numbered returns an offset for each ID.
func numbered(ids []string) []uint32 {
	offsets := make([]uint32, len(ids))
	for i := range offsets {
		offsets[i] = uint32(i)
	}
	return offsets
}

func TestCacheKnowsEveryIDByteForByte(t *testing.T) {
	ids := manyIDs(20_000) // the odd ones first, and the table grows several times
	c := store.NewIDCache(4 << 20)
	if missing := c.LookUp("e", ids[:3], make([]uint32, 3)); len(missing) != 3 {
		t.Fatalf("an empty cache lacks %v of three IDs", missing)
	}
	c.Remember("e", ids[1:], numbered(ids)[1:])
	c.Remember("e", ids[1:], numbered(ids)[1:])
	got := make([]uint32, len(ids))
	if diff := cmp.Diff([]int{0}, c.LookUp("e", ids, got)); diff != "" {
		t.Errorf("the IDs that are lacking: %s", diff)
	}
	if diff := cmp.Diff(numbered(ids), got); diff != "" {
		t.Error(diff)
	}
}

func TestCacheIsOfOneEpoch(t *testing.T) {
	c, ids := store.NewIDCache(1<<20), []string{"a", "b"}
	c.LookUp("old", ids, make([]uint32, 2))
	c.Remember("old", ids, numbered(ids))
	if missing := c.LookUp("new", ids, make([]uint32, 2)); len(missing) != 2 {
		t.Error("offsets of other data were remembered")
	}
	c.Remember("old", ids, numbered(ids)) // of a writer that began before
	if missing := c.LookUp("new", ids, make([]uint32, 2)); len(missing) != 2 {
		t.Error("offsets of other data were taken in")
	}
}

func TestCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	const limit = 64 << 10
	c, ids := store.NewIDCache(limit), manyIDs(50_000)
	often := []string{"often"}
	c.LookUp("e", often, make([]uint32, 1))
	c.Remember("e", often, []uint32{77})
	for i := 0; i < len(ids); i += 500 {
		c.Remember("e", ids[i:i+500], numbered(ids)[i:i+500])
		offset := make([]uint32, 1)
		if missing := c.LookUp("e", often, offset); len(missing) > 0 || offset[0] != 77 {
			t.Fatalf("after %d IDs one that is used often has offset %v, missing %v", i, offset, missing)
		}
		if n := c.Bytes(); n > 2*limit {
			t.Fatalf("the cache takes %d bytes, more than twice %d", n, limit)
		}
	}
	if missing := c.LookUp("e", ids[:500], make([]uint32, 500)); len(missing) == 0 {
		t.Error("nothing was given up")
	}
}

// BenchmarkIDCache looks up batches of IDs of which half are remembered.
func BenchmarkIDCache(b *testing.B) {
	c, ids := store.NewIDCache(32<<20), manyIDs(400_000)
	c.LookUp("e", nil, nil)
	c.Remember("e", ids[:200_000], numbered(ids)[:200_000])
	offsets := make([]uint32, len(ids))
	for b.Loop() {
		c.LookUp("e", ids, offsets)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ids)), "ns/ID")
}

package store_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

type marks = map[cohort.Bitmap]*roaring.Bitmap

var (
	exposed   = cohort.Flag("exposed")
	activated = cohort.Flag("activated")
)

// active is the bitmap of the metric active on the n-th day of March 2026.
func active(n int) cohort.Bitmap { return dayOf("active", n) }

func dayOf(metric string, n int) cohort.Bitmap {
	return cohort.DayOfMetric(metric, cohort.DayOfDate(2026, time.March, n))
}

// raw returns a plain client of the store at a URL, to look behind the store.
func raw(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	c, err := store.NewClient(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// prefixed makes an option that opens a store under a prefix.
func prefixed(prefix string) func(*store.Config) {
	return func(c *store.Config) { c.Prefix = prefix }
}

func mustMerge(t testing.TB, s *store.Store, m marks) store.Written {
	t.Helper()
	w, err := s.Merge(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func mustCatalogue(t testing.TB, s *store.Store) *cohort.Catalogue {
	t.Helper()
	c, err := s.Catalogue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// users reads the offsets in a bitmap from all segments of the catalogue.
func users(t testing.TB, s *store.Store, b cohort.Bitmap) *roaring.Bitmap {
	t.Helper()
	all := roaring.New()
	for _, segment := range mustCatalogue(t, s).SegmentsOf(b) {
		fetched, err := s.Fetch(t.Context(), segment, []cohort.Bitmap{b}, 0, s.SegmentBits()/8, nil)
		if err != nil {
			t.Fatal(err)
		}
		for bit := range s.SegmentBits() {
			if bit/8 < len(fetched[0]) && fetched[0][bit/8]&(0x80>>(bit%8)) != 0 {
				all.Add(uint32(segment*s.SegmentBits() + bit))
			}
		}
	}
	return all
}

// keysOf lists the keys under a prefix that hold a part.
func keysOf(t testing.TB, c redis.UniversalClient, prefix, part string) []string {
	t.Helper()
	var mu sync.Mutex
	var names []string
	scan := func(ctx context.Context, node *redis.Client) error {
		it := node.Scan(ctx, 0, prefix+":*", 1000).Iterator()
		for it.Next(ctx) {
			if strings.Contains(it.Val(), part) {
				mu.Lock()
				names = append(names, it.Val())
				mu.Unlock()
			}
		}
		return it.Err()
	}
	var err error
	switch c := c.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(context.Background(), scan)
	case *redis.Client:
		err = scan(context.Background(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// drop removes keys, one by one, as they may be in several slots.
func drop(t testing.TB, c redis.UniversalClient, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := c.Del(t.Context(), key).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	return storetest.Open(t, func(o *store.Config) { *o = c })
}

// bits returns a set of offsets.
func bits(offsets ...uint32) *roaring.Bitmap { return roaring.BitmapOf(offsets...) }

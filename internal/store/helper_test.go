package store_test

import (
	"context"
	"slices"
	"strings"
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

// raw returns a plain client of the server at a URL, to look behind the store.
func raw(t testing.TB, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
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
func keysOf(t testing.TB, c *redis.Client, prefix, part string) []string {
	t.Helper()
	var names []string
	it := c.Scan(context.Background(), 0, prefix+":*", 1000).Iterator()
	for it.Next(context.Background()) {
		if strings.Contains(it.Val(), part) {
			names = append(names, it.Val())
		}
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func open(t testing.TB, c store.Config) *store.Store {
	t.Helper()
	return storetest.Open(t, func(o *store.Config) { *o = c })
}

// bits returns a set of offsets.
func bits(offsets ...uint32) *roaring.Bitmap { return roaring.BitmapOf(offsets...) }

package query_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

const (
	benchUsers = 10_000_000
	benchDays  = 31
	// benchSegmentBits is the product's default.
	benchSegmentBits = 1 << 20
)

// benchData fills a store of its own with users of whom a quarter is active on
// a day, and returns a service over it and a plain client of its server.
func benchData(b *testing.B) (s *query.Service, client *redis.Client, prefix string) {
	b.Helper()
	url, _ := storetest.Start(b)
	o, err := redis.ParseURL(url)
	if err != nil {
		b.Fatal(err)
	}
	o.ReadBufferSize = 256 << 10
	client = redis.NewClient(o)
	b.Cleanup(func() { client.Close() })
	st := storetest.Open(b, func(c *store.Config) {
		c.URL, c.Dense, c.SegmentBits, prefix = url, true, benchSegmentBits, c.Prefix
	})
	random := rand.New(rand.NewPCG(1, 2))
	words := make([]uint64, benchUsers/64)
	for d := range cohort.Day(benchDays) {
		for i := range words {
			words[i] = random.Uint64() & random.Uint64()
		}
		day := cohort.DayOfMetric("active", epoch+d)
		if _, err := st.Merge(b.Context(), map[cohort.Bitmap]*roaring.Bitmap{day: roaring.FromDense(words, true)}); err != nil {
			b.Fatal(err)
		}
	}
	return query.New(st, workspace, query.Config{}), client, prefix
}

// getAll reads the bitmaps of all days as they are, a segment a pipeline: what
// any answer from outside the server costs at least.
func getAll(b *testing.B, client *redis.Client, prefix string) {
	b.Helper()
	for segment := range (benchUsers + benchSegmentBits - 1) / benchSegmentBits {
		p := client.Pipeline()
		for d := range cohort.Day(benchDays) {
			p.Get(b.Context(), fmt.Sprintf("%s:{s%d}:day:active:%s", prefix, segment, (epoch+d).Compact()))
		}
		if _, err := p.Exec(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRetentionTable asks for the full table of a month on both engines
// and reads the same bitmaps, in turn, so that the ratios hold on any machine.
func BenchmarkRetentionTable(b *testing.B) {
	s, client, prefix := benchData(b)
	last := epoch + benchDays - 1
	q := cohort.RetentionQuestion{
		Start: "active", Return: "active", Range: cohort.Range{From: epoch, To: last}, Periods: benchDays - 1, Membership: cohort.AnyTime, AsOf: last,
	}
	on := func(e query.Engine) func() {
		return func() {
			if _, err := query.Ask(b.Context(), s, q, query.Options{Engine: e}); err != nil {
				b.Fatal(err)
			}
		}
	}
	took := map[string]time.Duration{}
	sides := []struct {
		name string
		run  func()
	}{{"get", func() { getAll(b, client, prefix) }}, {"fold", on(query.Fold)}, {"bitop", on(query.Bitop)}}
	for b.Loop() {
		for _, side := range sides {
			begin := time.Now()
			side.run()
			took[side.name] += time.Since(begin)
		}
	}
	for _, side := range sides {
		b.ReportMetric(took[side.name].Seconds()*1000/float64(b.N), side.name+"-ms")
	}
	b.ReportMetric(took["fold"].Seconds()/took["get"].Seconds(), "fold/get")
	b.ReportMetric(took["bitop"].Seconds()/took["fold"].Seconds(), "bitop/fold")
}

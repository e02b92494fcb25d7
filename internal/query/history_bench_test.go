package query_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

const (
	firstUsers  = 1_000_000
	firstMonths = 36
)

// benchHistory fills a store of its own with the days of some months up to the
// end of May, a quarter of a million users on each.
func benchHistory(b *testing.B, url string, months int) (*query.Service, store.Config) {
	b.Helper()
	var config store.Config
	st := storetest.Open(b, func(c *store.Config) {
		c.URL, c.Dense, c.SegmentBits = url, true, 1<<20
		config = *c
	})
	random := rand.New(rand.NewPCG(1, 2))
	words := make([]uint64, firstUsers/64)
	for d := cohort.DayOfDate(2026, time.Month(6-months), 1); d <= cohort.DayOfDate(2026, time.May, 31); d++ {
		for i := range words {
			words[i] = random.Uint64() & random.Uint64()
		}
		if _, err := st.Merge(b.Context(), map[cohort.Bitmap]*roaring.Bitmap{day(d): roaring.FromDense(words, true)}); err != nil {
			b.Fatal(err)
		}
	}
	return query.New(st, workspace, query.Config{SettleAfter: settleAfter}), config
}

// BenchmarkFirstDays asks, at the end of three months and of three years, for
// the new users of each of 31 days and for their retention, in turn, each time
// with no count kept. The ratios tell how much the length of history matters,
// and how much memory that takes.
func BenchmarkFirstDays(b *testing.B) {
	url, _ := storetest.Start(b)
	short, _ := benchHistory(b, url, 3)
	long, config := benchHistory(b, url, firstMonths)
	last := cohort.DayOfDate(2026, time.May, 31)
	month := cohort.Range{From: last - 30, To: last}
	asked := 0
	ask := func(s *query.Service) time.Duration {
		asked++
		begin := time.Now()
		now := later.AddDate(0, asked, asked) // later than any count is kept
		_, err := query.Ask(b.Context(), s, cohort.LifecycleQuestion{Metric: "active", Range: month, AsOf: last}, query.Options{Now: now})
		if err == nil {
			_, err = query.Ask(b.Context(), s, cohort.RetentionQuestion{Start: "active", Return: "active", Range: month, Periods: 30, AsOf: last}, query.Options{Now: now})
		}
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(begin)
	}
	cold := ask(long)
	ask(short)
	var shorts, longs []time.Duration
	for b.Loop() {
		for range 4 * benchRounds {
			shorts, longs = append(shorts, ask(short)), append(longs, ask(long))
		}
	}
	b.ReportMetric(cold.Seconds()*1000, "first-cold-ms")
	b.ReportMetric(median(longs), "first-ms")
	b.ReportMetric(median(longs)/median(shorts), "first-3y/3m")
	b.ReportMetric(historyShare(b, config), "history/months")
}

// historyShare is the memory of all histories in the store, by that of a day's
// bitmap for each month.
func historyShare(b *testing.B, c store.Config) float64 {
	b.Helper()
	client := clientOf(b, c.URL)
	memory := func(names []string) (total int64) {
		for _, name := range names {
			total += client.MemoryUsage(b.Context(), name).Val()
		}
		return total
	}
	histories := client.Keys(b.Context(), c.Prefix+":*hist:*").Val()
	days := client.Keys(b.Context(), c.Prefix+":{s*}:day:*").Val()
	if len(histories) == 0 || !strings.HasPrefix(histories[0], c.Prefix) {
		b.Fatal("there are no histories")
	}
	return float64(memory(histories)) / firstMonths / (float64(memory(days)) / float64(len(days)))
}

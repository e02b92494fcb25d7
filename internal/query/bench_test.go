package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

const (
	benchUsers  = 10_000_000
	benchDays   = 31
	benchRounds = 5
)

// benchData fills a store of its own with users of whom a quarter is active on
// a day, and returns a service over it.
func benchData(b *testing.B, segmentBits int) *query.Service {
	b.Helper()
	url, _ := storetest.Start(b)
	st := storetest.Open(b, func(c *store.Config) { c.URL, c.Dense, c.SegmentBits = url, true, segmentBits })
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
	return query.New(st, workspace, query.Config{})
}

// benchQuestion is a question of a common kind.
type benchQuestion struct {
	name string
	ask  func(s *query.Service, o query.Options) (query.Engine, error)
}

func benchQuestions(b *testing.B) []benchQuestion {
	b.Helper()
	last := epoch + benchDays - 1
	month := cohort.Range{From: epoch, To: last}
	active := func(name string, r cohort.Range, window int) benchQuestion {
		return benchQuestion{name, func(s *query.Service, o query.Options) (query.Engine, error) {
			a, err := s.Active(b.Context(), cohort.ActiveQuestion{Metric: "active", Range: r, Window: window, AsOf: last}, o)
			return a.Engine, err
		}}
	}
	retention := func(name string, r cohort.Range, periods int) benchQuestion {
		return benchQuestion{name, func(s *query.Service, o query.Options) (query.Engine, error) {
			a, err := query.Ask(b.Context(), s, cohort.RetentionQuestion{
				Start: "active", Return: "active", Range: r, Periods: periods, Membership: cohort.AnyTime, AsOf: last,
			}, o)
			return a.Engine, err
		}}
	}
	size := func(name, expr string) benchQuestion {
		set := resolve(b, expr, last)
		return benchQuestion{name, func(s *query.Service, o query.Options) (query.Engine, error) {
			a, err := s.Size(b.Context(), set, o)
			return a.Engine, err
		}}
	}
	return []benchQuestion{
		size("one-day", "active@today"),
		size("both", "active@today & active@today-1d"),
		size("neither", "!active@today"),
		size("week", "active@today-6d..today"),
		active("dau", month, 1),
		active("windows", month, 7),
		retention("next-day", cohort.Range{From: last - 1, To: last - 1}, 1),
		retention("week-of-next-days", cohort.Range{From: last - 7, To: last - 1}, 1),
		retention("table", month, benchDays-1),
	}
}

// BenchmarkPlanner asks common questions on both engines in turn, with segments
// of several sizes. Its figure is how much longer the engine that the planner
// chooses takes than the better one: the worst of all, and their mean.
func BenchmarkPlanner(b *testing.B) {
	questions := benchQuestions(b)
	worst, sum, n := 1.0, 0.0, 0.0
	for _, segmentBits := range []int{1 << 16, 1 << 20} {
		s := benchData(b, segmentBits)
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		run := func(q benchQuestion, e query.Engine) (query.Engine, time.Duration) {
			now = now.AddDate(0, 2, 0) // by then no count is kept any more
			begin := time.Now()
			chosen, err := q.ask(s, query.Options{Engine: e, Now: now})
			if err != nil {
				b.Fatal(err)
			}
			return chosen, time.Since(begin)
		}
		for _, q := range questions {
			took := map[query.Engine][]time.Duration{}
			for range benchRounds {
				for _, e := range []query.Engine{query.Bitop, query.Fold} {
					_, t := run(q, e)
					took[e] = append(took[e], t)
				}
			}
			chosen, _ := run(q, query.Auto)
			bitop, fold := median(took[query.Bitop]), median(took[query.Fold])
			regret := map[query.Engine]float64{query.Bitop: bitop, query.Fold: fold}[chosen] / min(bitop, fold)
			worst, sum, n = max(worst, regret), sum+regret, n+1
			fmt.Printf("%8d bits a segment  %-18s bitop %7.2f ms  fold %7.2f ms  chosen %-5s  %.2f\n", segmentBits, q.name, bitop, fold, chosen, regret)
		}
	}
	for b.Loop() { // everything was measured before
	}
	b.ReportMetric(worst, "chosen/best-worst")
	b.ReportMetric(sum/n, "chosen/best-mean")
}

// median is in milliseconds.
func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

package query

import (
	"fmt"
	"testing"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// catalogueOf has one segment of a metric on each day of a range.
func catalogueOf(metric string, r cohort.Range) *cohort.Catalogue {
	segments := map[cohort.Bitmap][]int{}
	for d := r.From; d <= r.To; d++ {
		segments[cohort.DayOfMetric(metric, d)] = []int{0}
	}
	return cohort.NewCatalogue(segments)
}

// unions counts the operands of the unions in a graph beyond the first of each.
func unions(g *graph) int {
	n := 0
	for _, node := range g.nodes {
		if node.op == bitmap.Or && len(node.src) > 0 {
			n += len(node.src) - 1
		}
	}
	return n
}

func TestSlidingWindowsTakeThreeUnionsADay(t *testing.T) {
	const days = 100
	span := cohort.Range{From: 20_000, To: 20_000 + days - 1}
	for _, window := range []int{4, 7, 28, 30, 90, 366} {
		t.Run(fmt.Sprintf("%d days", window), func(t *testing.T) {
			q := cohort.ActiveQuestion{Metric: "active", Range: span, Window: window, AsOf: span.To}
			cat := catalogueOf("active", cohort.Range{From: span.From - cohort.Day(window), To: span.To})
			g, _ := newGraph(cat, nil, q.Sets(cohort.Calendar{}))
			// The first heads and tails are as long as the window itself.
			if got, most := unions(g), 3*days+2*window; got > most {
				t.Errorf("%d unions for %d days, want at most %d", got, days, most)
			}
		})
	}
}

func TestWindowsThatDoNotOverlapAreLeftWhole(t *testing.T) {
	span := cohort.Range{From: 20_003, To: 20_003 + 69}
	q := cohort.ActiveQuestion{Metric: "active", Range: span, Granularity: cohort.Weekly, AsOf: span.To}
	g, _ := newGraph(catalogueOf("active", span), nil, q.Sets(cohort.Calendar{}))
	if got := unions(g); got > 70 {
		t.Errorf("%d unions for 70 days", got)
	}
}

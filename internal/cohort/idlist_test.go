package cohort_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
)

func TestIDListsHoldWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var list cohort.IDList
		for range rapid.IntRange(1, 3).Draw(r, "uses") {
			list.Reset()
			var want []string
			for range rapid.IntRange(0, 5).Draw(r, "parts") {
				if rapid.Bool().Draw(r, "numbers") {
					numbers := rapid.SliceOf(rapid.Uint32()).Draw(r, "numbers")
					list.AppendNumbers(numbers)
					for _, n := range numbers {
						want = append(want, strconv.FormatUint(uint64(n), 10))
					}
					continue
				}
				id := rapid.StringMatching(`[a-c\n ]{0,300}`).Draw(r, "id")
				list.Append(id)
				want = append(want, id)
			}
			if diff := cmp.Diff(want, list.Strings(), cmpopts.EquateEmpty()); diff != "" {
				r.Fatal(diff)
			}
			if got := string(list.Lines()); got != string(joined(want)) {
				r.Fatalf("lines are %q, want %q", got, joined(want))
			}
		}
	})
}

// joined is IDs with a line break behind each.
func joined(ids []string) (lines []byte) {
	for _, id := range ids {
		lines = append(append(lines, id...), '\n')
	}
	return lines
}

func TestNumbersAtTheirBorders(t *testing.T) {
	numbers := []uint32{0, 9, 10, 99, 999, 1000, 9999, 10_000, 10_001, 99_999, 100_000, 109_999, 110_000, 999_999, 1_000_000, 99_999_999, 100_000_000, 4_294_967_295}
	var list cohort.IDList
	list.AppendNumbers(numbers)
	for i, n := range numbers {
		if got := string(list.At(i)); got != strconv.FormatUint(uint64(n), 10) {
			t.Errorf("number %d is written %q", n, got)
		}
	}
}

func BenchmarkAppendNumbers(b *testing.B) {
	numbers := make([]uint32, 1<<15)
	for i := range numbers {
		numbers[i] = 50_000_000 + 4*uint32(i)
	}
	var list cohort.IDList
	for b.Loop() {
		list.Reset()
		list.AppendNumbers(numbers)
	}
	b.ReportMetric(float64(len(numbers))*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

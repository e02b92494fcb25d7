package cohort

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLongestGaps(t *testing.T) {
	days := []Day{100, 103, 110, 111, 120}
	stored := []Day{100, 101, 102, 103, 104, 108, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122}
	gap := func(from, to Day, noData int) Gap { return Gap{Range{from, to}, noData} }
	for _, tt := range []struct {
		name        string
		asOf        Day
		least, most int
		want        []Gap
	}{
		{"all, the longest first and the later of two alike", 123, 1, 9, []Gap{gap(112, 119, 0), gap(104, 109, 4), gap(121, 122, 0), gap(101, 102, 0)}},
		{"those of a length", 123, 3, 9, []Gap{gap(112, 119, 0), gap(104, 109, 4)}},
		{"so many", 123, 1, 1, []Gap{gap(112, 119, 0)}},
		{"as of a day between", 107, 1, 9, []Gap{gap(104, 106, 2), gap(101, 102, 0)}},
		{"as of the day after the last", 121, 1, 1, []Gap{gap(112, 119, 0)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			upTo := days
			for len(upTo) > 0 && upTo[len(upTo)-1] > tt.asOf {
				upTo = upTo[:len(upTo)-1]
			}
			if diff := cmp.Diff(tt.want, LongestGaps(upTo, stored, tt.asOf, tt.least, tt.most)); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
	if gaps := LongestGaps(nil, stored, 123, 1, 9); len(gaps) != 0 {
		t.Errorf("who never came has the gaps %v", gaps)
	}
}

func TestGapsAndDaysMakeUpTheTime(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		marked := map[Day]bool{}
		var days []Day
		for d := Day(1); d < 60; d++ {
			if rapid.Bool().Draw(r, "came") {
				marked[d], days = true, append(days, d)
			}
		}
		const asOf = 60
		covered := len(days)
		for _, g := range LongestGaps(days, nil, asOf, 1, asOf) {
			for d := g.From; d <= g.To; d++ {
				if marked[d] {
					r.Fatalf("day %d is in the gap %v", d, g)
				}
			}
			if g.NoData != g.Len() {
				r.Fatalf("of %v %d days have no data", g, g.NoData)
			}
			covered += g.Len()
		}
		if len(days) > 0 && covered != asOf-int(days[0]) {
			r.Fatalf("%d days are covered, want %d", covered, asOf-int(days[0]))
		}
	})
}

package chart

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
)

var dates = []cohort.Day{
	cohort.DayOfDate(2026, 3, 1), cohort.DayOfDate(2026, 3, 2), cohort.DayOfDate(2026, 3, 3), cohort.DayOfDate(2026, 3, 4),
}

// drawn is the part of the options that the tests look at.
type drawn struct {
	Series []struct {
		Name, Type string
		Symbol     string
		Stack      string
		ItemStyle  struct{ Opacity float64 }
		LineStyle  struct {
			Type, Color string
			Width       float64
		}
		Data []struct {
			Name   string
			Value  *float64
			Symbol string
		}
	}
	XAxis   []struct{ Data []string }
	Legend  struct{ Show bool }
	Tooltip struct{ RenderMode, Trigger string }
}

func read(t *testing.T, options json.RawMessage) drawn {
	t.Helper()
	var d drawn
	if err := json.Unmarshal(options, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func lines(t *testing.T, series ...Series) json.RawMessage {
	t.Helper()
	options, err := Lines(Dates(dates), series...)
	if err != nil {
		t.Fatal(err)
	}
	return options
}

func known(value float64) Point { return Point{Value: value, Known: true, Complete: true} }

// values writes a series' data with "-" for gaps.
func values(t *testing.T, d drawn, series int) string {
	t.Helper()
	var words []string
	for _, p := range d.Series[series].Data {
		word := "-"
		if p.Value != nil {
			b, err := json.Marshal(*p.Value)
			if err != nil {
				t.Fatal(err)
			}
			word = string(b)
		}
		words = append(words, word+p.Symbol)
	}
	return strings.Join(words, " ")
}

func TestLines(t *testing.T) {
	open := Point{Value: 4, Known: true}
	tests := []struct {
		name   string
		points []Point
		solid  string
		tail   string
	}{
		{"all complete", []Point{known(1), known(2), known(3), known(4)}, "1 2 3 4", ""},
		{"a zero is a value", []Point{known(0), known(2), known(0), known(4)}, "0 2 0 4", ""},
		{"an unknown value is a gap", []Point{known(1), {Complete: true}, known(3), known(4)}, "1 - 3 4", ""},
		{"the tail is joined to the last complete point", []Point{known(1), known(2), known(3), open}, "1 2 3 -", "- - 3none 4"},
		{"a tail of two", []Point{known(1), known(2), open, open}, "1 2 - -", "- 2none 4 4"},
		{"nothing complete", []Point{open, open, open, open}, "- - - -", "4 4 4 4"},
		{"a tail after a gap", []Point{known(1), known(2), {Complete: true}, open}, "1 2 - -", "- - - 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := read(t, lines(t, Series{Name: "Active", Points: tt.points}))
			if got := values(t, d, 0); got != tt.solid {
				t.Errorf("solid line %q, want %q", got, tt.solid)
			}
			if tt.tail == "" {
				if len(d.Series) != 1 {
					t.Errorf("%d series, want no tail", len(d.Series))
				}
				return
			}
			if got := values(t, d, 1); got != tt.tail {
				t.Errorf("tail %q, want %q", got, tt.tail)
			}
			if d.Series[1].LineStyle.Type != "dashed" || d.Series[1].Name != "Active" {
				t.Errorf("the tail is %+v", d.Series[1])
			}
		})
	}
}

func TestLinesMarksSuspectPoints(t *testing.T) {
	odd := Point{Value: 0, Known: true, Complete: true, Suspect: "low"}
	undefined := Point{Complete: true, Suspect: "no data"}
	open := Point{Value: 4, Known: true, Suspect: "low"}
	d := read(t, lines(t, Series{Name: "Active", Points: []Point{undefined, odd, known(3), open}}, Series{Name: "Other", Points: []Point{known(1), known(2), known(3), known(4)}}))
	if len(d.Series) != 4 {
		t.Fatalf("%d series, want a line, its tail, its marks and the other line", len(d.Series))
	}
	if got := values(t, d, 0); got != "- 0 3 -" {
		t.Errorf("the line holds %q", got)
	}
	if got := values(t, d, 2); got != "0 0 - 4" || d.Series[2].Symbol != "triangle" || d.Series[2].Name != "Active" {
		t.Errorf("the marks are %q, %+v", got, d.Series[2])
	}
	if got := d.Series[2].Data[0].Name; got != "no data" {
		t.Errorf("the first mark says %q", got)
	}
}

func TestLinesKeepsItsAxisAndItsTooltip(t *testing.T) {
	d := read(t, lines(t, Series{Name: "Active", Points: []Point{known(1), known(2), known(3), known(4)}}))
	want := []string{"2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"}
	if diff := cmp.Diff(want, d.XAxis[0].Data); diff != "" {
		t.Errorf("dates (-want +got):\n%s", diff)
	}
	if d.Tooltip.RenderMode != "richText" || d.Tooltip.Trigger != "axis" || d.Legend.Show {
		t.Errorf("tooltip %+v, legend %+v", d.Tooltip, d.Legend)
	}
}

func TestLinesIsDeterministicAndSafe(t *testing.T) {
	series := Series{Name: `</script><b>"Aktive"`, Points: []Point{known(1), known(2), known(3), {Value: 4, Known: true}}}
	first := lines(t, series, series)
	for range 20 {
		if again := lines(t, series, series); !bytes.Equal(first, again) {
			t.Fatal("the same input gave other bytes")
		}
	}
	for _, bad := range []string{"</script", "<b>", "__f__", "#5470c6"} {
		if bytes.Contains(first, []byte(bad)) {
			t.Errorf("the options hold %s", bad)
		}
	}
}

func TestLinesRefusesSeriesOfAnotherLength(t *testing.T) {
	_, err := Lines(Dates(dates), Series{Name: "Active", Points: []Point{known(1)}})
	if err == nil || !strings.Contains(err.Error(), `"Active" has 1 points for 4 places`) {
		t.Errorf("error %v", err)
	}
}

func TestBars(t *testing.T) {
	open := Point{Value: -4, Known: true}
	missing := Point{Known: true, Complete: true, Suspect: "no data"}
	options, err := Bars(Dates(dates),
		Series{Name: "New", Points: []Point{known(1), missing, known(3), {Value: 4, Known: true}}},
		Series{Name: "Dormant", Points: []Point{known(-1), known(-2), {}, open}})
	if err != nil {
		t.Fatal(err)
	}
	d := read(t, options)
	var got []string
	for i, s := range d.Series {
		got = append(got, s.Name+" "+s.Type+" "+s.Stack+": "+values(t, d, i))
	}
	want := []string{
		"New bar all: 1 0 3 -", "New bar all: - - - 4", "Dormant bar all: -1 -2 - -", "Dormant bar all: - - - -4", " line : - 0 - -",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if d.Series[1].ItemStyle.Opacity >= 1 || d.Series[4].Symbol != "triangle" || d.Series[4].Data[1].Name != "no data" {
		t.Errorf("the open bars and the marks are %+v, %+v", d.Series[1], d.Series[4])
	}
}

func TestThinLinesAreTold(t *testing.T) {
	d := read(t, lines(t, Series{Name: "A cohort", Thin: true, Points: []Point{known(1), known(2), known(3), {Value: 4, Known: true}}}))
	if d.Series[0].LineStyle.Width != 1 || d.Series[1].LineStyle.Width != 1 || d.Series[1].LineStyle.Type != "dashed" {
		t.Errorf("the line and its tail are %+v", d.Series)
	}
}

func TestCounts(t *testing.T) {
	words := func(s cohort.Suspicion) string { return strings.ToUpper(string(s)) }
	got := Counts("Active", []cohort.Point{{Date: dates[0], Count: 7, Complete: true, Suspect: cohort.Low}, {Date: dates[1], Suspect: cohort.Missing}}, words)
	want := Series{Name: "Active", Points: []Point{{7, true, true, "LOW"}, {0, false, false, "MISSING"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestEarlierDaysAreALineOfTheirOwn(t *testing.T) {
	earlier := []cohort.Day{dates[0] - 7, dates[1] - 7, dates[2] - 7, dates[3] - 7}
	now := Series{Name: "Active", Points: []Point{known(1), known(2), known(3), {Value: 4}}}
	before := Series{Name: "Before", Points: []Point{{Complete: true}, known(5), known(6), known(7)}, Earlier: earlier}
	d := read(t, lines(t, now, before))
	if len(d.Series) != 2 || d.Series[0].LineStyle.Color != "" || d.Series[1].LineStyle.Color != "grey" {
		t.Fatalf("the series are %+v", d.Series)
	}
	if got := values(t, d, 1); got != "- 5 6 7" {
		t.Errorf("the earlier line is %q", got)
	}
	for i, p := range d.Series[1].Data {
		if p.Name != earlier[i].String() {
			t.Errorf("point %d is about %q, want %s", i, p.Name, earlier[i])
		}
	}
	if _, err := Lines(Dates(dates), Series{Name: "A", Points: make([]Point, 4), Earlier: earlier[1:]}); err == nil {
		t.Error("a line with too few days is drawn")
	}
}

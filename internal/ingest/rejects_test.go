package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRejectLog(t *testing.T) {
	tests := []struct {
		name string
		most int64
		n    int
		want string
	}{
		{"none", 2, 0, ""},
		{"as many as fit", 2, 2, "f.csv:2: c: m\nf.csv:3: c: m\n"},
		{"more", 2, 5, "f.csv:2: c: m\nf.csv:3: c: m\n… and 3 more; all 5 by reason:\n       5 × c: m\n"},
		{"no limit", 0, 3, "f.csv:2: c: m\nf.csv:3: c: m\nf.csv:4: c: m\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			l := NewRejectLog(&b, tt.most)
			for i := range tt.n {
				if err := l.Write("f.csv", Reject{int64(i + 2), "c", "m"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRejectLogAddsUpByReason(t *testing.T) {
	var b strings.Builder
	l := NewRejectLog(&b, 1)
	for i := range 3 * mostReasons {
		why := Reject{int64(i + 2), "rare", fmt.Sprintf("row %d", i)}
		if i%3 > 0 {
			why = Reject{int64(i + 2), "common", "the same each time"}
		}
		if err := l.Write("f.csv", why); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if got, want := len(lines), 2+mostReasons+1; got != want {
		t.Fatalf("got %d lines, want the first reject, a heading, %d reasons and the others", got, mostReasons)
	}
	want := []string{"f.csv:2: rare: row 0", "… and 59 more; all 60 by reason:", "      40 × common: the same each time", "       1 × rare: row 0"}
	if diff := cmp.Diff(want, lines[:4]); diff != "" {
		t.Error(diff)
	}
	if last := lines[len(lines)-1]; last != "       1 × other reasons" {
		t.Errorf("the last line is %q", last)
	}
}

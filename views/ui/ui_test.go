package ui

import "testing"

func TestSparkPoints(t *testing.T) {
	tests := []struct {
		name   string
		values []int64
		want   string
	}{
		{"nothing", nil, ""},
		{"one value is no line", []int64{4}, ""},
		{"from the bottom to the top", []int64{0, 5, 10}, "0.0,22.0 50.0,12.0 100.0,2.0"},
		{"all the same lies at the bottom", []int64{7, 7}, "0.0,22.0 100.0,22.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sparkPoints(tt.values); got != tt.want {
				t.Errorf("sparkPoints(%v) = %q, want %q", tt.values, got, tt.want)
			}
		})
	}
}

func TestFieldDescribedBy(t *testing.T) {
	tests := []struct {
		name  string
		field Field
		want  string
	}{
		{"neither", Field{Name: "from"}, ""},
		{"a hint", Field{Name: "from", Hint: "h"}, "f-from-hint"},
		{"a problem", Field{Name: "from", Problem: "p"}, "f-from-problem"},
		{"both", Field{Name: "from", Hint: "h", Problem: "p"}, "f-from-hint f-from-problem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.field.describedBy(); got != tt.want {
				t.Errorf("describedBy() = %q, want %q", got, tt.want)
			}
		})
	}
}

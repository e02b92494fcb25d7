package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadingsOfAnID(t *testing.T) {
	for _, tt := range []struct {
		given string
		want  []string
	}{
		{"u-1", []string{"u-1"}},
		{" u-1\t", []string{" u-1\t", "u-1"}},
		{`"u-1",`, []string{`"u-1",`, "u-1"}},
		{"“u-1”", []string{"“u-1”", "u-1"}},
		{"‘u-1’；", []string{"‘u-1’；", "u-1"}},
		{"`u-1`\r\n", []string{"`u-1`\r\n", "u-1"}},
		{"\ufeffu-1\u200b", []string{"\ufeffu-1\u200b", "u-1"}},
		{"u 1", []string{"u 1"}},
		{`""`, []string{`""`}},
	} {
		if diff := cmp.Diff(tt.want, readings(tt.given)); diff != "" {
			t.Errorf("readings of %q (-want +got):\n%s", tt.given, diff)
		}
	}
}

func TestSeveralIDsInOneText(t *testing.T) {
	for _, tt := range []struct {
		given string
		want  []string
	}{
		{"a,b", []string{"a", "b"}},
		{"a, \"b\" ;c\n", []string{"a", "b", "c"}},
		{"a b c", []string{"a", "b", "c"}},
		{"a b, c d", []string{"a b", "c d"}},
		{"a,a,,a", []string{"a"}},
		{"甲、乙，丙", []string{"甲", "乙", "丙"}},
		{"a", []string{"a"}},
		{" , ", nil},
	} {
		if diff := cmp.Diff(tt.want, several(tt.given)); diff != "" {
			t.Errorf("IDs in %q (-want +got):\n%s", tt.given, diff)
		}
	}
}

func TestSimilarIDs(t *testing.T) {
	for _, tt := range []struct {
		id   string
		want []string
	}{
		{"U-1", []string{"u-1", "U1"}},
		{"007", []string{"7", "0007", "00007", "000007", "0000007", "00000007", "000000007", "0000000007", "00000000007", "000000000007"}},
		{"u 1", []string{"U 1", "u1"}},
		{"123e4567e89b12d3a456426614174000", []string{"123E4567E89B12D3A456426614174000", "123e4567-e89b-12d3-a456-426614174000"}},
		{"ｕ1", []string{"Ｕ1", "u1"}},
	} {
		if diff := cmp.Diff(tt.want, similar(tt.id)); diff != "" {
			t.Errorf("IDs like %q (-want +got):\n%s", tt.id, diff)
		}
	}
}

func TestInvisibleCharactersAreShown(t *testing.T) {
	if got, want := visible("a b\t\u200bc\x00é"), "a␣b␉⟨U+200B⟩c⟨U+0000⟩é"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

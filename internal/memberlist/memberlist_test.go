package memberlist_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
	"bitboard/internal/memberlist"
)

func written(t interface{ Fatal(...any) }, o memberlist.Options, batches ...[]string) string {
	var b bytes.Buffer
	w := memberlist.NewWriter(&b, o)
	for _, ids := range batches {
		var list cohort.IDList
		for _, id := range ids {
			list.Append(id)
		}
		if err := w.Write(&list); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestLists(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options memberlist.Options
		ids     []string
		want    string
	}{
		{"nobody", memberlist.Options{}, nil, "user_id\n"},
		{"plain", memberlist.Options{}, []string{"a", "7", "ü b"}, "user_id\na\n7\nü b\n"},
		{"what needs quotes", memberlist.Options{}, []string{`a,b`, `say "hi"`, "two\r\nlines", " blank"}, "user_id\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\r\nlines\"\n\" blank\"\n"},
		{"formulas as they are", memberlist.Options{}, []string{"=1+1", "-2"}, "user_id\n=1+1\n-2\n"},
		{"formulas made harmless", memberlist.Options{Safe: true}, []string{"=1+1", "-2", "@x", "a=b", "=a,b"}, "user_id\n'=1+1\n'-2\n'@x\na=b\n\"'=a,b\"\n"},
		{"for Excel", memberlist.Options{Mark: true}, []string{"a"}, "\ufeffuser_id\na\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, written(t, tt.options, tt.ids)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListsAreReadBackByteForByte(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		// The reader of encoding/csv turns \r\n into \n, within quotes too.
		id := rapid.StringMatching(`[a-c ,"'=\n\t]{1,6}`)
		first, second := rapid.SliceOf(id).Draw(r, "first"), rapid.SliceOf(id).Draw(r, "second")
		rows, err := csv.NewReader(strings.NewReader(written(r, memberlist.Options{}, first, second))).ReadAll()
		if err != nil {
			r.Fatal(err)
		}
		want := [][]string{{"user_id"}}
		for _, id := range append(first, second...) {
			want = append(want, []string{id})
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			r.Error(diff)
		}
	})
}

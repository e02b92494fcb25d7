package ingest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/fault"
	"bitboard/internal/ingest"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// table writes a file and returns its path.
func table(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ids.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func importIDs(t testing.TB, s *store.Store, text string) (ingest.PairSummary, error) {
	t.Helper()
	return ingest.ImportIDs(t.Context(), s, table(t, text), 10_000, nil)
}

func TestTablesOfIDs(t *testing.T) {
	tests := []struct {
		name, text string
		want       ingest.PairSummary
	}{
		{"CSV", "user_id,offset\na,5\nb,3\n", ingest.PairSummary{Pairs: 2, New: 2}},
		{"other columns, any order", "name,offset,user_id\nAda,5,a\n\"B, b\",3,b\n", ingest.PairSummary{Pairs: 2, New: 2}},
		{"gzip", zipped(t, "user_id,offset\na,5\nb,3\n"), ingest.PairSummary{Pairs: 2, New: 2}},
		{"NDJSON", `{"user_id":"a","offset":5}` + "\n" + `{"offset":"3","user_id":"b"}` + "\n", ingest.PairSummary{Pairs: 2, New: 2}},
		{"the same pair again", "user_id,offset\na,5\na,5\nb,3\na,5\n", ingest.PairSummary{Pairs: 4, New: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := storetest.Open(t)
			got, err := importIDs(t, s, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			offsets, err := s.Assign(t.Context(), []string{"a", "b", "c"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]uint32{5, 3, 6}, offsets); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTableWithoutRows(t *testing.T) {
	got, err := importIDs(t, storetest.Open(t), "user_id,offset\n")
	if err != nil || got != (ingest.PairSummary{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTablesThatAreRefusedAsAWhole(t *testing.T) {
	tests := []struct{ name, text, says string }{
		{"no columns", "id,number\na,5\n", "lacks the column user_id, offset"},
		{"no offset", "user_id,Offset\na,5\n", "lacks the column offset"},
		{"an ID with two offsets", "user_id,offset\na,5\nb,6\na,7\n", `line 4: the user ID "a" has offset 7, but offset 5 on line 2`},
		{"an offset with two IDs", "user_id,offset\na,5\nb,6\nc,5\n", `line 4: the user ID "c" has offset 5, but so has "a" on line 2`},
		{"a clash among repeated pairs", "user_id,offset\na,5\na,5\nb,5\nb,5\n", `line 4: the user ID "b" has offset 5, but so has "a" on line 3`},
		{"an ID of the store", "user_id,offset\na,5\nold,6\n", `line 3: the user ID "old" cannot have offset 6: the store gave it offset 0`},
		{"an offset of the store", "user_id,offset\na,5\nb,0\n", `line 3: the user ID "b" cannot have offset 0: the store holds it for the user ID "old"`},
		{"an empty ID", "user_id,offset\na,5\n,6\n", "line 3: the user ID is empty"},
		{"a NUL", "user_id,offset\na,5\nb\x00,6\n", `line 3: the user ID "b\x00" holds a NUL byte`},
		{"no number", "user_id,offset\na,5\nb,\n", `line 3: the offset "" of the user ID "b" is not accepted; give a decimal integer from 0 to 10000`},
		{"a leading zero", "user_id,offset\na,5\nb,06\n", `line 3: the offset "06" of`},
		{"a sign", "user_id,offset\na,5\nb,+6\n", `line 3: the offset "+6" of`},
		{"a fraction", "user_id,offset\na,5\nb,6.0\n", `line 3: the offset "6.0" of`},
		{"above the highest", "user_id,offset\na,5\nb,10001\n", `line 3: the offset "10001" of`},
		{"above 32 bits", "user_id,offset\na,5\nb,4294967296\n", `line 3: the offset "4294967296" of`},
		{"a stray quote", "user_id,offset\na,5\n\"b\"x,6\n", "line 3: a quoted field goes on after its closing quote"},
		{"a nested offset", `{"user_id":"a","offset":5}` + "\n" + `{"user_id":"b","offset":[6]}`, "line 2: offset is \"[6]\"; give a string or a number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := storetest.Open(t)
			if _, err := s.Assign(t.Context(), []string{"old"}); err != nil {
				t.Fatal(err)
			}
			_, err := importIDs(t, s, tt.text)
			if f := fault.As(err); f == nil || !strings.Contains(f.Message, tt.says) {
				t.Fatalf("got %v, want %s", err, tt.says)
			}
			ids, err := s.IDs(t.Context(), []uint32{0, 5, 6})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"old", "", ""}, ids); diff != "" {
				t.Errorf("something was written: %s", diff)
			}
			if next, err := s.Assign(t.Context(), []string{"next"}); err != nil || next[0] != 1 {
				t.Errorf("the next ID has offset %v, %v; want 1", next, err)
			}
		})
	}
}

func TestTableOfSeveralBatchesInAnyOrder(t *testing.T) {
	const n = 9973 // a prime, so that every offset comes once
	s := storetest.Open(t)
	var b strings.Builder
	b.WriteString("offset,user_id\n")
	for i := range n {
		offset := i * 7 % n
		fmt.Fprintf(&b, "%d,user-%d\n", offset, offset)
	}
	for round, fresh := range []int64{n, 0} {
		got, err := importIDs(t, s, b.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ingest.PairSummary{Pairs: n, New: fresh}, got); diff != "" {
			t.Errorf("round %d: %s", round, diff)
		}
	}
	offsets, err := s.Assign(t.Context(), []string{"user-0", "user-9972", "user-4321", "another"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{0, 9972, 4321, n}, offsets); diff != "" {
		t.Error(diff)
	}
}

func TestTableThatIsNoRegularFile(t *testing.T) {
	for path, says := range map[string]string{
		filepath.Join(t.TempDir(), "none"): "does not exist",
		os.DevNull:                         "is no regular file",
		t.TempDir():                        "is no regular file",
	} {
		_, err := ingest.ImportIDs(t.Context(), storetest.Open(t), path, 10, nil)
		if f := fault.As(err); f == nil || !strings.Contains(f.Message, says) {
			t.Errorf("%s: got %v, want %s", path, err, says)
		}
	}
}

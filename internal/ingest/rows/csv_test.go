package rows

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// FuzzCSV holds the reader against encoding/csv, where that one accepts the
// input and keeps its bytes.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b,c\n", "\"a\"\"b\",\"c\nd\",e\n\nf,g", "\"\",,\n,\n", "a\"b,c\n", "\"a\nb,c,d\n\"e\",f,g"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := readAll(t, strings.NewReader(head+body))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(body, "\r") {
			return
		}
		std := stdcsv.NewReader(strings.NewReader(head + body))
		std.FieldsPerRecord = -1
		want, err := std.ReadAll()
		if err != nil {
			return
		}
		if diff := cmp.Diff(reference(want[1:]), withoutLines(got)); diff != "" {
			t.Error(diff)
		}
	})
}

// reference makes rows of the columns user_id, event and day of records.
func reference(records [][]string) []read {
	var all []read
	for _, r := range records {
		if len(r) > 3 {
			all = append(all, read{Code: "too_many_fields"})
			continue
		}
		r = append(r, "", "")
		all = append(all, read{UserID: r[0], Event: r[1], Day: r[2]})
	}
	return all
}

func withoutLines(rows []read) []read {
	for i := range rows {
		rows[i].Line = 0
	}
	return rows
}

// FuzzNDJSON holds the JSON reader against encoding/json.
func FuzzNDJSON(f *testing.F) {
	for _, s := range []string{`{"user_id":"a","x":[1,{"y":"\\"}]}`, `{"user_id":1e3}`, `{"user_id":"\ud83d\ude00\u0041"}`, `{"user_id":"a","user_id":null}`, `{"a":"\ud83d"}`, `{}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		row := Object(1, line)
		var want map[string]json.RawMessage
		err := json.Unmarshal(line, &want)
		valid := err == nil && want != nil && utf8.Valid(line)
		if rejected := row.Fault != nil && (row.Fault.Code == "bad_json" || row.Fault.Code == "bad_utf8"); rejected == valid {
			t.Fatalf("%q: fault %v, encoding/json says %v", line, row.Fault, err)
		}
		if row.Fault == nil {
			checkUserID(t, row.UserID, want[UserID])
		}
	})
}

// checkUserID compares an ID with the JSON value that it was read from.
func checkUserID(t *testing.T, got []byte, raw json.RawMessage) {
	t.Helper()
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		if len(got) > 0 {
			t.Errorf("got %q without a user_id", got)
		}
	case raw[0] != '"':
		if !bytes.Equal(got, raw) {
			t.Errorf("got %q of the number %s", got, raw)
		}
	case json.Unmarshal(raw, &s) != nil || s != string(got):
		t.Errorf("got %q of %s, want %q", got, raw, s)
	}
}

// repeated gives the same byte over and over, then a text.
type repeated struct {
	b    byte
	left int64
	then io.Reader
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return r.then.Read(p)
	}
	n := int(min(int64(len(p)), r.left))
	for i := range n {
		p[i] = r.b
	}
	r.left -= int64(n)
	return n, nil
}

func TestLongLinesTakeBoundedMemory(t *testing.T) {
	const size = 64 << 20
	tests := []struct{ name, before, after string }{
		{"CSV", head, "\nb,login,2026-03-01\n"},
		{"CSV in quotes", head + `"`, "\nb,login,2026-03-01\n"},
		{"NDJSON", "{}\n{\"user_id\":\"", "\"}\n" + `{"user_id":"b","event":"login","day":"2026-03-01"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := readAll(t, io.MultiReader(strings.NewReader(tt.before), &repeated{'x', size, strings.NewReader(tt.after)}))
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 4*largestBuffer {
				t.Errorf("allocated %d bytes to read a line of %d", used, size)
			}
			if diff := cmp.Diff([]read{{Line: 2, Code: "line_too_long"}, day(3, "b")}, got[len(got)-2:]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadingAllocatesNothingPerRow(t *testing.T) {
	tests := []struct{ name, first, row string }{
		{"CSV", head, "a,login,2026-03-01\n"},
		{"CSV with quotes", head, "\"a\"\"b\",login,\"2026-03-01\"\n"},
		{"NDJSON", "{}\n", `{"user_id":"a\n","event":"login","day":"2026-03-01","x":1}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Open("log", strings.NewReader(tt.first+strings.Repeat(tt.row, 3000)), blockBytes)
			if err != nil {
				t.Fatal(err)
			}
			var b Block
			if err := s.Next(&b); err != nil {
				t.Fatal(err)
			}
			var p Parser
			var row Row
			p.Reset(&b)
			if n := testing.AllocsPerRun(1000, func() { p.Next(&row) }); n > 0 {
				t.Errorf("%v allocations a row", n)
			}
			if row.Fault != nil || len(row.UserID) == 0 {
				t.Errorf("last row %+v", row)
			}
		})
	}
}

func BenchmarkRows(b *testing.B) {
	tests := []struct{ name, first, row string }{
		{"CSV", "user_id,event,timestamp\n", "user-00123456789,login,2026-03-01T10:20:30Z\n"},
		{"CSV with quotes", "user_id,event,timestamp\n", "\"user-00123456789\",\"login\",\"2026-03-01T10:20:30Z\"\n"},
		{"NDJSON", "", `{"user_id":"user-00123456789","event":"login","timestamp":"2026-03-01T10:20:30Z"}` + "\n"},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(tt.row, 10_000))
			b.SetBytes(int64(len(tt.row)))
			s, err := Open("log", io.MultiReader(strings.NewReader(tt.first), &cycle{chunk: chunk}), blockBytes)
			if err != nil {
				b.Fatal(err)
			}
			var block Block
			var p Parser
			p.Reset(&block)
			var row Row
			for b.Loop() {
				for !p.Next(&row) {
					if err := s.Next(&block); err != nil {
						b.Fatal(err)
					}
					p.Reset(&block)
				}
				if row.Fault != nil {
					b.Fatal(row.Fault)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// cycle gives a chunk over and over.
type cycle struct {
	chunk []byte
	at    int
}

func (c *cycle) Read(p []byte) (int, error) {
	n := copy(p, c.chunk[c.at:])
	c.at = (c.at + n) % len(c.chunk)
	return n, nil
}

// What rows a source holds does not depend on where it is cut.
func TestBlocksOfAnySize(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"a,login,2026-03-01", "\"", "\"\"", ",", "\n", "\r\n", "\n\n", "\"a\",login,\"2026-03-01\"\n", "\"one\ntwo\",login,2026-03-01\r\n",
		"\"open,login\n", "\"a\"x,login,\n", "5\" a,login\n", "\xff", " ", "{}", `{"user_id":"a\n"}`, strings.Repeat("b,login,2026-03-01\n", 20),
	})
	rapid.Check(t, func(rt *rapid.T) {
		first := rapid.SampledFrom([]string{head, "\ufeff" + head, "\n\r\nuser_id,event,day,\"a\nb\"\r\n", "{}\n"}).Draw(rt, "first line")
		text := first + strings.Join(rapid.SliceOf(part).Draw(rt, "parts"), "")
		want, wantErr := readBlocks(t, strings.NewReader(text), 1<<20)
		got, gotErr := readBlocks(t, iotest.HalfReader(strings.NewReader(text)), rapid.IntRange(1, 100).Draw(rt, "size"))
		if (wantErr == nil) != (gotErr == nil) {
			rt.Fatalf("got error %v, want %v", gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Error(diff)
		}
	})
}

package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
)

func TestRejectedRows(t *testing.T) {
	b := newBench(t)
	rows := []struct{ row, code string }{
		{"u1,login,2026-03-01T10:00:00Z,", ""},
		{"u2,unheard_of,2026-03-01T10:00:00Z,", "unknown_event"},
		{"u3,login,2026-02-30T10:00:00Z,", "bad_timestamp"},
		{"u4,login,2026-03-01 10:00:00,", "bad_timestamp"},
		{",login,2026-03-01T10:00:00Z,", "bad_user_id"},
		{`"",login,2026-03-01T10:00:00Z,`, "bad_user_id"},
		{"u5,login,2026-03-01,", "bad_timestamp"},
		{"u6,login,,", "missing_day"},
		{"u6,login", "missing_day"},
		{"u7,login,2026-03-02T00:00:00+02:00,", ""},
		{"u8,,,2026-03-01", "missing_event"},
		{"u9,login,,2026-02-29", "bad_day"},
		{"ua,login,,02.03.2026", "bad_day"},
		{"ub,login,,2026-03-01 ", "bad_day"},
		{"uc,login,nonsense,2026-03-01", ""},
		{"ud,login,2026-03-01T10:00:00Z,nonsense", "bad_day"},
		{"ue,login,0001-01-01T00:00:00+01:00,", "bad_timestamp"},
		{"uf,played,,2026-02-07", "too_old"},
		{"ug,played,,2026-02-08", ""},
		{"uh,login,,2020-01-01", ""},
		{strings.Repeat("x", 257) + ",login,,2026-03-01", "bad_user_id"},
		{"\xff,login,,2026-03-01", "bad_user_id"},
		{"a\x00b,login,,2026-03-01", "bad_user_id"},
		{"ui,login,,2026-03-01,more", "too_many_fields"},
	}
	content, want := "user_id,event,timestamp,day\n", []refusal(nil)
	for i, r := range rows {
		content += r.row + "\n"
		if r.code != "" {
			want = append(want, refusal{int64(i + 2), r.code})
		}
	}
	summary, refused := b.load(t, Options{}, content)
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Summary{Rows: 24, Accepted: 5, Rejected: 19, UsersNew: 5, BitsNew: 8}, summary); diff != "" {
		t.Error(diff)
	}
	b.has(t, on("active", "2026-03-01"), "u1 u7 uc")
	b.has(t, on("signed_in", "2026-02-08"), "ug")
	b.has(t, on("active", "2020-01-01"), "uh")
	b.has(t, on("signed_in", "2020-01-01"), "")
	b.has(t, cohort.Known(), "u1 u7 uc ug uh")
}

func TestEventsAndTheirMetrics(t *testing.T) {
	const day = "2026-03-01"
	tests := []struct {
		name   string
		config map[string][]string
		added  map[string][]string
		event  string
		want   []cohort.Bitmap // nil for a rejected row
	}{
		{"a named event", events, nil, "login", []cohort.Bitmap{on("active", day), on("signed_in", day)}},
		{"a flag and a day", events, nil, "activate", []cohort.Bitmap{cohort.Flag("activated"), on("active", day)}},
		{"a named event beats the metric of its name", events, nil, "played", []cohort.Bitmap{on("signed_in", day)}},
		{"a metric's own name", events, nil, "active", []cohort.Bitmap{on("active", day)}},
		{"a flag's own name", events, nil, "activated", []cohort.Bitmap{cohort.Flag("activated")}},
		{"a presence metric is marked on the day", events, nil, "online", []cohort.Bitmap{on("online", day)}},
		{"an unknown event", events, nil, "other", nil},
		{"case counts", events, nil, "Login", nil},
		{"any other event", map[string][]string{"*": {"active"}}, nil, "other thing", []cohort.Bitmap{on("active", day)}},
		{"a metric's own name beats any other", map[string][]string{"*": {"active"}}, nil, "played", []cohort.Bitmap{on("played", day)}},
		{"an added event", events, map[string][]string{"other": {"played", "activated"}}, "other", []cohort.Bitmap{on("played", day), cohort.Flag("activated")}},
		{"an added event goes before the configuration's", events, map[string][]string{"login": {"played"}}, "login", []cohort.Bitmap{on("played", day)}},
		{"an added event for any other", events, map[string][]string{"*": {"played"}}, "other", []cohort.Bitmap{on("played", day)}},
	}
	all := []cohort.Bitmap{on("active", day), on("signed_in", day), on("played", day), on("online", day), cohort.Flag("activated")}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, func(c *Config, _ *store.Config) { c.Events = tt.config })
			_, refused := b.load(t, Options{Events: tt.added}, "user_id,event,day\nu,"+tt.event+","+day+"\n")
			if (len(refused) == 0) != (tt.want != nil) {
				t.Errorf("rejected %v", refused)
			}
			var got []cohort.Bitmap
			for _, of := range all {
				if len(b.users(t, of)) > 0 {
					got = append(got, of)
				}
			}
			if diff := cmp.Diff(inOrder(all, tt.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// inOrder returns those of some bitmaps that are wanted.
func inOrder(all, want []cohort.Bitmap) []cohort.Bitmap {
	var some []cohort.Bitmap
	for _, b := range all {
		for _, w := range want {
			if b == w {
				some = append(some, b)
			}
		}
	}
	return some
}

func TestAddedEventsMustMarkMetrics(t *testing.T) {
	b := newBench(t)
	_, _, err := b.run(t, Options{Events: map[string][]string{"x": {"nope"}}}, text("a.csv", "user_id,event,day\n"))
	if f := fault.As(err); f == nil || f.Code != "unknown_metric" || !strings.Contains(f.Message, "nope") {
		t.Errorf("got %v", err)
	}
}

func TestDaysAreThoseOfTheWorkspace(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *Config, sc *store.Config) {
		c.Workspace.Zone, sc.Zone, sc.Location = berlin, "Europe/Berlin", berlin
	})
	b.load(t, Options{}, `user_id,event,timestamp
before,active,2026-03-28T22:59:59Z
start,active,2026-03-28T23:00:00Z
end,active,2026-03-29T21:59:59Z
after,active,2026-03-29T22:00:00Z
own,active,2026-03-29T23:59:59+02:00
`)
	b.has(t, on("active", "2026-03-28"), "before")
	b.has(t, on("active", "2026-03-29"), "start end own")
	b.has(t, on("active", "2026-03-30"), "after")
}

func TestSourcesOfSeveralForms(t *testing.T) {
	b := newBench(t)
	summary, refused, err := b.run(t, Options{},
		text("a.csv", "user_id,event,day\nf1,login,2026-03-06\n"),
		text("b.ndjson", `{"user_id": 7, "event": "login", "day": "2026-03-06"}`),
		text("c", zipped(t, "user_id,event,day\r\nf3,login,2026-03-06\r\n")),
		text("empty", ""),
		text("header.csv", "user_id,event,day\n"),
	)
	if err != nil || len(refused) > 0 {
		t.Fatal(err, refused)
	}
	if diff := cmp.Diff(Summary{Rows: 3, Accepted: 3, UsersNew: 3, BitsNew: 6}, summary); diff != "" {
		t.Error(diff)
	}
	b.has(t, on("active", "2026-03-06"), "f1 7 f3")
}

func TestIDsAreKeptByteForByte(t *testing.T) {
	ids := []string{"7", "007", "+7", " 7", "7 ", "7.0", "1e3", "Ä", "A\u0308", "say \"hi\"", ",", "one\r\ntwo", "one\ntwo", "tab\t", "\ufeffbom", "=1+1", "😀", strings.Repeat("x", 256)}
	b := newBench(t)
	csv, ndjson := "user_id,event,day\n", ""
	for _, id := range ids {
		csv += `"` + strings.ReplaceAll(id, `"`, `""`) + "\",login,2026-03-01\n"
		ndjson += fmt.Sprintf(`{"user_id":%s,"event":"login","day":"2026-03-02"}`+"\n", quoteJSON(id))
	}
	summary, refused := b.load(t, Options{}, csv)
	if summary.UsersNew != int64(len(ids)) || len(refused) > 0 {
		t.Errorf("CSV: %+v, rejected %v", summary, refused)
	}
	summary, refused = b.load(t, Options{}, ndjson)
	if summary.UsersNew != 0 || len(refused) > 0 {
		t.Errorf("NDJSON: %+v, rejected %v", summary, refused)
	}
	for _, day := range []string{"2026-03-01", "2026-03-02"} {
		if diff := cmp.Diff(ids, b.users(t, on("active", day))); diff != "" {
			t.Errorf("%s: %s", day, diff)
		}
	}
}

// quoteJSON writes a string with escapes for all that needs none too.
func quoteJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r > 0xffff {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\u%04X`, r)
	}
	b.WriteByte('"')
	return b.String()
}

func TestDenseIDs(t *testing.T) {
	b := newBench(t, func(c *Config, sc *store.Config) {
		c.Dense, sc.Dense = true, true
		c.MaxOffset, sc.MaxOffset = 1_000_000, 1_000_000
	})
	summary, refused := b.load(t, Options{}, "user_id,event,day\n0,login,2026-03-01\n123456,login,2026-03-01\n007,login,2026-03-01\n+7,login,2026-03-01\n1e3,login,2026-03-01\n1000001,login,2026-03-01\n7,login,2026-03-01\n")
	if diff := cmp.Diff([]refusal{{4, "bad_user_id"}, {5, "bad_user_id"}, {6, "bad_user_id"}, {7, "offset_too_high"}}, refused); diff != "" {
		t.Error(diff)
	}
	if summary.UsersNew != 3 {
		t.Errorf("got %+v", summary)
	}
	b.has(t, on("active", "2026-03-01"), "0 7 123456")
}

// log returns a CSV file of n rows.
func log(n int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString("user_id,event,day\n")
	for i := range n {
		b.WriteString(row(i))
	}
	return b.String()
}

func TestMergeTwiceGivesTheSame(t *testing.T) {
	b := newBench(t)
	content := log(3000, func(i int) string { return fmt.Sprintf("u%d,login,2026-03-%02d\n", i*7%500, 1+i%9) })
	first, _ := b.load(t, Options{}, content)
	want := b.users(t, on("active", "2026-03-04"))
	second, _ := b.load(t, Options{}, zipped(t, content))
	if first.UsersNew != 500 || first.BitsNew == 0 {
		t.Errorf("first %+v", first)
	}
	if diff := cmp.Diff(Summary{Rows: 3000, Accepted: 3000}, second); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, b.users(t, on("active", "2026-03-04"))); diff != "" {
		t.Error(diff)
	}
}

func TestMemoryLimitChangesNothing(t *testing.T) {
	content := log(3*stepRows, func(i int) string { return fmt.Sprintf("u%d,login,2026-03-%02d\n", i%20_000, 1+i%5) })
	for _, mode := range []Mode{Merge, Replace} {
		b := newBench(t)
		b.memoryLimit = 1
		summary, _ := b.load(t, Options{Mode: mode, Verify: true}, content)
		want := Summary{Rows: 3 * stepRows, Accepted: 3 * stepRows, UsersNew: 20_000, BitsNew: 40_000}
		if diff := cmp.Diff(want, summary); diff != "" {
			t.Errorf("mode %d: %s", mode, diff)
		}
		if n := len(b.users(t, on("active", "2026-03-02"))); n != 4_000 {
			t.Errorf("mode %d: %d users on a day, want 4000", mode, n)
		}
	}
}

const oldDays = "user_id,event,day\na,login,2026-03-01\nb,login,2026-03-01\nc,login,2026-03-01\na,login,2026-03-02\nb,login,2026-03-02\nd,login,2026-03-02\n"

// oldDaysStand fails the test when anything of oldDays has changed.
func (b bench) oldDaysStand(t testing.TB) {
	t.Helper()
	b.has(t, on("active", "2026-03-01"), "a b c")
	b.has(t, on("signed_in", "2026-03-01"), "a b c")
	b.has(t, on("active", "2026-03-02"), "a b d")
}

func TestReplace(t *testing.T) {
	b := newBench(t)
	b.load(t, Options{}, oldDays)
	summary, _ := b.load(t, Options{Mode: Replace, Verify: true}, "user_id,event,day\nb,login,2026-03-02\nx,login,2026-03-02\nx,activate,2026-03-03\n,login,2026-03-01\ny,nope,2026-03-01\n")
	if summary.Accepted != 3 || summary.UsersNew != 1 {
		t.Errorf("got %+v", summary)
	}
	b.has(t, on("active", "2026-03-01"), "a b c")
	b.has(t, on("active", "2026-03-02"), "b x")
	b.has(t, on("signed_in", "2026-03-02"), "b x")
	b.has(t, cohort.Flag("activated"), "x")
	b.load(t, Options{Mode: Replace}, "user_id,event,day\na,activate,2026-03-03\n")
	b.has(t, cohort.Flag("activated"), "a x")
}

func TestReplaceThatFailsChangesNothing(t *testing.T) {
	good := text("good.csv", "user_id,event,day\nx,login,2026-03-02\nnew,login,2026-03-01\n")
	cut := zipped(t, "user_id,event,day\n"+strings.Repeat("y,login,2026-03-01\n", 1000))
	gone := errors.New("gone")
	tests := []struct {
		name    string
		sources []Source
		reject  error
	}{
		{"cut gzip", []Source{good, text("cut.gz", cut[:len(cut)-20])}, nil},
		{"a file without the columns", []Source{good, text("bad.csv", "a,b\n1,2\n")}, nil},
		{"a file that went away", []Source{good, {Name: "x", Open: func() (io.ReadCloser, error) { return nil, gone }}}, nil},
		{"rejects that cannot be written", []Source{good, text("bad.ndjson", "{}\n")}, gone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.memoryLimit = 1
			b.load(t, Options{}, oldDays)
			_, err := b.Import(t.Context(), Options{Mode: Replace, Force: true, Today: today}, tt.sources,
				Observer{Reject: func(string, Reject) error { return tt.reject }})
			if err == nil {
				t.Fatal("the import succeeded")
			}
			b.oldDaysStand(t)
			b.load(t, Options{Mode: Replace, Force: true}, "user_id,event,day\nz,login,2026-03-01\n")
			b.has(t, on("active", "2026-03-01"), "z")
		})
	}
}

func TestCancelledReplaceChangesNothing(t *testing.T) {
	b := newBench(t)
	b.load(t, Options{}, oldDays)
	ctx, cancel := context.WithCancel(t.Context())
	content := "user_id,event,day\n" + strings.Repeat("x,login,2026-03-01\n", 2*stepRows)
	_, err := b.Import(ctx, Options{Mode: Replace, Today: today}, []Source{text("a.csv", content)}, Observer{Progress: func(Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.oldDaysStand(t)
}

func TestCancellingEndsAReadThatWaits(t *testing.T) {
	b := newBench(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	sources, err := Files([]string{"-"}, r)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Import(ctx, Options{Today: today}, sources, Observer{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestMergeThatFailsIsCompletedByARerun(t *testing.T) {
	b := newBench(t)
	b.memoryLimit = 1
	packed := zipped(t, log(2*stepRows, func(i int) string { return fmt.Sprintf("u%d,login,2026-03-01\n", i%1000) }))
	if _, _, err := b.run(t, Options{}, text("cut.gz", packed[:len(packed)-9])); !errors.Is(err, fault.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
	if n := len(b.users(t, on("active", "2026-03-01"))); n != 1000 {
		t.Errorf("%d users were written before the failure", n)
	}
	summary, _ := b.load(t, Options{}, packed)
	if diff := cmp.Diff(Summary{Rows: 2 * stepRows, Accepted: 2 * stepRows}, summary); diff != "" {
		t.Error(diff)
	}
}

func TestAFailingStoreEndsTheImport(t *testing.T) {
	b := newBench(t)
	away := fault.Unavailable(nil, "the store is away")
	b.config.Store = broken{b.store, away}
	_, _, err := b.run(t, Options{}, text("a.csv", "user_id,event,day\na,login,2026-03-01\n"))
	if !errors.Is(err, fault.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestVerifyFindsALostMark(t *testing.T) {
	b := newBench(t)
	b.config.Store = forgetful{b.store}
	_, _, err := b.run(t, Options{Verify: true}, text("a.csv", "user_id,event,day\na,active,2026-03-01\nb,active,2026-03-01\n"))
	if f := fault.As(err); f == nil || f.Code != "not_verified" || !strings.Contains(f.Message, "active@2026-03-01") {
		t.Errorf("got %v", err)
	}
}

func TestProgress(t *testing.T) {
	b := newBench(t)
	const n = 4*stepRows + 1
	content := "user_id,event,day\n" + strings.Repeat("x,login,2026-03-01\n", n)
	var seen []Progress
	_, err := b.Import(t.Context(), Options{Today: today, Verify: true}, []Source{text("a.csv", content)}, Observer{Progress: func(p Progress) { seen = append(seen, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 4 || seen[0].Rows < stepRows || seen[0].Rows > 2*stepRows {
		t.Errorf("got %+v, want a report about every %d rows", seen, stepRows)
	}
	size := int64(len(content))
	want := []Progress{{Reading, n, size, size}, {Writing, n, size, size}, {Checking, n, size, size}}
	if diff := cmp.Diff(want, seen[len(seen)-3:]); diff != "" {
		t.Error(diff)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.csv")
	if err := os.WriteFile(path, []byte("user_id,event,day\na,login,2026-03-01\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("a file and the standard input", func(t *testing.T) {
		stdin, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		sources, err := Files([]string{path, "-"}, stdin)
		if err != nil {
			t.Fatal(err)
		}
		summary, _, err := newBench(t).run(t, Options{}, sources...)
		if err != nil || summary.Rows != 2 || summary.UsersNew != 1 {
			t.Errorf("got %+v, %v", summary, err)
		}
	})
	tests := []struct {
		name  string
		paths []string
		kind  error
		says  string
	}{
		{"a missing file", []string{path, filepath.Join(dir, "missing.csv")}, fault.ErrNotFound, "missing.csv does not exist"},
		{"a directory", []string{dir}, fault.ErrInvalid, "is a directory"},
		{"a path through a file", []string{filepath.Join(path, "x")}, fault.ErrInvalid, "not a directory"},
		{"the standard input twice", []string{"-", "-"}, fault.ErrInvalid, "once"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Files(tt.paths, nil)
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

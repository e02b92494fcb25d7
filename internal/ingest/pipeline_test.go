package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
)

// outcome is all that an import leaves behind.
type outcome struct {
	Summary Summary
	Refused []refusal
	Failed  bool
	Users   map[string][]string
}

// outcomeOf imports a text into an empty store.
func outcomeOf(t *testing.T, content string, readers, blockBytes int) outcome {
	t.Helper()
	b := newBench(t)
	b.readers, b.blockBytes = readers, blockBytes
	summary, refused, err := b.run(t, Options{Today: today, Verify: true}, text("log", content))
	o := outcome{summary, refused, err != nil, map[string][]string{}}
	for _, of := range []cohort.Bitmap{on("active", "2026-03-01"), on("active", "2026-03-02"), on("signed_in", "2026-03-01"), cohort.Flag("activated"), cohort.Known()} {
		o.Users[describe(of)] = b.users(t, of)
	}
	return o
}

// How many readers there are, and where a source is cut, changes nothing: not
// the summary, nor the rejects and their order, nor what is stored.
func TestReadersAndBlocksChangeNothing(t *testing.T) {
	csv := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\r\n", "u1,nope,2026-03-01\n", ",login,2026-03-01\n", "\"open,login\n", "\"x\"y,login,\n", "u\xff,login,2026-03-01\n", "\"one\ntwo\",login,2026-03-02\r\n", "\"q\"\"1\",\"login\",\"2026-03-01\"\n", "u2,login,2026-03-01,more\n"}),
		rapid.Map(rapid.IntRange(0, 30), func(n int) string { return fmt.Sprintf("u%d,login,2026-03-%02d\n", n, 1+n%2) }),
		rapid.Map(rapid.IntRange(0, 30), func(n int) string { return fmt.Sprintf("u%d,activate,2026-03-01\r\n", n) }),
	)
	ndjson := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "{}\n", "[1]\n", "{\"user_id\":\n", `{"user_id":"a\n","event":"login","day":"2026-03-01"}` + "\r\n"}),
		rapid.Map(rapid.IntRange(0, 30), func(n int) string {
			return fmt.Sprintf(`{"user_id":%d,"event":"login","day":"2026-03-%02d"}`+"\n", n, 1+n%2)
		}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		first, line := "user_id,event,day\n", csv
		if rapid.Bool().Draw(rt, "NDJSON") {
			first, line = "{}\n", ndjson
		}
		content := first + strings.Join(rapid.SliceOfN(line, 0, 60).Draw(rt, "lines"), "")
		if rapid.Bool().Draw(rt, "mark") {
			content = string("\ufeff") + content
		}
		if rapid.Bool().Draw(rt, "gzip") {
			content = zipped(t, content)
			content = content[:len(content)-rapid.SampledFrom([]int{0, 0, 3}).Draw(rt, "cut")]
		}
		want := outcomeOf(t, content, 1, defaultBlockBytes)
		got := outcomeOf(t, content, rapid.IntRange(2, 4).Draw(rt, "readers"), rapid.IntRange(1, 200).Draw(rt, "block bytes"))
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Error(diff)
		}
	})
}

// endless gives rows of ever new users until it is closed.
type endless struct {
	n      int
	closed chan struct{}
	id     string // the form of the IDs
}

func (e *endless) Read(p []byte) (int, error) {
	select {
	case <-e.closed:
		return 0, io.ErrClosedPipe
	default:
	}
	if e.n == 0 {
		e.n++
		return copy(p, "user_id,event,day\n"), nil
	}
	var rows bytes.Buffer
	for rows.Len()+64 < len(p) && rows.Len() < 1<<16 { // whole rows only
		e.n++
		fmt.Fprintf(&rows, e.id+",login,2026-03-01\n", e.n)
	}
	return copy(p, rows.Bytes()), nil
}

func (e *endless) Close() error {
	select {
	case <-e.closed:
	default:
		close(e.closed)
	}
	return nil
}

// An import that fails leaves nothing running: neither its readers nor the
// requests to the store.
func TestAFailureEndsReadingAndAsking(t *testing.T) {
	full := errors.New("disk full")
	b := newBench(t)
	src := &endless{closed: make(chan struct{}), id: "u%d"}
	source := Source{Name: "log", Open: func() (io.ReadCloser, error) { return src, nil }}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := b.Import(ctx, Options{Today: today}, []Source{source, text("b", "x")}, Observer{Progress: func(Progress) { cancel(full) }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case <-src.closed:
	default:
		t.Error("the source is still open")
	}
}

func TestIDTable(t *testing.T) {
	table := newIDTable()
	id := func(i int) []byte { return fmt.Appendf(nil, "%s%d", strings.Repeat("x", i%250), i) }
	const n = 3 * firstSlots
	done := make(chan struct{})
	go func() { // looks up what is being added
		defer close(done)
		for i := range n {
			if number, ok := table.find(hashID(id(i)), id(i)); ok && number != uint32(i) {
				t.Errorf("%d is %d while it is added", i, number)
			}
		}
	}()
	for i := range n {
		table.add(hashID(id(i)), id(i), uint32(i))
	}
	<-done
	for i := range n {
		if number, ok := table.find(hashID(id(i)), id(i)); !ok || number != uint32(i) {
			t.Fatalf("%d is %d, %v", i, number, ok)
		}
	}
	// A hash that belongs to another ID finds nothing.
	if number, ok := table.find(hashID(id(7)), id(8)); ok {
		t.Errorf("another ID's hash gave %d", number)
	}
	table.clear()
	if _, ok := table.find(hashID(id(7)), id(7)); ok {
		t.Error("an ID was found after clear")
	}
}

func TestDenseOffsetsLikeTheStore(t *testing.T) {
	const highest = 3_435_973_836
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(
			rapid.StringMatching(`[0-9+ -]{0,11}`),
			rapid.Map(rapid.Uint64Range(highest-2, highest+2), func(n uint64) string { return fmt.Sprint(n) }),
		).Draw(t, "id")
		_, ok := denseOffset([]byte(id), highest)
		if want := store.CheckID(id, true, highest) == nil; ok != want {
			t.Errorf("%q: got %v, want %v", id, ok, want)
		}
	})
}

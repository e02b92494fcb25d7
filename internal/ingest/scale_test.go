package ingest

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
)

// ended gives only so many rows of an endless source.
type ended struct {
	endless
	rows int
}

func (e *ended) Read(p []byte) (int, error) {
	if e.n > e.rows {
		return 0, io.EOF
	}
	return e.endless.Read(p)
}

// heapDuring is the most heap in use while f runs, above what was in use before.
func heapDuring(f func()) uint64 {
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	runtime.GC()
	before, most := inUse(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, inUse())
			case <-stop:
				tick.Stop()
				return
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return most - min(most, before)
}

// Memory does not follow the number of rows: a source four times as long takes
// about as much.
func TestImportInBoundedMemory(t *testing.T) {
	const limit = 96 << 20
	for _, rows := range []int{100_000, 400_000} {
		b := newBench(t, func(c *Config, sc *store.Config) { c.Dense, sc.Dense = true, true })
		b.memoryLimit = 1 << 20
		src := &ended{endless{closed: make(chan struct{}), id: "%d"}, rows}
		source := Source{Name: "log", Open: func() (io.ReadCloser, error) { return src, nil }}
		used := heapDuring(func() {
			if _, refused, err := b.run(t, Options{Today: today}, source); err != nil || len(refused) > 0 {
				t.Fatal(err, refused)
			}
		})
		if used > limit {
			t.Errorf("%d rows took %d MiB of heap, want at most %d", rows, used>>20, limit>>20)
		}
	}
}

// A user at a huge offset costs an import what any other user costs: only the
// segments are touched in which there is one.
func TestAStrayHighOffsetCostsNoMore(t *testing.T) {
	const high = 3_400_000_000
	for _, mode := range []Mode{Merge, Replace} {
		b := newBench(t, func(c *Config, sc *store.Config) { c.Dense, sc.Dense = true, true })
		content := log(2000, func(i int) string { return fmt.Sprintf("%d,login,2026-03-01\n", i) })
		took := func(content string) time.Duration {
			begin := time.Now()
			b.load(t, Options{Mode: mode, Verify: true, Force: true}, content)
			return time.Since(begin)
		}
		near := took(content)
		far := took(content + fmt.Sprintf("%d,login,2026-03-01\n", high))
		// Walking over the 830,000 segments in between takes much longer.
		if far > 5*near+500*time.Millisecond {
			t.Errorf("mode %d: %v with a stray offset, %v without", mode, far, near)
		}
		catalogue, err := b.store.Catalogue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(catalogue.SegmentsOf(cohort.Known())); n != 2 {
			t.Errorf("mode %d: %d segments are in use, want 2", mode, n)
		}
	}
}

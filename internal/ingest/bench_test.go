package ingest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

const (
	// benchRows are shared by benchUsers and spread over benchDays.
	benchRows  = 10_000_000
	benchUsers = 500_000
	benchDays  = 30
	// benchNewcomers is the rows of a file in which each has a user of its own.
	benchNewcomers = 2_000_000
	// benchRounds is how often the sides take turns; the medians count.
	benchRounds = 3
	// benchSegmentBits is the product's default.
	benchSegmentBits = 1 << 20
	// benchPipeline is how many commands the plain client sends at once.
	benchPipeline = 5_000
)

var benchStart = mustDay("2026-03-01")

// benchRow is a row of a benchmark: the user's number and the day's.
type benchRow uint32

func newBenchRow(user, day int) benchRow { return benchRow(user*benchDays + day) }

func (r benchRow) user() int { return int(r) / benchDays }
func (r benchRow) day() int  { return int(r) % benchDays }

// randomRows are rows of random users on random days.
func randomRows() []benchRow {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]benchRow, benchRows)
	for i := range all {
		all[i] = newBenchRow(random.IntN(benchUsers), random.IntN(benchDays))
	}
	return all
}

// newcomers are rows that each have a user of their own.
func newcomers() []benchRow {
	all := make([]benchRow, benchNewcomers)
	for i := range all {
		all[i] = newBenchRow(i, i%benchDays)
	}
	return all
}

// stringID is a user's ID of 16 bytes.
func stringID(line []byte, user int) []byte {
	line = append(line, "user-"...)
	return strconv.AppendUint(line, 10_000_000_000+uint64(user)*7919, 10)
}

func denseID(line []byte, user int) []byte { return strconv.AppendInt(line, int64(user), 10) }

// benchFile writes rows as a CSV file.
func benchFile(b *testing.B, rows []benchRow, id func(line []byte, user int) []byte) Source {
	b.Helper()
	path := filepath.Join(b.TempDir(), "log.csv")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	line := []byte("user_id,event,day\n")
	for _, r := range rows {
		_, _ = w.Write(line) // an error shows at the end
		line = append(append(id(line[:0], r.user()), ",active,"...), (benchStart + cohort.Day(r.day())).String()...)
		line = append(line, '\n')
	}
	_, _ = w.Write(line)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	sources, err := Files([]string{path}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return sources[0]
}

// rival is a plain client of a server, which an import has to beat.
type rival struct {
	url    string
	client *redis.Client
}

func newRival(b *testing.B) rival {
	b.Helper()
	url, _ := storetest.Start(b)
	o, err := redis.ParseURL(url)
	if err != nil {
		b.Fatal(err)
	}
	o.ReadBufferSize, o.WriteBufferSize = 256<<10, 256<<10
	client := redis.NewClient(o)
	b.Cleanup(func() { client.Close() })
	return rival{url, client}
}

// empty makes each side begin with nothing.
func (r rival) empty(b *testing.B) {
	b.Helper()
	if err := r.client.FlushAll(b.Context()).Err(); err != nil {
		b.Fatal(err)
	}
}

// setBits sends the rows as they are, one SETBIT each.
func (r rival) setBits(b *testing.B, rows []benchRow) {
	b.Helper()
	var keys [benchUsers/benchSegmentBits + benchNewcomers/benchSegmentBits + 1][benchDays]string
	for segment := range keys {
		for day := range keys[segment] {
			keys[segment][day] = fmt.Sprintf("bb:{s%d}:day:active:%s", segment, (benchStart + cohort.Day(day)).Compact())
		}
	}
	for part := range slices.Chunk(rows, benchPipeline) {
		p := r.client.Pipeline()
		for _, row := range part {
			user := row.user()
			p.SetBit(b.Context(), keys[user/benchSegmentBits][row.day()], int64(user%benchSegmentBits), 1)
		}
		if _, err := p.Exec(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// importFile imports a file into an empty store.
func (r rival) importFile(b *testing.B, dense bool, from Source, rows, users int) {
	b.Helper()
	to := newBench(b, func(c *Config, sc *store.Config) {
		c.Dense, sc.Dense = dense, dense
		sc.URL, sc.SegmentBits = r.url, benchSegmentBits
	})
	summary, err := to.Import(b.Context(), Options{Today: today}, []Source{from}, Observer{})
	if err != nil {
		b.Fatal(err)
	}
	if summary.Accepted != int64(rows) || summary.UsersNew != int64(users) {
		b.Fatalf("got %+v, want %d rows of %d users", summary, rows, users)
	}
}

// side is one of several ways to the same end.
type side struct {
	name string
	run  func()
}

// inTurn runs the sides in turn and returns the median time of each.
func inTurn(b *testing.B, r rival, sides []side) map[string]time.Duration {
	b.Helper()
	took := map[string][]time.Duration{}
	for range benchRounds {
		for _, s := range sides {
			r.empty(b)
			debug.FreeOSMemory()
			begin := time.Now()
			s.run()
			took[s.name] = append(took[s.name], time.Since(begin))
		}
	}
	medians := map[string]time.Duration{}
	for name, all := range took {
		slices.Sort(all)
		medians[name] = all[len(all)/2]
	}
	return medians
}

// BenchmarkImport imports files of string and of dense IDs, in turn with a
// client that knows all offsets beforehand and sends the same rows as SETBITs.
func BenchmarkImport(b *testing.B) {
	rows, r := randomRows(), newRival(b)
	users := distinct(rows)
	text, numbers := benchFile(b, rows, stringID), benchFile(b, rows, denseID)
	peak := 0.0
	sides := []side{
		{"setbit", func() { r.setBits(b, rows) }},
		{"strings", func() {
			resetPeak(b)
			r.importFile(b, false, text, benchRows, users)
			peak = max(peak, peakMiB(b))
		}},
		{"dense", func() { r.importFile(b, true, numbers, benchRows, users) }},
	}
	for b.Loop() {
		took := inTurn(b, r, sides)
		b.ReportMetric(took["setbit"].Seconds()/took["strings"].Seconds(), "strings-x")
		b.ReportMetric(took["setbit"].Seconds()/took["dense"].Seconds(), "dense-x")
		b.ReportMetric(benchRows/took["strings"].Seconds(), "rows/s")
		b.ReportMetric(peak, "peak-MiB")
	}
}

// BenchmarkImportOfNewcomers imports rows that each have a user of their own.
func BenchmarkImportOfNewcomers(b *testing.B) {
	rows, r := newcomers(), newRival(b)
	file := benchFile(b, rows, stringID)
	sides := []side{
		{"setbit", func() { r.setBits(b, rows) }},
		{"newcomers", func() { r.importFile(b, false, file, benchNewcomers, benchNewcomers) }},
	}
	for b.Loop() {
		took := inTurn(b, r, sides)
		b.ReportMetric(took["setbit"].Seconds()/took["newcomers"].Seconds(), "newcomers-x")
		b.ReportMetric(benchNewcomers/took["newcomers"].Seconds(), "rows/s")
	}
}

// distinct counts the users of rows.
func distinct(rows []benchRow) int {
	seen, n := make([]bool, benchUsers), 0
	for _, r := range rows {
		if !seen[r.user()] {
			seen[r.user()] = true
			n++
		}
	}
	return n
}

// resetPeak lets the kernel measure the process's peak anew.
func resetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
}

// peakMiB is the most memory that the process had resident since resetPeak.
func peakMiB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.Fields(text)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	b.Fatal("the kernel does not tell the peak")
	return 0
}

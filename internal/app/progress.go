package app

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-isatty"

	"bitboard/internal/ingest"
)

// progressInterval is the least time between two changes of the line.
const progressInterval = 200 * time.Millisecond

// progress is a line on a terminal that says how far an import is.
type progress struct {
	w     io.Writer // nil when nobody watches
	begin time.Time
	shown time.Time
	phase ingest.Phase // the one shown
}

// newProgress shows progress on w if that is a terminal.
func newProgress(w io.Writer) *progress {
	p := &progress{begin: time.Now()}
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		p.w = w
	}
	return p
}

// show replaces the line, unless it is very new and of the same phase.
func (p *progress) show(at ingest.Progress) {
	now := time.Now()
	if p.w == nil || at.Phase == p.phase && now.Sub(p.shown) < progressInterval {
		return
	}
	p.shown, p.phase = now, at.Phase
	fmt.Fprint(p.w, clearLine, progressLine(at, now.Sub(p.begin)))
}

// clearLine goes to the start of a terminal's line and empties it.
const clearLine = "\r\x1b[K"

// clear removes the line.
func (p *progress) clear() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.w, clearLine)
	}
}

// barWidth is how many characters the bar has between its ends.
const barWidth = 24

// progressLine says how much was read, with a bar and the time left when the
// size is known, and what is done after that.
func progressLine(at ingest.Progress, took time.Duration) string {
	rate := int64(float64(at.Rows) / max(took.Seconds(), 1e-3))
	line := fmt.Sprintf("%s rows, %s rows/s", humanize.Comma(at.Rows), humanize.Comma(rate))
	switch {
	case at.Phase == ingest.Writing:
		return humanize.Comma(at.Rows) + " rows read, writing"
	case at.Phase == ingest.Checking:
		return humanize.Comma(at.Rows) + " rows written, checking"
	case at.Total <= 0:
		return line
	}
	read := min(float64(at.Bytes)/float64(at.Total), 1)
	full := int(read * barWidth)
	bar := strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full)
	return fmt.Sprintf("[%s] %3.0f %%  %s%s", bar, math.Floor(100*read), line, timeLeft(read, took))
}

// timeLeft estimates it from what was done so far, when that tells anything.
func timeLeft(done float64, took time.Duration) string {
	if done <= 0 || done >= 1 || took < time.Second {
		return ""
	}
	left := time.Duration(float64(took) * (1 - done) / done)
	return ", " + left.Round(time.Second).String() + " left"
}

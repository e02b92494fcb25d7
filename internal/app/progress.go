package app

import (
	"fmt"
	"io"
	"os"
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
}

// newProgress shows progress on w if that is a terminal.
func newProgress(w io.Writer) *progress {
	p := &progress{begin: time.Now()}
	if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
		p.w = w
	}
	return p
}

// show replaces the line, unless it is very new.
func (p *progress) show(at ingest.Progress) {
	now := time.Now()
	if p.w == nil || now.Sub(p.shown) < progressInterval {
		return
	}
	p.shown = now
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

// progressLine says how much was read, and how much of all that is when the
// size is known.
func progressLine(at ingest.Progress, took time.Duration) string {
	rate := int64(float64(at.Rows) / max(took.Seconds(), 1e-3))
	line := fmt.Sprintf("%s rows, %s rows/s", humanize.Comma(at.Rows), humanize.Comma(rate))
	if at.Total > 0 {
		line = fmt.Sprintf("%3d %%  %s", 100*at.Bytes/at.Total, line)
	}
	return line
}

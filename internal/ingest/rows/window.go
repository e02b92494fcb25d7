package rows

import (
	"bytes"
	"errors"
	"io"
)

const (
	// firstBuffer is the size a window starts with. It grows for long rows only.
	firstBuffer = 256 << 10
	// largestBuffer holds the longest row and leaves room to read on.
	largestBuffer = MaxRecord + firstBuffer
	// emptyReads is how often a source may give neither bytes nor an error.
	emptyReads = 100
)

// errTooLong says that a line does not end within MaxRecord bytes.
var errTooLong = errors.New("line too long")

// window shows a stream line by line through one buffer of bounded size.
type window struct {
	src        io.Reader
	buf        []byte
	start, end int   // what was read and not yet passed
	err        error // what the source ended with
	line       int64 // number of the line at start
}

func newWindow(src io.Reader) *window {
	return &window{src: src, buf: make([]byte, firstBuffer), line: 1}
}

// lineEnd returns where the line ends that begins at from; both count from
// the window's start. The line break is not part of it. Without a line there
// the error is io.EOF, errTooLong, or what the source failed with: a line
// that a failure cut is never returned.
func (w *window) lineEnd(from int) (int, error) {
	seen := from
	for {
		if w.start+seen < w.end {
			if i := bytes.IndexByte(w.buf[w.start+seen:w.end], '\n'); i >= 0 && seen+i <= MaxRecord {
				return seen + i, nil
			}
			seen = w.end - w.start
		}
		switch {
		case w.end-w.start > MaxRecord:
			return 0, errTooLong
		case w.err == io.EOF && w.start+from < w.end:
			return w.end - w.start, nil
		case w.err != nil:
			return 0, w.err
		}
		w.fill()
	}
}

// head returns the first n bytes of the window. They are good until the next
// call of lineEnd.
func (w *window) head(n int) []byte { return w.buf[w.start : w.start+n] }

// pass moves the window past its first n bytes, which hold whole lines, and
// the line break after them.
func (w *window) pass(n, lines int) {
	w.start = min(w.start+n+1, w.end)
	w.line += int64(lines)
}

// passLine moves the window past a line of any length.
func (w *window) passLine() {
	for {
		if i := bytes.IndexByte(w.buf[w.start:w.end], '\n'); i >= 0 {
			w.pass(i, 1)
			return
		}
		w.start = w.end
		if w.err != nil {
			return
		}
		w.fill()
	}
}

// fill reads more, after making room for it.
func (w *window) fill() {
	if w.start > 0 {
		w.end = copy(w.buf, w.buf[w.start:w.end])
		w.start = 0
	}
	if w.end == len(w.buf) {
		larger := make([]byte, min(2*len(w.buf), largestBuffer))
		copy(larger, w.buf[:w.end])
		w.buf = larger
	}
	for range emptyReads {
		n, err := w.src.Read(w.buf[w.end:])
		w.end += n
		w.err = err
		if n > 0 || err != nil {
			return
		}
	}
	w.err = io.ErrNoProgress
}

// byteOrderMark is what some programs put before UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// passMark passes a byte order mark.
func (w *window) passMark() {
	for w.end-w.start < len(byteOrderMark) && w.err == nil {
		w.fill()
	}
	if bytes.HasPrefix(w.buf[w.start:w.end], byteOrderMark) {
		w.start += len(byteOrderMark)
	}
}

// firstLine passes blank lines and returns the first other one, without
// passing it. With errTooLong it returns the line's beginning.
func (w *window) firstLine() ([]byte, error) {
	for {
		n, err := w.lineEnd(0)
		if err == errTooLong {
			return w.head(MaxRecord), err
		}
		if err != nil {
			return nil, err
		}
		if line := w.head(n); len(bytes.Trim(line, blanks)) > 0 {
			return line, nil
		}
		w.pass(n, 1)
	}
}

package rows

import (
	"bytes"
	"errors"
	"io"
)

const (
	// largestBuffer holds the longest row and leaves room to read on.
	largestBuffer = MaxRecord + 256<<10
	// emptyReads is how often a source may give neither bytes nor an error.
	emptyReads = 100
)

// errTooLong says that a line does not end within MaxRecord bytes.
var errTooLong = errors.New("line too long")

// window shows the part of a stream that was read and not yet passed.
type window struct {
	src        io.Reader
	buf        []byte
	start, end int   // what was read and not yet passed
	err        error // what the source ended with
	line       int64 // number of the line at start
}

// newWindow returns a window that grows past a size for long rows only.
func newWindow(src io.Reader, size int) *window {
	return &window{src: src, buf: make([]byte, max(size, 2*len(byteOrderMark))), line: 1}
}

// text returns what was read and not yet passed. It is good until the next fill.
func (w *window) text() []byte { return w.buf[w.start:w.end] }

// ended reports whether nothing comes after the text.
func (w *window) ended() bool { return w.err == io.EOF }

// pass moves the window past its first n bytes, which hold so many line breaks.
func (w *window) pass(n, lines int) {
	w.start += n
	w.line += int64(lines)
}

// passLine moves the window past a line of any length.
func (w *window) passLine() {
	for {
		if i := bytes.IndexByte(w.text(), '\n'); i >= 0 {
			w.pass(i+1, 1)
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
		w.end = copy(w.buf, w.text())
		w.start = 0
	}
	if w.end == len(w.buf) {
		larger := make([]byte, min(2*len(w.buf), largestBuffer))
		copy(larger, w.buf)
		w.buf = larger
	}
	w.read()
}

// fillUp reads until there is no room left, or nothing to read.
func (w *window) fillUp() {
	for w.err == nil && w.end < len(w.buf) {
		w.read()
	}
}

func (w *window) read() {
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

// exchange hands over the buffer for another one, to which it moves what comes
// after the first n bytes of the text. It returns those n bytes.
func (w *window) exchange(n int, other []byte) (text []byte) {
	if len(other) < len(w.buf) {
		other = make([]byte, len(w.buf))
	}
	text, rest := w.text()[:n:n], w.text()[n:]
	w.start, w.end, w.buf = 0, copy(other, rest), other
	return text
}

// byteOrderMark is what some programs put before UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// passMark passes a byte order mark.
func (w *window) passMark() {
	for w.end-w.start < len(byteOrderMark) && w.err == nil {
		w.fill()
	}
	if bytes.HasPrefix(w.text(), byteOrderMark) {
		w.start += len(byteOrderMark)
	}
}

// firstLine passes blank lines and returns the first other one, without
// passing it. With errTooLong it returns the line's beginning.
func (w *window) firstLine() ([]byte, error) {
	for {
		n := bytes.IndexByte(w.text(), '\n')
		switch {
		case n > MaxRecord, n < 0 && len(w.text()) > MaxRecord:
			return w.text()[:MaxRecord], errTooLong
		case n >= 0 && len(bytes.Trim(w.text()[:n], blanks)) == 0:
			w.pass(n+1, 1)
		case n >= 0:
			return w.text()[:n], nil
		case w.ended() && len(bytes.Trim(w.text(), blanks)) > 0:
			return w.text(), nil
		case w.err != nil:
			return nil, w.err
		default:
			w.fill()
		}
	}
}

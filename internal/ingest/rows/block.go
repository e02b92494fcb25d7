package rows

import (
	"bytes"

	"bitboard/internal/fault"
)

// Block is whole rows, cut out of a source. It may be used again for another
// one when its rows have been read.
type Block struct {
	format  *format
	columns []column // of CSV; nil for NDJSON
	text    []byte
	buf     []byte // holds text
	line    int64  // on which the text begins
	quoted  bool   // whether there are quotes in CSV
	flaws   []flaw // ascending
}

// flaw is a line of a block that cannot be read as a row, as only what comes
// after the block may tell.
type flaw struct {
	at    int // where the line begins
	fault *fault.Error
}

// Blocks cuts a source into blocks. It is not safe for concurrent use; the
// blocks do not depend on it.
type Blocks struct {
	window  *window
	format  *format
	columns []column
}

// Next cuts the next block out. It returns io.EOF after the last one, and
// another error when the source cannot be read to its end: what it holds is
// then not complete. A line that a failure cut is in no block.
func (s *Blocks) Next(b *Block) error {
	for {
		s.window.fillUp()
		s.begin(b)
		n := s.cut(b, s.window.text(), s.window.ended())
		switch {
		case n > 0:
			s.take(b, n)
			return nil
		case len(s.window.text()) > MaxRecord:
			b.text, b.flaws = nil, append(b.flaws[:0], flaw{0, tooLong()})
			s.window.passLine()
			return nil
		case s.window.err != nil:
			return s.window.err
		}
		s.window.fill()
	}
}

// begin makes the block an empty one at the window's start.
func (s *Blocks) begin(b *Block) {
	b.format, b.columns, b.line, b.quoted, b.flaws = s.format, s.columns, s.window.line, false, b.flaws[:0]
}

// take moves the first n bytes of the window into the block.
func (s *Blocks) take(b *Block, n int) {
	s.window.line += int64(bytes.Count(s.window.text()[:n], newline))
	kept := s.window.buf
	b.text = s.window.exchange(n, b.buf)
	b.buf = kept
}

var newline = []byte{'\n'}

// cut returns how many bytes of a text are whole rows, and notes in the block
// which of their lines cannot be read.
func (s *Blocks) cut(b *Block, text []byte, ended bool) int {
	at := 0
	for s.columns != nil {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			break
		}
		b.quoted = true
		at += bytes.LastIndexByte(text[at:at+quote], '\n') + 1
		end, err := recordEnd(text[at:], ended)
		if err == errMore {
			return at
		}
		if err != nil {
			if end = bytes.IndexByte(text[at:], '\n'); end < 0 && !ended {
				return at // a line that is too long, and goes on
			}
			b.flaws = append(b.flaws, flaw{at, wrongQuotes(err)})
		}
		if at += end + 1; end < 0 || at >= len(text) {
			return len(text)
		}
	}
	if ended {
		return len(text)
	}
	return at + bytes.LastIndexByte(text[at:], '\n') + 1
}

func wrongQuotes(err error) *fault.Error {
	if err == errTooLong {
		return tooLong()
	}
	return fault.Invalid("bad_csv", "", "%v", err)
}

func tooLong() *fault.Error {
	return fault.Invalid("line_too_long", "", "the line is too long; at most %d bytes are read as one row", MaxRecord)
}

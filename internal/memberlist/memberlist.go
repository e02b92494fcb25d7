// Package memberlist writes lists of users as CSV, some millions a second.
package memberlist

import (
	"bytes"
	"io"
	"strings"

	"bitboard/internal/cohort"
)

// Header is the name of the one column.
const Header = "user_id"

// byteOrderMark makes Excel read a file as UTF-8.
const byteOrderMark = "\ufeff"

// Options are how a list is written.
type Options struct {
	// Safe puts a quote before what a spreadsheet would run as a formula.
	Safe bool
	// Mark begins the list with a byte order mark.
	Mark bool
}

// Writer writes a list: a header, then one user a line. The header is
// written before the first users.
type Writer struct {
	out     io.Writer
	options Options
	begun   bool
	buffer  []byte
}

// NewWriter returns a Writer. Nothing is written before the first Write.
func NewWriter(out io.Writer, o Options) *Writer { return &Writer{out: out, options: o} }

// Begun reports whether anything was written.
func (w *Writer) Begun() bool { return w.begun }

// Write writes users, after the header if that is still to come.
func (w *Writer) Write(ids *cohort.IDList) error {
	b := w.buffer[:0]
	if !w.begun {
		w.begun = true
		if w.options.Mark {
			b = append(b, byteOrderMark...)
		}
		b = append(append(b, Header...), '\n')
	}
	if w.plain(ids) {
		if len(b) > 0 {
			if _, err := w.out.Write(b); err != nil {
				return err
			}
		}
		_, err := w.out.Write(ids.Lines())
		return err
	}
	for i := range ids.Len() {
		b = append(appendField(b, ids.At(i), w.options.Safe), '\n')
	}
	w.buffer = b
	_, err := w.out.Write(b)
	return err
}

// plain reports whether no ID needs quotes, so that their lines are what is to
// be written. It looks at all of them at once: to look for one byte in many is
// much faster than to look at each ID.
func (w *Writer) plain(ids *cohort.IDList) bool {
	lines := ids.Lines()
	if w.options.Safe && bytes.ContainsAny(lines, formula) {
		return false
	}
	for _, special := range []byte("\",\r \t") {
		if bytes.IndexByte(lines, special) >= 0 {
			return false
		}
	}
	// One line break each, none of them after nothing.
	return bytes.Count(lines, lineBreak) == ids.Len() && !bytes.HasPrefix(lines, lineBreak) && !bytes.Contains(lines, emptyLine)
}

var lineBreak, emptyLine = []byte("\n"), []byte("\n\n")

// formula begins what a spreadsheet would run.
const formula = "=+-@\t\r"

// appendField appends a field as RFC 4180 has it. It is quoted when it holds a
// comma, a quote or a line break, begins with a blank, which some programs drop,
// or is empty, which as a line of its own would be no row. A safe one that begins
// like a formula gets a quote before it.
func appendField(b, field []byte, safe bool) []byte {
	harmless := ""
	if safe && len(field) > 0 && strings.IndexByte(formula, field[0]) >= 0 {
		harmless = "'"
	}
	if len(field) > 0 && (harmless != "" || field[0] != ' ' && field[0] != '\t') && !special(field) {
		return append(append(b, harmless...), field...)
	}
	b = append(append(b, '"'), harmless...)
	for _, c := range field {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

// special reports whether a field holds what must be quoted.
func special(field []byte) bool {
	for _, c := range field {
		switch c {
		case ',', '"', '\r', '\n':
			return true
		}
	}
	return false
}

// Package memberlist writes lists of users as CSV, some millions a second.
package memberlist

import (
	"io"
	"strings"
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

// Writer writes a list: a header, then one user a line. Each call of Write
// writes to the underlying writer once.
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
func (w *Writer) Write(ids []string) error {
	b := w.buffer[:0]
	if !w.begun {
		w.begun = true
		if w.options.Mark {
			b = append(b, byteOrderMark...)
		}
		b = append(append(b, Header...), '\n')
	}
	for _, id := range ids {
		if w.options.Safe {
			id = harmless(id)
		}
		b = append(appendField(b, id), '\n')
	}
	w.buffer = b
	_, err := w.out.Write(b)
	return err
}

// appendField appends a field as RFC 4180 has it. It is quoted when it holds a
// comma, a quote or a line break, begins with a blank, which some programs drop,
// or is empty, which as a line of its own would be no row.
func appendField(b []byte, field string) []byte {
	if field != "" && field[0] != ' ' && field[0] != '\t' && !special(field) {
		return append(b, field...)
	}
	b = append(b, '"')
	for i := range len(field) {
		if field[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, field[i])
	}
	return append(b, '"')
}

// special reports whether a field holds what must be quoted.
func special(field string) bool {
	for i := range len(field) {
		switch field[i] {
		case ',', '"', '\r', '\n':
			return true
		}
	}
	return false
}

// harmless puts a quote before what a spreadsheet would run as a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

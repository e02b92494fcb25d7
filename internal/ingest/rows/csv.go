package rows

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"bitboard/internal/fault"
)

// csv reads the rows of CSV as RFC 4180 has it: fields keep every byte within
// their quotes. A quote inside a field that does not begin with one is a
// character like any other.
type csv struct {
	lines *window
	// names are the header's columns, "" for those that are not read.
	names []string
	// unquoted holds the row's fields that had doubled quotes.
	unquoted []byte
}

// The ways in which a row's quotes can be wrong.
var (
	errStray = errors.New("a quoted field goes on after its closing quote")
	errOpen  = errors.New("a quoted field that begins on this line is not closed")
)

// openCSV reads the header, which is the window's first line.
func openCSV(name string, w *window, f *format) (*csv, error) {
	c := &csv{lines: w}
	n, lines, err := c.recordEnd()
	if errors.Is(err, errStray) || errors.Is(err, errOpen) {
		return nil, fault.Invalid("bad_csv", "", "%s: line %d, the header: %v", name, w.line, err)
	}
	if err != nil {
		return nil, err
	}
	var header []string
	c.fields(trimReturn(w.head(n)), func(_ int, field []byte) { header = append(header, string(field)) })
	w.pass(n, lines)
	if err := f.checkHeader(name, header); err != nil {
		return nil, err
	}
	for i, h := range header {
		if !slices.Contains(f.reads, h) {
			header[i] = ""
		}
	}
	c.names = header
	return c, nil
}

// Next implements Reader.
func (c *csv) Next(row *Row) error {
	for {
		row.reset(c.lines.line)
		n, err := c.lines.lineEnd(0)
		if err == errTooLong {
			row.Fault = tooLong()
			c.lines.passLine()
			return nil
		}
		if err != nil {
			return err
		}
		line := trimReturn(c.lines.head(n))
		if len(line) > 0 {
			return c.record(row, n, line)
		}
		c.lines.pass(n, 1)
	}
}

// record reads the row that begins with a line of n bytes.
func (c *csv) record(row *Row, n int, line []byte) error {
	if bytes.IndexByte(line, '"') < 0 {
		c.plain(row, line)
		c.lines.pass(n, 1)
		return nil
	}
	end, lines, err := c.recordEnd()
	switch {
	case err == errStray || err == errOpen:
		// Only this line is given up, lest a single quote swallow good rows.
		row.Fault = fault.Invalid("bad_csv", "", "%v", err)
		c.lines.passLine()
		return nil
	case err != nil:
		return err
	}
	c.quoted(row, trimReturn(c.lines.head(end)))
	c.lines.pass(end, lines)
	return nil
}

// recordEnd returns where the record at the window's start ends and how many
// lines it takes.
func (c *csv) recordEnd() (end, lines int, err error) {
	from, open := 0, false
	for lines = 1; ; lines++ {
		end, err = c.lines.lineEnd(from)
		if lines > 1 && (err == io.EOF || err == errTooLong) {
			return 0, 0, errOpen
		}
		if err != nil {
			return 0, 0, err
		}
		var ok bool
		if open, ok = scanQuotes(c.lines.head(end)[from:], open); !ok {
			return 0, 0, errStray
		}
		if !open {
			return end, lines, nil
		}
		from = end + 1
	}
}

// scanQuotes follows the quotes of a line that begins within quotes or not. It
// returns whether it ends within quotes; ok is false when a closing quote is
// not the end of its field.
func scanQuotes(b []byte, open bool) (stillOpen, ok bool) {
	for {
		if !open && len(b) > 0 && b[0] == '"' {
			open, b = true, b[1:]
		}
		if open {
			i := bytes.IndexByte(b, '"')
			if i < 0 {
				return true, true
			}
			b = b[i+1:]
			if len(b) > 0 && b[0] == '"' {
				b = b[1:]
				continue
			}
			if open = false; len(trimReturn(b)) > 0 && b[0] != ',' {
				return false, false
			}
		}
		i := bytes.IndexByte(b, ',')
		if i < 0 {
			return false, true
		}
		b = b[i+1:]
	}
}

// plain splits a line without quotes into the row's columns.
func (c *csv) plain(row *Row, line []byte) {
	for _, name := range c.names {
		field, rest, more := bytes.Cut(line, comma)
		if name != "" {
			*row.column(name) = field
		}
		if !more {
			return
		}
		line = rest
	}
	row.Fault = c.tooMany(len(c.names) + 1 + bytes.Count(line, comma))
}

var comma = []byte{','}

// quoted splits a record whose quotes are right into the row's columns.
func (c *csv) quoted(row *Row, record []byte) {
	n := c.fields(record, func(i int, field []byte) {
		if i < len(c.names) && c.names[i] != "" {
			*row.column(c.names[i]) = field
		}
	})
	if n > len(c.names) {
		row.Fault = c.tooMany(n)
	}
}

// fields yields the fields of a record whose quotes are right, and returns
// how many there are.
func (c *csv) fields(record []byte, yield func(i int, field []byte)) int {
	// The fields share this buffer, so it must not move while they are made.
	c.unquoted = slices.Grow(c.unquoted[:0], len(record))
	for i := 0; ; i++ {
		var field []byte
		if len(record) > 0 && record[0] == '"' {
			field, record = c.unquote(record[1:])
		} else {
			end := bytes.IndexByte(record, ',')
			if end < 0 {
				end = len(record)
			}
			field, record = record[:end], record[end:]
		}
		yield(i, field)
		if len(record) == 0 {
			return i + 1
		}
		record = record[1:]
	}
}

// unquote returns the content of a quoted field, whose opening quote is gone,
// and what follows its closing quote.
func (c *csv) unquote(b []byte) (field, rest []byte) {
	begin := len(c.unquoted)
	for {
		i := bytes.IndexByte(b, '"')
		c.unquoted = append(c.unquoted, b[:i]...)
		b = b[i+1:]
		if len(b) == 0 || b[0] != '"' {
			return c.unquoted[begin:], b
		}
		c.unquoted = append(c.unquoted, '"')
		b = b[1:]
	}
}

// trimReturn drops the carriage return of a CRLF line break.
func trimReturn(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }

func (c *csv) tooMany(n int) *fault.Error {
	return fault.Invalid("too_many_fields", "", "the row has %d fields and the header %d; a field that holds a comma needs quotes", n, len(c.names))
}

func tooLong() *fault.Error {
	return fault.Invalid("line_too_long", "", "the line is too long; at most %d bytes are read as one row", MaxRecord)
}

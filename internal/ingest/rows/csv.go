package rows

import (
	"bytes"
	"slices"

	"bitboard/internal/fault"
)

// CSV is read as RFC 4180 has it: fields keep every byte within their quotes.
// A quote inside a field that does not begin with one is a character like any
// other.

// readHeader reads the header, which is the window's first line, and passes it.
func (f *format) readHeader(name string, w *window) ([]column, error) {
	n, err := recordEnd(w.text(), w.ended())
	for err == errMore && w.err == nil {
		w.fill()
		n, err = recordEnd(w.text(), w.ended())
	}
	switch {
	case err == errMore:
		return nil, w.err
	case err != nil:
		return nil, fault.Invalid("bad_csv", "", "%s: line %d, the header: %v", name, w.line, err)
	}
	var header []string
	new(Parser).fields(trimReturn(w.text()[:n]), func(_ int, field []byte) { header = append(header, string(field)) })
	passed := w.text()[:min(n+1, len(w.text()))]
	w.pass(len(passed), bytes.Count(passed, newline))
	if err := f.checkHeader(name, header); err != nil {
		return nil, err
	}
	columns := make([]column, len(header))
	for i, h := range header {
		if slices.Contains(f.reads, h) {
			columns[i] = columnOf(h)
		}
	}
	return columns, nil
}

// readCSV reads and passes the record that begins with a line, and whose quotes
// are right. It returns false for an empty line.
func (p *Parser) readCSV(row *Row, line []byte) bool {
	if p.block.quoted && bytes.IndexByte(line, '"') >= 0 {
		n, _ := recordEnd(p.block.text[p.at:], true)
		record := p.block.text[p.at : p.at+n]
		p.quoted(row, trimReturn(record))
		p.pass(p.at+n, 1+bytes.Count(record, newline))
		return true
	}
	p.pass(p.at+len(line), 1)
	if line = trimReturn(line); len(line) == 0 {
		return false
	}
	p.plain(row, line)
	return true
}

// plain splits a line without quotes into the row's columns.
func (p *Parser) plain(row *Row, line []byte) {
	for _, c := range p.block.columns {
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			row.set(c, line)
			return
		}
		row.set(c, line[:i])
		line = line[i+1:]
	}
	row.Fault = p.tooMany(len(p.block.columns) + 1 + bytes.Count(line, comma))
}

var comma = []byte{','}

// quoted splits a record whose quotes are right into the row's columns.
func (p *Parser) quoted(row *Row, record []byte) {
	columns := p.block.columns
	n := p.fields(record, func(i int, field []byte) {
		if i < len(columns) {
			row.set(columns[i], field)
		}
	})
	if n > len(columns) {
		row.Fault = p.tooMany(n)
	}
}

// fields yields the fields of a record whose quotes are right, and returns
// how many there are.
func (p *Parser) fields(record []byte, yield func(i int, field []byte)) int {
	// The fields share this buffer, so it must not move while they are made.
	p.unquoted = slices.Grow(p.unquoted[:0], len(record))
	for i := 0; ; i++ {
		var field []byte
		if len(record) > 0 && record[0] == '"' {
			field, record = p.unquote(record[1:])
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
// and what follows its closing quote. A field without doubled quotes stays
// where it is.
func (p *Parser) unquote(b []byte) (field, rest []byte) {
	begin := len(p.unquoted)
	for {
		i := bytes.IndexByte(b, '"')
		doubled := len(b) > i+1 && b[i+1] == '"'
		if !doubled && begin == len(p.unquoted) {
			return b[:i], b[i+1:]
		}
		p.unquoted = append(p.unquoted, b[:i]...)
		if !doubled {
			return p.unquoted[begin:], b[i+1:]
		}
		p.unquoted = append(p.unquoted, '"')
		b = b[i+2:]
	}
}

func (p *Parser) tooMany(n int) *fault.Error {
	return fault.Invalid("too_many_fields", "", "the row has %d fields and the header %d; a field that holds a comma needs quotes", n, len(p.block.columns))
}

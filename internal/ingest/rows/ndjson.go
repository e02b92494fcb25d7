package rows

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"bitboard/internal/fault"
)

// readJSON reads and passes a line that is a JSON object. It returns false for
// a blank one.
func (p *Parser) readJSON(row *Row, line []byte) bool {
	text := bytes.Trim(line, blanks)
	if len(text) > 0 {
		row.Fault = p.json.read(row, text)
	}
	p.pass(p.at+len(line), 1)
	return len(text) > 0
}

// Object reads one JSON object as the row of a line, or of an item of an array.
func Object(line int64, text []byte) Row {
	row := Row{Line: line}
	o := objects{format: &activity}
	row.Fault = o.read(&row, text)
	return row
}

// objects reads JSON objects into rows, reusing one buffer.
type objects struct {
	format *format
	// unescaped holds the strings of the row that had escapes.
	unescaped []byte
}

// read reads one object. Fields that no column is called like are ignored;
// of two fields of one name the last counts.
func (o *objects) read(row *Row, text []byte) *fault.Error {
	if !utf8.Valid(text) {
		return fault.Invalid("bad_utf8", "", "the line is not valid UTF-8")
	}
	// The strings share this buffer, so it must not move while they are made.
	if o.unescaped = o.unescaped[:0]; cap(o.unescaped) < len(text) {
		o.unescaped = make([]byte, 0, len(text))
	}
	s := scanner{text: text, unescaped: o.unescaped}
	if !s.skip('{') {
		return badJSON()
	}
	if !s.skip('}') {
		for {
			if err := o.member(row, &s); err != nil {
				return err
			}
			if !s.skip(',') {
				break
			}
		}
		if !s.skip('}') {
			return badJSON()
		}
	}
	if !s.done() {
		return badJSON()
	}
	return nil
}

// member reads a name and its value into the row.
func (o *objects) member(row *Row, s *scanner) *fault.Error {
	name, ok := s.value()
	if !ok || name.kind != stringValue || !s.skip(':') {
		return badJSON()
	}
	v, ok := s.value()
	if !ok {
		return badJSON()
	}
	if string(name.text) == Value {
		row.Value = v.raw
		return nil
	}
	if !slices.Contains(o.format.reads, string(name.text)) {
		return nil
	}
	c := columnOf(string(name.text))
	switch {
	case v.kind == nullValue:
		row.set(c, nil)
	case v.kind == stringValue && !v.broken, v.kind == numberValue && mayBeNumber(string(name.text)):
		row.set(c, v.text)
	default:
		return fault.Invalid("bad_"+string(name.text), string(name.text), "%s is %s; give %s", name.text, fault.Show(string(v.raw)), accepted(string(name.text)))
	}
	return nil
}

// mayBeNumber reports whether a field may hold a number, which is then read as
// the text that it is.
func mayBeNumber(column string) bool { return column == UserID || column == Offset }

// accepted says what a field may hold.
func accepted(column string) string {
	if mayBeNumber(column) {
		return "a string or a number"
	}
	return "a string"
}

func badJSON() *fault.Error {
	return fault.Invalid("bad_json", "", "the line is not a JSON object")
}

package rows

import (
	"bytes"
	"errors"
)

// The ways in which a row's quotes can be wrong.
var (
	errStray = errors.New("a quoted field goes on after its closing quote")
	errOpen  = errors.New("a quoted field that begins on this line is not closed")
)

// errMore says that the end of a row has not been read yet.
var errMore = errors.New("the row is not complete")

// recordEnd returns where the record ends with which a text begins, its line
// break not included; ended is set when nothing follows the text. The error is
// errStray, errOpen, or errTooLong, which all cost the record's first line, or
// errMore when the text is too short to tell.
func recordEnd(text []byte, ended bool) (end int, err error) {
	open, first := false, true
	for from := 0; ; from = end + 1 {
		end, err = lineEnd(text, from, ended)
		if err == errTooLong && !first {
			err = errOpen
		}
		if err != nil {
			return 0, err
		}
		var ok bool
		if open, ok = scanQuotes(text[from:end], open); !ok {
			return 0, errStray
		}
		if !open {
			return end, nil
		}
		if first = false; ended && end+1 >= len(text) {
			return 0, errOpen
		}
	}
}

// lineEnd returns where a line of a record ends. The error is errTooLong when
// that is past what a record may take up.
func lineEnd(text []byte, from int, ended bool) (int, error) {
	end := len(text)
	i := bytes.IndexByte(text[from:], '\n')
	if i >= 0 {
		end = from + i
	}
	switch {
	case end > MaxRecord:
		return 0, errTooLong
	case i < 0 && !ended:
		return 0, errMore
	}
	return end, nil
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

// trimReturn drops the carriage return of a CRLF line break.
func trimReturn(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }

package rows

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// valueKind is what a JSON value is.
type valueKind uint8

const (
	stringValue valueKind = iota
	numberValue
	boolValue
	nullValue
	nestedValue
)

// value is one JSON value.
type value struct {
	kind valueKind
	// raw is its text as written.
	raw []byte
	// text is what a string says, and the text of any other value.
	text []byte
	// broken is set for a string with half a surrogate pair, which is no text.
	broken bool
}

// scanner takes JSON values off a valid UTF-8 text without allocating: unlike
// encoding/json it replaces nothing that it cannot represent.
type scanner struct {
	text      []byte
	at        int
	unescaped []byte // with room for all strings of text
}

// String reads a text that is one JSON string. It is not ok for anything else,
// nor for a string that is no text: of bytes that are not UTF-8, or with half
// a surrogate pair.
func String(text []byte) (string, bool) {
	if !utf8.Valid(text) {
		return "", false
	}
	s := scanner{text: text}
	v, ok := s.value()
	return string(v.text), ok && s.done() && v.kind == stringValue && !v.broken
}

// blank passes white space.
func (s *scanner) blank() {
	for s.at < len(s.text) && isBlank(s.text[s.at]) {
		s.at++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// skip passes white space and then c, when it is there.
func (s *scanner) skip(c byte) bool {
	s.blank()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// done reports whether nothing but white space is left.
func (s *scanner) done() bool {
	s.blank()
	return s.at == len(s.text)
}

// value takes the next value; ok is false when it is not JSON.
func (s *scanner) value() (v value, ok bool) {
	s.blank()
	if s.at == len(s.text) {
		return value{}, false
	}
	begin := s.at
	switch s.text[s.at] {
	case '"':
		v, ok = s.string()
	case '{', '[':
		s.passNested()
		v = value{kind: nestedValue, text: s.text[begin:s.at]}
		ok = json.Valid(v.text)
	default:
		v, ok = s.literal()
	}
	v.raw = s.text[begin:s.at]
	return v, ok
}

// string takes a string, at whose opening quote the scanner is.
func (s *scanner) string() (value, bool) {
	begin, escaped := s.at+1, false
	if !s.passString(&escaped) {
		return value{}, false
	}
	v := value{kind: stringValue, text: s.text[begin : s.at-1]}
	if !escaped {
		return v, true
	}
	from := len(s.unescaped)
	whole, ok := s.unescape(v.text)
	v.text, v.broken = s.unescaped[from:], !whole
	return v, ok
}

// passString passes a string and notes whether it has escapes.
func (s *scanner) passString(escaped *bool) bool {
	for i := s.at + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c == '\\':
			*escaped = true
			i++
		case c < ' ':
			s.at = i
			return false
		}
	}
	s.at = len(s.text)
	return false
}

// passNested passes an array or an object, valid or not.
func (s *scanner) passNested() {
	depth, escaped := 0, false
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.passString(&escaped)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.at++
		if depth == 0 {
			return
		}
	}
}

// literal takes a number, true, false or null.
func (s *scanner) literal() (value, bool) {
	end := bytes.IndexAny(s.text[s.at:], ",]}"+blanks)
	if end < 0 {
		end = len(s.text) - s.at
	}
	v := value{kind: numberValue, text: s.text[s.at : s.at+end]}
	s.at += end
	switch string(v.text) {
	case "true", "false":
		v.kind = boolValue
	case "null":
		v.kind = nullValue
	default:
		return v, isNumber(v.text)
	}
	return v, true
}

// isNumber holds a text against the grammar of JSON numbers.
func isNumber(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	whole := digits(b)
	if whole == 0 || whole > 1 && b[0] == '0' {
		return false
	}
	b = b[whole:]
	if len(b) > 0 && b[0] == '.' {
		n := digits(b[1:])
		if n == 0 {
			return false
		}
		b = b[1+n:]
	}
	if len(b) == 0 {
		return true
	}
	if b[0]|0x20 != 'e' {
		return false
	}
	if b = b[1:]; len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		b = b[1:]
	}
	return len(b) > 0 && digits(b) == len(b)
}

// digits counts the decimal digits at the start.
func digits(b []byte) int {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	return n
}

// escapes are the escapes of one character and what they stand for.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends what a string says to s.unescaped. It is not whole when it
// has half a surrogate pair, and not ok when it has an escape that JSON lacks.
func (s *scanner) unescape(b []byte) (whole, ok bool) {
	whole = true
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			s.unescaped = append(s.unescaped, b...)
			break
		}
		s.unescaped = append(s.unescaped, b[:i]...)
		b = b[i:]
		if c, simple := escapes[b[1]]; simple {
			s.unescaped = append(s.unescaped, c)
			b = b[2:]
			continue
		}
		r, n := unicodeEscape(b)
		if n == 0 {
			return false, false
		}
		if utf16.IsSurrogate(r) {
			whole = false
		}
		s.unescaped = utf8.AppendRune(s.unescaped, r)
		b = b[n:]
	}
	return whole, true
}

// unicodeEscape reads \uXXXX, or two that are a surrogate pair, and returns
// how long it is; 0 when it is none. Half a pair is returned as it is.
func unicodeEscape(b []byte) (rune, int) {
	const one, pair = len(`\uXXXX`), 2 * len(`\uXXXX`)
	high, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(high) && len(b) >= pair {
		if low, ok := hex4(b[one:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, pair
			}
		}
	}
	return high, one
}

func hex4(b []byte) (rune, bool) {
	if len(b) < len(`\uXXXX`) || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

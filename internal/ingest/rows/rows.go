// Package rows reads the rows of an activity log, or of a table of user IDs and
// offsets, as a stream: CSV with a header or NDJSON, plain or gzip, in bounded
// memory however long a line is. It knows what the columns are called and nothing of what they mean.
package rows

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"bitboard/internal/fault"
)

// MaxRecord is the most bytes that one row may take up, line breaks within
// quotes included. A longer one is a rejected row.
const MaxRecord = 1 << 20

// The names of the columns, which are the fields of a JSON object too.
const (
	UserID    = "user_id"
	Event     = "event"
	Timestamp = "timestamp"
	Day       = "day"
	Value     = "value"
	Offset    = "offset"
)

// Row is one data row. Its slices are good until the next row is read.
type Row struct {
	// Line is the physical line on which the row starts; the first is 1.
	Line int64
	// UserID, Event, Timestamp and Day are the texts given; an absent field
	// is empty. Those of CSV may hold bytes that are not UTF-8.
	UserID, Event, Timestamp, Day []byte
	// Offset is the text given, of a file of pairs only.
	Offset []byte
	// Value is the JSON text of the field value of NDJSON, nil when absent.
	Value []byte
	// Fault says why the row cannot be read; the fields mean nothing then.
	Fault *fault.Error
}

// reset makes the row an empty one of a line.
func (r *Row) reset(line int64) { *r = Row{Line: line} }

// column returns where the row keeps one of the columns above but value.
func (r *Row) column(name string) *[]byte {
	switch name {
	case UserID:
		return &r.UserID
	case Event:
		return &r.Event
	case Timestamp:
		return &r.Timestamp
	case Day:
		return &r.Day
	default:
		return &r.Offset
	}
}

// Reader reads rows.
type Reader interface {
	// Next reads the next row, also one that is at fault. It returns io.EOF
	// after the last one, and another error when the source cannot be read to
	// its end: what it holds is then not complete.
	Next(row *Row) error
}

// Open finds out how an activity log is written and reads its header. The name is
// for messages. A source that is not CSV with the needed columns or NDJSON is
// a fault.ErrInvalid. One that is empty, or blank, has no rows.
func Open(name string, src io.Reader) (Reader, error) { return activity.open(name, src) }

// OpenPairs does what Open does for a source of user IDs with their offsets.
func OpenPairs(name string, src io.Reader) (Reader, error) { return pairs.open(name, src) }

func (f *format) open(name string, src io.Reader) (Reader, error) {
	plain, err := unpack(name, src)
	if err != nil {
		return nil, err
	}
	w := newWindow(plain)
	w.passMark()
	first, err := w.firstLine()
	switch {
	case err == io.EOF:
		return empty{}, nil
	case err != nil && err != errTooLong:
		return nil, err
	case bytes.HasPrefix(bytes.TrimLeft(first, blanks), []byte("{")):
		return &ndjson{lines: w, json: objects{format: f}}, nil
	case err == errTooLong || !isText(first):
		return nil, fault.Invalid("not_text", "", "%s is neither CSV with a header nor NDJSON, plain or gzip: it starts with %s", name, fault.Show(string(first[:min(len(first), shownBytes)])))
	}
	return openCSV(name, w, f)
}

const (
	blanks = " \t\r\n"
	// shownBytes is how much of junk a message repeats.
	shownBytes = 16
)

// isText tells a header from the start of a binary file.
func isText(line []byte) bool {
	return utf8.Valid(line) && !bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && !strings.ContainsRune(blanks, r) })
}

// empty is the reader of a source that holds no row.
type empty struct{}

func (empty) Next(*Row) error { return io.EOF }

// unpack returns the plain bytes of a source that may be gzip, which its
// content tells.
func unpack(name string, src io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(src, firstBuffer)
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return newGunzip(name, b)
}

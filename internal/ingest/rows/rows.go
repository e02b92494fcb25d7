// Package rows reads the rows of an activity log, or of a table of user IDs and
// offsets: CSV with a header or NDJSON, plain or gzip. A source is cut into blocks of whole rows, one after another,
// and the blocks can be read side by side, in bounded memory however long a
// line is. The package knows what the columns are called and nothing of what
// they mean.
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

// column is one of the columns that are read.
type column uint8

const (
	ignored column = iota
	userIDColumn
	eventColumn
	timestampColumn
	dayColumn
	offsetColumn
)

// columnOf returns the column of one of the names above but value.
func columnOf(name string) column {
	switch name {
	case UserID:
		return userIDColumn
	case Event:
		return eventColumn
	case Timestamp:
		return timestampColumn
	case Day:
		return dayColumn
	case Offset:
		return offsetColumn
	default:
		return ignored
	}
}

// set gives a column its text.
func (r *Row) set(c column, text []byte) {
	switch c {
	case userIDColumn:
		r.UserID = text
	case eventColumn:
		r.Event = text
	case timestampColumn:
		r.Timestamp = text
	case dayColumn:
		r.Day = text
	case offsetColumn:
		r.Offset = text
	}
}

// Open finds out how an activity log is written, reads its header and returns
// what cuts the rest into blocks of about so many bytes. The name is for
// messages. A source that is not CSV with the needed columns or NDJSON is a
// fault.ErrInvalid. One that is empty, or blank, has no rows.
func Open(name string, src io.Reader, blockBytes int) (*Blocks, error) {
	return activity.open(name, src, blockBytes)
}

// OpenPairs does what Open does for a source of user IDs with their offsets,
// whose rows are read one after another.
func OpenPairs(name string, src io.Reader) (*Reader, error) {
	blocks, err := pairs.open(name, src, sourceBuffer)
	if err != nil {
		return nil, err
	}
	return newReader(blocks), nil
}

func (f *format) open(name string, src io.Reader, blockBytes int) (*Blocks, error) {
	plain, err := unpack(name, src)
	if err != nil {
		return nil, err
	}
	w := newWindow(plain, blockBytes)
	w.passMark()
	first, err := w.firstLine()
	switch {
	case err == io.EOF:
		return &Blocks{window: w, format: f}, nil
	case err != nil && err != errTooLong:
		return nil, err
	case bytes.HasPrefix(bytes.TrimLeft(first, blanks), []byte("{")):
		return &Blocks{window: w, format: f}, nil
	case err == errTooLong || !isText(first):
		return nil, fault.Invalid("not_text", "", "%s is neither CSV with a header nor NDJSON, plain or gzip: it starts with %s", name, fault.Show(string(first[:min(len(first), shownBytes)])))
	}
	columns, err := f.readHeader(name, w)
	return &Blocks{window: w, format: f, columns: columns}, err
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

// sourceBuffer is how much of a source is read at once while it is unpacked.
const sourceBuffer = 256 << 10

// unpack returns the plain bytes of a source that may be gzip, which its
// content tells.
func unpack(name string, src io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(src, sourceBuffer)
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return newGunzip(name, b)
}

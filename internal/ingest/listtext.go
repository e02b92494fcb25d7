package ingest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
)

// listText is a text of user IDs that is being read.
type listText struct {
	rest []byte
	line int // of what is left, from 1
	// column is where the IDs stand in a text with a header; columns is how many it
	// names, 0 without a header.
	column, columns int
}

// readIDs hands over the user IDs of a text.
func readIDs(text []byte, yield func(id string) error) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return badList(1+bytes.Count(text[:validUpTo(text)], []byte{'\n'}), "is not valid UTF-8 text", "wrong.list.utf8")
	}
	t := &listText{rest: text, line: 1}
	for first := true; len(t.rest) > 0; {
		line := t.line
		cells, err := t.record()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return c != "" }) {
			continue
		}
		if first {
			first = false
			if at := slices.Index(cells, rows.UserID); at >= 0 {
				t.column, t.columns = at, len(cells)
				continue
			}
		}
		id, err := t.id(line, cells)
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		if err := yield(id); err != nil {
			return err
		}
	}
	return nil
}

// validUpTo is where a text stops being UTF-8.
func validUpTo(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

func badList(line int, wrong, text string) error {
	return fault.Invalid("bad_list", "ids", "line %d of the list %s", line, wrong).Say(text, "line", strconv.Itoa(line))
}

// id is the cell of a record that is the user ID.
func (t *listText) id(line int, cells []string) (string, error) {
	if t.columns == 0 {
		cells = slices.DeleteFunc(cells, func(c string) bool { return c == "" })
	}
	for t.columns > 0 && len(cells) > t.columns && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	switch {
	case len(cells) > max(t.columns, 1):
		return "", badList(line, "has "+strconv.Itoa(len(cells))+" cells; give one user ID a line, in quotes when it holds a comma, or a first line that names the columns, one of them user_id", "wrong.list.cells")
	case t.column >= len(cells):
		return "", nil
	}
	return cells[t.column], nil
}

// record cuts the next record off, which ends with a line outside of quotes.
func (t *listText) record() ([]string, error) {
	var cells []string
	for {
		t.rest = bytes.TrimLeft(t.rest, " ")
		cell, err := t.cell()
		if err != nil {
			return nil, err
		}
		cells = append(cells, cell)
		if len(t.rest) == 0 {
			return cells, nil
		}
		end := t.rest[0]
		if t.rest = t.rest[1:]; end == '\n' || end == '\r' {
			if end == '\r' {
				t.rest = bytes.TrimPrefix(t.rest, []byte{'\n'})
			}
			t.line++
			return cells, nil
		}
	}
}

// ends are the characters that a cell ends before.
const ends = ",\t\r\n"

func (t *listText) cell() (string, error) {
	if len(t.rest) > 0 && t.rest[0] == '"' {
		return t.quoted()
	}
	return strings.TrimSpace(string(t.upToEnd())), nil
}

func (t *listText) upToEnd() []byte {
	at := bytes.IndexAny(t.rest, ends)
	if at < 0 {
		at = len(t.rest)
	}
	cell := t.rest[:at]
	t.rest = t.rest[at:]
	return cell
}

// quoted reads a cell in quotes, within which two are one.
func (t *listText) quoted() (string, error) {
	begin := t.line
	var cell []byte
	for {
		t.rest = t.rest[1:]
		at := bytes.IndexByte(t.rest, '"')
		if at < 0 {
			return "", badList(begin, "has a quote that is not closed", "wrong.list.quote")
		}
		t.line += bytes.Count(t.rest[:at], []byte{'\n'})
		cell = append(cell, t.rest[:at]...)
		if t.rest = t.rest[at+1:]; len(t.rest) == 0 || t.rest[0] != '"' {
			break
		}
		cell = append(cell, '"')
	}
	if after := bytes.TrimSpace(t.upToEnd()); len(after) > 0 {
		return "", badList(t.line, "goes on after a quote that closes: "+fault.Show(string(after)), "wrong.list.quote")
	}
	return string(cell), nil
}

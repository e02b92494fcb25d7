package ingest

import (
	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
)

// reading is what the rows of one block say.
type reading struct {
	rows    int64
	groups  []*group // of users whose offsets were known
	unknown []unknownRow
	ids     []byte // holds the IDs of the unknown
	rejects []Reject
}

// unknownRow is a row whose user's offset was not known.
type unknownRow struct {
	group    *group
	hash     uint64
	from, to int // the ID, in ids
}

func (r *reading) id(u unknownRow) []byte { return r.ids[u.from:u.to] }

// reset makes the reading an empty one.
func (r *reading) reset() {
	*r = reading{groups: r.groups[:0], unknown: r.unknown[:0], ids: r.ids[:0]}
}

// reader makes readings of blocks. Several work side by side.
type reader struct {
	service *Service
	meaning *interpreter
	parser  rows.Parser
	sample  *sample // nil without verification
}

// read reads a block, with the offsets that a table knows.
func (r *reader) read(block *rows.Block, known *idTable, into *reading) {
	into.reset()
	r.parser.Reset(block)
	for row := (rows.Row{}); r.parser.Next(&row); {
		into.rows++
		if wrong := r.add(&row, known, into); wrong != nil {
			into.rejects = append(into.rejects, rejected(row.Line, wrong))
		}
	}
	for _, g := range r.meaning.groups {
		into.groups = append(into.groups, g)
	}
	r.meaning.forget()
}

// add adds what a row says, or returns what is wrong with it.
func (r *reader) add(row *rows.Row, known *idTable, into *reading) *fault.Error {
	to, wrong := r.meaning.group(row)
	if wrong != nil {
		return wrong
	}
	if wrong := r.user(row.UserID, known, to, into); wrong != nil {
		return wrong
	}
	if r.sample != nil {
		r.sample.offer(row.UserID, to.bitmaps)
	}
	return nil
}

// user adds a user to a group.
func (r *reader) user(id []byte, known *idTable, to *group, into *reading) *fault.Error {
	if r.service.config.Dense {
		if offset, ok := denseOffset(id, r.service.config.MaxOffset); ok {
			to.offsets = append(to.offsets, offset)
			return nil
		}
	}
	hash := hashID(id)
	if offset, ok := known.find(hash, id); ok {
		to.offsets = append(to.offsets, offset)
		return nil
	}
	if err := r.service.checkID(string(id)); err != nil {
		return fault.As(err)
	}
	from := len(into.ids)
	into.ids = append(into.ids, id...)
	into.unknown = append(into.unknown, unknownRow{to, hash, from, len(into.ids)})
	return nil
}

// denseOffset reads the offset that a dense ID is. It is not ok for anything
// that is no decimal integer up to a highest one without a leading zero.
func denseOffset(id []byte, highest uint32) (offset uint32, ok bool) {
	const mostDigits = len("4294967295")
	if len(id) == 0 || len(id) > mostDigits || id[0] == '0' && len(id) > 1 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range id {
		if !isDigit(c) {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return uint32(n), n <= uint64(highest)
}

package query

import (
	"context"
	"encoding/binary"
	"strconv"
	"time"

	"bitboard/internal/cohort"
)

// cellLife is how long a count is kept that nothing makes wrong.
const cellLife = 30 * 24 * time.Hour

// cell is one set to be counted, and its place among the counts that are kept.
type cell struct {
	row, field string
	content    uint64
	open       bool
}

// cells names the places of sets. The data that they are counted on are a part
// of the rows' names, so that an emptied or restored store has none.
func (p *fingerprinter) cells(sets []cohort.Set, rows []cohort.Row) []cell {
	cells := make([]cell, 0, len(sets))
	for _, r := range rows {
		name := strconv.FormatUint(mix(text(r.Name), text(p.cat.Lineage())), 16)
		for range r.Sets {
			id := p.of(sets[len(cells)])
			cells = append(cells, cell{name, strconv.FormatUint(id.shape, 36), id.content, id.open})
		}
	}
	return cells
}

// kept is a count as it is kept.
type kept struct {
	content    uint64 // of the print of what was counted
	count      int64
	computedAt time.Time
	until      time.Time
	engine     Engine
}

const (
	keptWords = 4
	keptBytes = 8*keptWords + 1
)

// encode writes what decode reads.
func (k kept) encode() string {
	b := make([]byte, 0, keptBytes)
	for _, word := range [keptWords]uint64{k.content, uint64(k.count), uint64(k.computedAt.UnixMilli()), uint64(k.until.UnixMilli())} {
		b = binary.BigEndian.AppendUint64(b, word)
	}
	if k.engine == Fold {
		return string(append(b, 1))
	}
	return string(append(b, 0))
}

func decode(s string) (k kept, ok bool) {
	if len(s) != keptBytes {
		return k, false
	}
	word := func(i int) uint64 { return binary.BigEndian.Uint64([]byte(s[8*i : 8*i+8])) }
	k = kept{word(0), int64(word(1)), time.UnixMilli(int64(word(2))), time.UnixMilli(int64(word(3))), Bitop}
	if s[keptBytes-1] == 1 {
		k.engine = Fold
	}
	return k, true
}

// lookUp returns the counts that are kept and still right, by cell.
func (s *Service) lookUp(ctx context.Context, cells []cell, o Options) (map[int]kept, error) {
	rows := grouped(cells, func(int) (string, bool) { return "", true })
	if err := s.store.ReadCells(ctx, rows); err != nil {
		return nil, err
	}
	found := make(map[int]kept, len(cells))
	i := 0
	for _, row := range rows {
		for _, v := range row.Values {
			if k, ok := decode(v); ok && k.content == cells[i].content && o.Now.Before(k.until) && o.allows(k.engine) {
				found[i] = k
			}
			i++
		}
	}
	return found, nil
}

// allows reports whether a count by an engine answers a question with these options.
func (o Options) allows(e Engine) bool { return o.Engine == Auto || o.Engine == "" || o.Engine == e }

// grouped makes rows of consecutive cells of the same row, with the values that
// a function gives them, and without those that it does not.
func grouped(cells []cell, value func(i int) (v string, ok bool)) []cohort.CellRow {
	var rows []cohort.CellRow
	for i, c := range cells {
		v, ok := value(i)
		if !ok {
			continue
		}
		if len(rows) == 0 || rows[len(rows)-1].Name != c.row {
			rows = append(rows, cohort.CellRow{Name: c.row})
		}
		last := &rows[len(rows)-1]
		last.Fields, last.Values = append(last.Fields, c.field), append(last.Values, v)
	}
	return rows
}

// life is how long the count of a cell may be kept.
func (s *Service) life(c cell) time.Duration {
	if c.open {
		return s.config.TTLOpen
	}
	return cellLife
}

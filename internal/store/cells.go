package store

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// cellsPerCommand bounds one command to well under 1 ms of server time.
const cellsPerCommand = 500

// ReadCells fills in the values that are kept of the rows' fields; those of
// absent ones are empty.
func (s *Store) ReadCells(ctx context.Context, rows []cohort.CellRow) error {
	for part := range slices.Chunk(cellParts(rows), pipelineLimit) {
		p := s.client.Pipeline()
		replies := make([]*redis.SliceCmd, len(part))
		for i, r := range part {
			replies[i] = p.HMGet(ctx, s.keys.cells(r.Name), r.Fields...)
		}
		if err := s.exec(ctx, "read counts", p); err != nil {
			return err
		}
		for i, r := range part {
			for j, value := range replies[i].Val() {
				r.Values[j], _ = value.(string)
			}
		}
	}
	return nil
}

// WriteCells keeps the values of the rows' fields for some time.
func (s *Store) WriteCells(ctx context.Context, rows []cohort.CellRow, life time.Duration) error {
	for part := range slices.Chunk(cellParts(rows), pipelineLimit/2) {
		p := s.client.Pipeline()
		for _, r := range part {
			key := s.keys.cells(r.Name)
			fields := make([]any, 0, 2*len(r.Fields))
			for i, f := range r.Fields {
				fields = append(fields, f, r.Values[i])
			}
			p.HSet(ctx, key, fields...)
			p.Expire(ctx, key, life)
		}
		if err := s.exec(ctx, "keep counts", p); err != nil {
			return err
		}
	}
	return nil
}

// cellParts cuts long rows into parts that one command takes. The parts share
// the rows' values.
func cellParts(rows []cohort.CellRow) []cohort.CellRow {
	var parts []cohort.CellRow
	for _, r := range rows {
		for from := 0; from < len(r.Fields); from += cellsPerCommand {
			to := min(from+cellsPerCommand, len(r.Fields))
			parts = append(parts, cohort.CellRow{Name: r.Name, Fields: r.Fields[from:to], Values: r.Values[from:to]})
		}
	}
	return parts
}

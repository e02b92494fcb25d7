package store

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

var knownUsers = cohort.Known()

// Fetch returns the stored bytes from..to-1 of bitmaps in a segment, in order,
// bit 0 the most significant of byte 0. What is absent or past the end of a
// bitmap is missing from its end; with from = to that is everything. A history
// that is absent is an error. The bytes
// are put into the arena, which saves much of the cost of reading many of them,
// if it has to-from+2 bytes for each bitmap; it may be nil.
func (s *Store) Fetch(ctx context.Context, segment int, inputs []cohort.Bitmap, from, to int, arena []byte) ([][]byte, error) {
	if from >= to { // to GETRANGE, an end of -1 is the last byte
		return make([][]byte, len(inputs)), nil
	}
	if s.hasOthers(inputs) {
		return s.fetchOthers(ctx, segment, inputs, from, to)
	}
	if len(arena) >= arenaBytes(len(inputs), to-from) {
		if fetched, err := s.fetchInto(ctx, segment, inputs, from, to, arena); err == nil {
			return fetched, nil
		}
		// Such a read is never sent again by the client; an ordinary one is.
	}
	fetched := make([][]byte, 0, len(inputs))
	for part := range slices.Chunk(inputs, pipelineLimit) {
		p := s.client.Pipeline()
		replies := make([]*redis.StringCmd, len(part))
		for i, b := range part {
			replies[i] = p.GetRange(ctx, s.keys.bitmap(b, segment), int64(from), int64(to-1))
		}
		asked := s.askPresence(ctx, p, segment, part)
		if err := s.exec(ctx, "read bitmaps", p); err != nil {
			return nil, err
		}
		if err := s.checkPresence(ctx, asked); err != nil {
			return nil, err
		}
		for _, r := range replies {
			fetched = append(fetched, bytesOf(r))
		}
	}
	return fetched, nil
}

// lineBreakBytes is what ends each reply, which is read together with it.
const lineBreakBytes = 2

// arenaBytes is the memory that Fetch needs for so many bitmaps of at most size
// bytes each.
func arenaBytes(bitmaps, size int) int { return bitmaps * (size + lineBreakBytes) }

// fetchInto reads into the arena.
func (s *Store) fetchInto(ctx context.Context, segment int, inputs []cohort.Bitmap, from, to int, arena []byte) ([][]byte, error) {
	room := arenaBytes(1, to-from)
	fetched := make([][]byte, 0, len(inputs))
	for part := range slices.Chunk(inputs, pipelineLimit) {
		p := s.client.Pipeline()
		replies := make([]*redis.ZeroCopyStringCmd, len(part))
		for i, b := range part {
			replies[i] = redis.NewZeroCopyStringCmd(ctx, arena[:room:room], "getrange", s.keys.bitmap(b, segment), from, to-1)
			arena = arena[room:]
			_ = p.Process(ctx, replies[i]) // a pipeline only queues
		}
		asked := s.askPresence(ctx, p, segment, part)
		if err := s.exec(ctx, "read bitmaps", p); err != nil {
			return nil, err
		}
		if err := s.checkPresence(ctx, asked); err != nil {
			return nil, err
		}
		for _, r := range replies {
			fetched = append(fetched, r.Bytes())
		}
	}
	return fetched, nil
}

// bytesOf returns a checked reply's bytes, nil for an absent value.
func bytesOf(r *redis.StringCmd) []byte {
	if r.Err() != nil {
		return nil
	}
	value, _ := r.Bytes() // no copy
	return value
}

// Marks returns, for each bitmap, whether the user at an offset is in it.
func (s *Store) Marks(ctx context.Context, offset uint32, of []cohort.Bitmap) ([]bool, error) {
	marks := make([]bool, 0, len(of))
	for part := range slices.Chunk(of, pipelineLimit) {
		p := s.client.Pipeline()
		replies := make([]*redis.IntCmd, len(part))
		for i, b := range part {
			key, bit := s.bitOf(b, offset)
			replies[i] = p.GetBit(ctx, key, bit)
		}
		if err := s.exec(ctx, "read a user's marks", p); err != nil {
			return nil, err
		}
		for _, r := range replies {
			marks = append(marks, r.Val() == 1)
		}
	}
	return marks, nil
}

package store

import (
	"context"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

const (
	// reverseBlock is how many offsets share one string of reverse entries.
	// It is part of the stored format.
	reverseBlock = 128
	// blocksPerRead bounds what one read of reverse entries holds in memory, to
	// about 33 MB when every ID has 256 bytes.
	blocksPerRead = 1000
)

// erased stands for the ID in the reverse entry of a user who was forgotten. It
// is no ID, so nobody else is ever given the offset.
const erased = "\x00"

// A reverse entry is the offset within its block in one byte, the ID's length
// less one in one byte, and the ID's bytes. Entries are appended in any order,
// and of two for one offset the last holds.
func appendEntry(block []byte, offset uint32, id string) []byte {
	block = append(block, byte(offset%reverseBlock), byte(len(id)-1))
	return append(block, id...)
}

// readBlock returns the IDs of a block, by offset within it; one that nobody
// has is empty.
func readBlock(data string) (ids [reverseBlock]string, ok bool) {
	for data != "" {
		if len(data) < 2 || data[0] >= reverseBlock || len(data) < 3+int(data[1]) {
			return ids, false
		}
		end := 3 + int(data[1])
		ids[data[0]] = data[2:end]
		data = data[end:]
	}
	return ids, true
}

// appendReverse writes the reverse entries of consecutive offsets that were
// reserved for the IDs.
func (s *Store) appendReverse(ctx context.Context, first uint32, ids []string) error {
	p := s.client.Pipeline()
	for start := 0; start < len(ids); {
		offset := first + uint32(start)
		end := min(len(ids), start+reverseBlock-int(offset%reverseBlock))
		var entries []byte
		for i, id := range ids[start:end] {
			entries = appendEntry(entries, offset+uint32(i), id)
		}
		p.Append(ctx, s.keys.reverse(offset/reverseBlock), string(entries))
		start = end
	}
	return s.exec(ctx, "write user IDs", p)
}

// IDs returns the ID of each offset; offsets are ascending. The ID of an
// offset that was never handed out is the empty string.
func (s *Store) IDs(ctx context.Context, offsets []uint32) ([]string, error) {
	var list cohort.IDList
	if err := s.ListIDs(ctx, offsets, &list); err != nil {
		return nil, err
	}
	return list.Strings(), nil
}

// ListIDs adds the ID of each offset to a list; offsets are ascending. The ID of
// an offset that was never handed out is the empty string.
func (s *Store) ListIDs(ctx context.Context, offsets []uint32, list *cohort.IDList) error {
	if s.config.Dense {
		list.AppendNumbers(offsets)
		return nil
	}
	for len(offsets) > 0 {
		blocks, n := firstBlocks(offsets)
		if err := s.readReverse(ctx, blocks, offsets[:n], list); err != nil {
			return err
		}
		offsets = offsets[n:]
	}
	return nil
}

// firstBlocks returns the blocks of the first offsets, at most blocksPerRead,
// and how many offsets lie in them.
func firstBlocks(offsets []uint32) (blocks []uint32, n int) {
	for i, offset := range offsets {
		block := offset / reverseBlock
		if len(blocks) > 0 && blocks[len(blocks)-1] == block {
			continue
		}
		if len(blocks) == blocksPerRead {
			return blocks, i
		}
		blocks = append(blocks, block)
	}
	return blocks, len(offsets)
}

func (s *Store) readReverse(ctx context.Context, blocks, offsets []uint32, list *cohort.IDList) error {
	return s.eachBlock(ctx, blocks, func(block uint32, entries *[reverseBlock]string) {
		for len(offsets) > 0 && offsets[0]/reverseBlock == block {
			id := entries[offsets[0]%reverseBlock]
			if id == erased {
				id = ""
			}
			list.Append(id)
			offsets = offsets[1:]
		}
	})
}

// eachBlock reads blocks and calls f for each in turn, with its IDs.
func (s *Store) eachBlock(ctx context.Context, blocks []uint32, f func(block uint32, entries *[reverseBlock]string)) error {
	p := s.client.Pipeline()
	replies := make([]*redis.StringCmd, len(blocks))
	for i, block := range blocks {
		replies[i] = p.Get(ctx, s.keys.reverse(block))
	}
	if err := s.exec(ctx, "read user IDs", p); err != nil {
		return err
	}
	for i, block := range blocks {
		entries, ok := readBlock(replies[i].Val())
		if !ok {
			return damagedKey(s.keys.reverse(block), "block of user IDs")
		}
		f(block, &entries)
	}
	return nil
}

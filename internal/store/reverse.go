package store

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
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
	ids := make([]string, len(offsets))
	if s.config.Dense {
		denseIDs(offsets, ids)
		return ids, nil
	}
	for done := 0; done < len(offsets); {
		blocks, n := firstBlocks(offsets[done:])
		if err := s.readReverse(ctx, blocks, offsets[done:done+n], ids[done:done+n]); err != nil {
			return nil, err
		}
		done += n
	}
	return ids, nil
}

// denseIDs writes offsets as IDs, which share their memory.
func denseIDs(offsets []uint32, ids []string) {
	const digits = 10
	all := make([]byte, 0, digits*len(offsets))
	for _, offset := range offsets {
		all = strconv.AppendUint(all, uint64(offset), 10)
	}
	rest := string(all)
	for i, offset := range offsets {
		n := decimalDigits(offset)
		ids[i], rest = rest[:n], rest[n:]
	}
}

func decimalDigits(n uint32) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits
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

func (s *Store) readReverse(ctx context.Context, blocks, offsets []uint32, ids []string) error {
	return s.eachBlock(ctx, blocks, func(block uint32, entries *[reverseBlock]string) {
		for len(offsets) > 0 && offsets[0]/reverseBlock == block {
			if id := entries[offsets[0]%reverseBlock]; id != erased {
				ids[0] = id
			}
			offsets, ids = offsets[1:], ids[1:]
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

package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
)

// placeScript adds entries to a block of the dictionary, unless one of their
// offsets has another ID: then it adds none and returns the number of that
// entry, from 1. ARGV has for each entry the offset within the block and the
// ID. So an offset is held by one ID, whatever other imports do.
var placeScript = redis.NewScript(`
local wanted, holder = {}, {}
for i = 1, #ARGV, 2 do wanted[tonumber(ARGV[i])] = true end
local data, at = redis.call('GET', KEYS[1]) or '', 1
while at < #data do
  local slot, n = string.byte(data, at, at + 1)
  if wanted[slot] then holder[slot] = string.sub(data, at + 2, at + 2 + n) end
  at = at + 3 + n
end
local new = {}
for i = 1, #ARGV, 2 do
  local slot, id = tonumber(ARGV[i]), ARGV[i + 1]
  if not holder[slot] then
    new[#new + 1] = string.char(slot, #id - 1) .. id
    holder[slot] = id
  elseif holder[slot] ~= id then
    return (i + 1) / 2
  end
end
if #new > 0 then redis.call('APPEND', KEYS[1], table.concat(new)) end
return 0
`)

// Write gives checked IDs their offsets, and returns how many had none yet. A
// *Clash says that another writer got in between: then some of the pairs, and
// those written before, are in the store.
func (m *IDImport) Write(ctx context.Context, pairs []Pair) (written int, err error) {
	if err := m.hold(ctx); err != nil {
		return 0, err
	}
	fresh, err := m.store.withoutOffset(ctx, pairs)
	if err != nil || len(fresh) == 0 {
		return 0, err
	}
	if err := m.store.place(ctx, pairs, fresh); err != nil {
		return 0, err
	}
	if written, err = m.store.claimPairs(ctx, pairs, fresh); err != nil {
		return 0, err
	}
	return written, m.giveUpForgotten(ctx, pairs)
}

// withoutOffset returns the positions of the pairs that are not in the
// dictionary yet.
func (s *Store) withoutOffset(ctx context.Context, pairs []Pair) ([]int, error) {
	ids, _ := split(pairs)
	given, absent, err := s.lookUp(ctx, ids)
	if err != nil {
		return nil, err
	}
	missing := make([]bool, len(pairs))
	for _, at := range absent {
		missing[at] = true
	}
	for at, p := range pairs {
		if !missing[at] && given[at] != p.Offset {
			return nil, clash(at, p, "another writer has given it offset %d", given[at])
		}
	}
	return absent, nil
}

// giveUpForgotten takes back the entries of users who were forgotten since the
// offsets were checked.
func (m *IDImport) giveUpForgotten(ctx context.Context, pairs []Pair) error {
	now, err := m.store.now(ctx)
	if err != nil || now.generation() == m.generation {
		return err
	}
	gone, err := m.store.forgottenAt(ctx, now.generation())
	if err != nil {
		return err
	}
	for at, p := range pairs {
		if !gone.Contains(p.Offset) {
			continue
		}
		if _, err := m.store.runEach(ctx, "remove a user ID", releaseIDScript, []scriptCall{m.store.releaseCall(p.ID, p.Offset)}); err != nil {
			return err
		}
		return clash(at, p, "its user was forgotten meanwhile")
	}
	return nil
}

// place writes the reverse entries of the pairs at some positions, those of a
// block at once.
func (s *Store) place(ctx context.Context, pairs []Pair, at []int) error {
	order := slices.SortedFunc(slices.Values(at), func(a, b int) int { return cmp.Compare(pairs[a].Offset, pairs[b].Offset) })
	var calls []scriptCall
	var first []int // the position in order of each call's first pair
	for i, at := range order {
		p := pairs[at]
		if i == 0 || pairs[order[i-1]].Offset/reverseBlock != p.Offset/reverseBlock {
			calls, first = append(calls, scriptCall{key: s.keys.reverse(p.Offset / reverseBlock)}), append(first, i)
		}
		last := &calls[len(calls)-1]
		last.args = append(last.args, p.Offset%reverseBlock, p.ID)
	}
	replies, err := s.runEach(ctx, "write user IDs", placeScript, calls)
	if err != nil {
		return err
	}
	for i, r := range replies {
		refused, err := r.Int()
		if err != nil {
			return s.failed(ctx, "write user IDs", err)
		}
		if refused > 0 {
			at := order[first[i]+refused-1]
			return clash(at, pairs[at], "the store has come to hold it for another user")
		}
	}
	return nil
}

// claimPairs writes the forward entries of the pairs at some positions, whose
// reverse entries are there, and returns how many it wrote.
func (s *Store) claimPairs(ctx context.Context, pairs []Pair, at []int) (written int, err error) {
	p := s.client.Pipeline()
	replies := make([]*redis.BoolCmd, len(at))
	for i, at := range at {
		replies[i] = p.HSetNX(ctx, s.forwardKey(pairs[at].ID), pairs[at].ID, pairs[at].Offset)
	}
	if err := s.exec(ctx, "write user IDs", p); err != nil {
		return 0, err
	}
	var taken []Pair
	var takenAt []int
	for i, r := range replies {
		if !r.Val() { // as for a pair that stands there twice
			taken, takenAt = append(taken, pairs[at[i]]), append(takenAt, at[i])
		}
	}
	lost, err := s.withoutOffset(ctx, taken)
	if c, ok := errors.AsType[*Clash](err); ok {
		c.At = takenAt[c.At]
	}
	if err == nil && len(lost) > 0 {
		return 0, clash(takenAt[lost[0]], taken[lost[0]], "it was forgotten meanwhile")
	}
	return len(at) - len(taken), err
}

// holders returns the IDs that hold offsets, as their reverse entries say:
// none for one that nobody holds, erased for one whose user was forgotten.
func (s *Store) holders(ctx context.Context, offsets []uint32) (map[uint32]string, error) {
	sorted := slices.Sorted(slices.Values(offsets))
	blocks := make([]uint32, 0, len(sorted))
	for _, offset := range sorted {
		blocks = append(blocks, offset/reverseBlock)
	}
	holders := make(map[uint32]string, len(sorted))
	for part := range slices.Chunk(slices.Compact(blocks), blocksPerRead) {
		if err := s.eachBlock(ctx, part, func(block uint32, entries *[reverseBlock]string) {
			for len(sorted) > 0 && sorted[0]/reverseBlock == block {
				holders[sorted[0]] = entries[sorted[0]%reverseBlock]
				sorted = sorted[1:]
			}
		}); err != nil {
			return nil, err
		}
	}
	return holders, nil
}

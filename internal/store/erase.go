package store

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// searchScript returns the offsets within a block of the dictionary whose
// entries hold the ID ARGV[1].
var searchScript = redis.NewScript(`
local data = redis.call('GET', KEYS[1]) or ''
if not string.find(data, ARGV[1], 1, true) then return {} end
local found, at = {}, 1
while at < #data do
  local slot, n = string.byte(data, at, at + 1)
  if string.sub(data, at + 2, at + 2 + n) == ARGV[1] then found[#found + 1] = slot end
  at = at + 3 + n
end
return found
`)

// eraseScript overwrites the IDs of entries of a block of the dictionary, given
// by their offsets within it, with the ID ARGV[1].
var eraseScript = redis.NewScript(`
local gone = {}
for i = 2, #ARGV do gone[tonumber(ARGV[i])] = true end
local data, at, kept = redis.call('GET', KEYS[1]) or '', 1, {}
while at < #data do
  local slot, n = string.byte(data, at, at + 1)
  if gone[slot] then
    kept[#kept + 1] = string.char(slot, #ARGV[1] - 1) .. ARGV[1]
  else
    kept[#kept + 1] = string.sub(data, at, at + 2 + n)
  end
  at = at + 3 + n
end
redis.call('SET', KEYS[1], table.concat(kept))
return 0
`)

// releaseScript takes the ID ARGV[1] out of a bucket of the dictionary if its
// offset is ARGV[2].
var releaseIDScript = redis.NewScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
`)

// search looks into all reverse entries: writers that lost a race for the ID,
// or died, have left the ID at other offsets than its own.
func (f *forgetting) search(ctx context.Context) error {
	var mu sync.Mutex
	return f.store.eachMaster(ctx, "scan the dictionary", func(ctx context.Context, node redis.Cmdable) error {
		for cursor := uint64(0); ; {
			names, next, err := node.ScanType(ctx, cursor, f.store.keys.reverseBlocks(), scanCount, "string").Result()
			if err != nil {
				return err
			}
			found, err := f.searchIn(ctx, names)
			if err != nil {
				return err
			}
			mu.Lock()
			f.offsets.AddMany(found)
			mu.Unlock()
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
}

// searchIn returns the offsets at which some blocks hold the ID.
func (f *forgetting) searchIn(ctx context.Context, names []string) ([]uint32, error) {
	var calls []scriptCall
	var firsts []uint32
	for _, name := range names {
		if block, ok := f.store.keys.parseReverse(name); ok {
			calls = append(calls, scriptCall{name, []any{f.id}})
			firsts = append(firsts, block*reverseBlock)
		}
	}
	replies, err := f.store.runEach(ctx, "search the dictionary", searchScript, calls)
	if err != nil {
		return nil, err
	}
	var offsets []uint32
	for i, r := range replies {
		slots, err := r.Int64Slice()
		if err != nil {
			return nil, f.store.failed(ctx, "search the dictionary", err)
		}
		for _, slot := range slots {
			offsets = append(offsets, firsts[i]+uint32(slot))
		}
	}
	return offsets, nil
}

// erase overwrites the IDs of the offsets.
func (f *forgetting) erase(ctx context.Context) error {
	var calls []scriptCall
	for _, offset := range f.all() {
		key := f.store.keys.reverse(offset / reverseBlock)
		if len(calls) == 0 || calls[len(calls)-1].key != key {
			calls = append(calls, scriptCall{key, []any{erased}})
		}
		last := &calls[len(calls)-1]
		last.args = append(last.args, offset%reverseBlock)
	}
	_, err := f.store.runEach(ctx, "erase a user ID", eraseScript, calls)
	return err
}

// release removes the forward entry.
func (f *forgetting) release(ctx context.Context) error {
	var calls []scriptCall
	for _, offset := range f.offsets.ToArray() {
		calls = append(calls, f.store.releaseCall(f.id, offset))
	}
	_, err := f.store.runEach(ctx, "remove a user ID", releaseIDScript, calls)
	return err
}

func (s *Store) releaseCall(id string, offset uint32) scriptCall {
	return scriptCall{s.forwardKey(id), []any{id, offset}}
}

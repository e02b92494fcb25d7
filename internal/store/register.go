package store

import (
	"context"
	"iter"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// registerLimit is the most bitmaps and segments in one call of a catalogue
// script, so that it takes less than about 1 ms.
const registerLimit = 1000

// place is segments of one bitmap. With no segments it is an empty-day marker.
type place struct {
	bitmap   cohort.Bitmap
	segments []int
}

// registerScript puts bitmaps and segments into the catalogue under one new
// version, unless all of them are there; those that were not get the version
// token ARGV[1]. One whose segments are there but not its entry is new too: who
// deleted that must not hide it. KEYS: version, catalogue, tokens, then the segments key of each
// bitmap. The rest of ARGV: for each bitmap its member, the number of its
// segments and the segments.
var registerScript = redis.NewScript(`
local changed, at = {}, 2
for i = 4, #KEYS do
  local member, last = ARGV[at], at + 1 + tonumber(ARGV[at + 1])
  local absent = redis.call('EXISTS', KEYS[i]) == 0
  if absent then redis.call('SETBIT', KEYS[i], 0, 0) end
  local new = absent or not redis.call('ZSCORE', KEYS[2], member)
  for j = at + 2, last do
    if redis.call('SETBIT', KEYS[i], ARGV[j], 1) == 0 then new = true end
  end
  if new then changed[#changed + 1] = member end
  at = last + 1
end
if #changed == 0 then return 0 end
local version = redis.call('INCR', KEYS[1])
for _, member in ipairs(changed) do
  redis.call('ZADD', KEYS[2], version, member)
  redis.call('HSET', KEYS[3], member, ARGV[1])
end
return #changed
`)

// unregisterScript takes segments out of the catalogue under one new version,
// but none of a bitmap that changed after the version ARGV[2]. A bitmap left
// without segments is removed, unless ARGV[3] is keep: then it stays as an
// empty-day marker. The rest is as for registerScript.
// Its first write changes nothing and takes no memory: after such a one, a
// server whose memory is full lets a script do the rest.
var unregisterScript = redis.NewScript(`
redis.call('PERSIST', KEYS[1])
local changed, at = {}, 4
for i = 4, #KEYS do
  local member, last = ARGV[at], at + 1 + tonumber(ARGV[at + 1])
  local score = redis.call('ZSCORE', KEYS[2], member)
  if score and tonumber(score) <= tonumber(ARGV[2]) and redis.call('EXISTS', KEYS[i]) == 1 then
    local less = false
    for j = at + 2, last do
      if redis.call('SETBIT', KEYS[i], ARGV[j], 0) == 1 then less = true end
    end
    if less then
      changed[#changed + 1] = member
      if ARGV[3] ~= 'keep' and redis.call('BITCOUNT', KEYS[i]) == 0 then redis.call('DEL', KEYS[i]) end
    end
  end
  at = last + 1
end
if #changed == 0 then return 0 end
local version = redis.call('INCR', KEYS[1])
for _, member in ipairs(changed) do
  redis.call('ZADD', KEYS[2], version, member)
  redis.call('HSET', KEYS[3], member, ARGV[1])
end
return #changed
`)

// register puts places into the catalogue. A writer does it before it writes,
// so that a crash never hides a bit (a bitmap that is registered but absent
// counts as empty), and again after, in case that a scan in between found the
// bitmap absent and took it out.
func (s *Store) register(ctx context.Context, places []place) error {
	return s.runCatalogue(ctx, registerScript, places)
}

// unregister takes places out of the catalogue whose bitmaps are absent and
// did not change there after a version. A bitmap that appears meanwhile stays.
func (s *Store) unregister(ctx context.Context, places []place, version int64, empty string) error {
	_, absent, err := s.split(ctx, places)
	if err != nil || len(absent) == 0 {
		return err
	}
	if err := s.runCatalogue(ctx, unregisterScript, absent, version, empty); err != nil {
		return err
	}
	back, _, err := s.split(ctx, absent)
	if err != nil || len(back) == 0 {
		return err
	}
	return s.register(ctx, back)
}

// withdrawTimeout bounds the clearing up after a write that failed.
const withdrawTimeout = time.Second

// withdraw takes out of the catalogue what a failed write registered and did
// not write, so that its days are missing rather than empty. It does so also
// when the writer was interrupted; where it fails, the next scan does it.
func (s *Store) withdraw(ctx context.Context, places []place) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer cancel()
	_ = s.unregister(ctx, places, anyVersion, removeEmpty)
}

// runCatalogue calls a script with the places, a bounded part at a time.
func (s *Store) runCatalogue(ctx context.Context, script *redis.Script, places []place, first ...any) error {
	for _, call := range s.catalogueCalls(script, places, first...) {
		if err := script.Run(ctx, s.client, call.keys, call.args...).Err(); err != nil {
			return s.failed(ctx, "change the catalogue", err)
		}
	}
	return nil
}

// catalogueCalls are the calls of a script with the places, a bounded part in each.
func (s *Store) catalogueCalls(script *redis.Script, places []place, first ...any) []invocation {
	var calls []invocation
	for part := range parts(places) {
		keys := []string{s.keys.catalogueVersion(), s.keys.catalogue(), s.keys.tokens()}
		args := append([]any{newToken()}, first...)
		for _, p := range part {
			m := member(p.bitmap)
			keys = append(keys, s.keys.segmentsOf(m))
			args = append(args, m, len(p.segments))
			for _, segment := range p.segments {
				args = append(args, segment)
			}
		}
		calls = append(calls, invocation{script, keys, args})
	}
	return calls
}

// parts yields places in parts of at most registerLimit segments and bitmaps.
func parts(places []place) iter.Seq[[]place] {
	return func(yield func([]place) bool) {
		var part []place
		size := 0
		for _, p := range places {
			for first := true; first || len(p.segments) > 0; first = false {
				n := min(len(p.segments), registerLimit)
				if size > 0 && size+n+1 > registerLimit {
					if !yield(part) {
						return
					}
					part, size = nil, 0
				}
				part = append(part, place{p.bitmap, p.segments[:n]})
				size += n + 1
				p.segments = p.segments[n:]
			}
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// split tells the places whose bitmaps exist from those that are absent.
func (s *Store) split(ctx context.Context, places []place) (present, absent []place, err error) {
	for part := range parts(places) {
		p := s.client.Pipeline()
		var replies []*redis.IntCmd
		for _, at := range part {
			for _, segment := range at.segments {
				replies = append(replies, p.Exists(ctx, s.keys.bitmap(at.bitmap, segment)))
			}
		}
		if err := s.exec(ctx, "look for bitmaps", p); err != nil {
			return nil, nil, err
		}
		for _, at := range part {
			here, gone := place{bitmap: at.bitmap}, place{bitmap: at.bitmap}
			for i, segment := range at.segments {
				if replies[i].Val() == 1 {
					here.segments = append(here.segments, segment)
				} else {
					gone.segments = append(gone.segments, segment)
				}
			}
			replies = replies[len(at.segments):]
			present, absent = appendSome(present, here), appendSome(absent, gone)
		}
	}
	return present, absent, nil
}

// appendSome appends a place that has any segments.
func appendSome(places []place, p place) []place {
	if len(p.segments) == 0 {
		return places
	}
	return append(places, p)
}

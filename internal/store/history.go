package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// errHistoryGone is a history that was read and is not there any more. Its
// reader does without.
var errHistoryGone = errors.New("store: a history is gone")

// deriveScript makes KEYS[1] the union of the other KEYS, at most ARGV[2] a
// command, with a time to live of ARGV[1] milliseconds. Of those the first
// ARGV[3] must exist; when one does not it changes nothing and returns 0. A
// union of nothing is an empty string: an absent key is one that was lost.
var deriveScript = redis.NewScript(`
for i = 2, 1 + ARGV[3] do
  if redis.call('EXISTS', KEYS[i]) == 0 then return 0 end
end
local target, most = KEYS[1], tonumber(ARGV[2])
redis.call('BITOP', 'OR', target, unpack(KEYS, 2, math.min(1 + most, #KEYS)))
for i = 2 + most, #KEYS, most - 1 do
  redis.call('BITOP', 'OR', target, target, unpack(KEYS, i, math.min(i + most - 2, #KEYS)))
end
if redis.call('EXISTS', target) == 0 then redis.call('SET', target, '') end
redis.call('PEXPIRE', target, ARGV[1])
return 1
`)

// setHistoryScript puts a history into the catalogue in place of any other of
// its day. KEYS: version, catalogue, tokens, and the segments key of its member
// ARGV[1]. ARGV[2] is its print, ARGV[3] a bitmap of its segments.
var setHistoryScript = redis.NewScript(`
local version = redis.call('INCR', KEYS[1])
redis.call('ZADD', KEYS[2], version, ARGV[1])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
redis.call('SET', KEYS[4], ARGV[3])
return version
`)

// dropHistoryScript takes a history out of the catalogue, unless there is
// another in its place. KEYS and ARGV are as for setHistoryScript.
var dropHistoryScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[4]) == 0 or redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[4])
redis.call('HDEL', KEYS[3], ARGV[1])
return redis.call('ZADD', KEYS[2], redis.call('INCR', KEYS[1]), ARGV[1])
`)

// sweepScript removes a key, unless it is only there for a time.
var sweepScript = redis.NewScript(`
if redis.call('TTL', KEYS[1]) ~= -1 then return 0 end
return redis.call('UNLINK', KEYS[1])
`)

// Derive makes a history the union of bitmaps as they are now, in each segment
// that one of them has in the catalogue, and puts it in the place of any other
// of its metric and day. Histories among the bitmaps come first, and are not to
// be gone. Until all of it is there, nothing of it is in the catalogue, and its
// keys are temporary. It returns its segments.
func (s *Store) Derive(ctx context.Context, cat *cohort.Catalogue, h cohort.Bitmap, of []cohort.Bitmap) (segments []int, err error) {
	if err := s.writable(ctx); err != nil {
		return nil, err
	}
	sources := map[int][]cohort.Bitmap{}
	for _, b := range of {
		for _, segment := range cat.SegmentsOf(b) {
			sources[segment] = append(sources[segment], b)
		}
	}
	segments = slices.AppendSeq(make([]int, 0, len(sources)), maps.Keys(sources))
	slices.Sort(segments)
	for part := range slices.Chunk(segments, pipelineLimit) {
		if err := s.deriveIn(ctx, part, h, sources); err != nil {
			return nil, err
		}
	}
	if err := s.setHistory(ctx, h, segments); err != nil {
		return nil, err
	}
	for _, old := range cat.Histories(h.Metric) {
		if old.Day == h.Day && old != h {
			err = s.unlinkHistory(ctx, old, cat.SegmentsOf(old))
		}
	}
	return segments, err
}

// deriveIn makes a history in some segments, there to stay.
func (s *Store) deriveIn(ctx context.Context, segments []int, h cohort.Bitmap, sources map[int][]cohort.Bitmap) error {
	calls := make([]invocation, len(segments))
	for i, segment := range segments {
		keys, histories := []string{s.keys.bitmap(h, segment)}, 0
		for _, b := range sources[segment] {
			keys = append(keys, s.keys.bitmap(b, segment))
			if b.Kind == cohort.HistoryBitmap {
				histories++
			}
		}
		calls[i] = invocation{deriveScript, keys, []any{s.config.TempTTL.Milliseconds(), s.bitopSources(), histories}}
	}
	replies, err := s.invoke(ctx, "derive a history", calls...)
	if err != nil {
		return err
	}
	p := s.client.Pipeline()
	kept := make([]*redis.BoolCmd, len(segments))
	for i, segment := range segments {
		if done, err := replies[i].Int(); err != nil || done == 0 {
			return errors.Join(err, errHistoryGone)
		}
		kept[i] = p.Persist(ctx, s.keys.bitmap(h, segment))
	}
	if err := s.exec(ctx, "keep a history", p); err != nil {
		return err
	}
	for _, k := range kept {
		if !k.Val() {
			return errHistoryGone // it expired meanwhile
		}
	}
	return nil
}

// historyCall is the call of a script about a history's entry in the catalogue.
func (s *Store) historyCall(script *redis.Script, h cohort.Bitmap, args ...any) invocation {
	k, m := s.keys, member(h)
	keys := []string{k.catalogueVersion(), k.catalogue(), k.tokens(), k.segmentsOf(m)}
	return invocation{script, keys, append([]any{m, strconv.FormatUint(h.Print, 10)}, args...)}
}

func (s *Store) setHistory(ctx context.Context, h cohort.Bitmap, segments []int) error {
	var in []byte
	for _, segment := range segments {
		in = bitmap.Set(in, segment)
	}
	_, err := s.invoke(ctx, "enter a history", s.historyCall(setHistoryScript, h, string(in)))
	return err
}

// DropHistory removes a history, unless another is in its place.
func (s *Store) DropHistory(ctx context.Context, cat *cohort.Catalogue, h cohort.Bitmap) error {
	_, err := s.invoke(ctx, "remove a history", s.historyCall(dropHistoryScript, h))
	return errors.Join(err, s.unlinkHistory(ctx, h, cat.SegmentsOf(h)))
}

func (s *Store) unlinkHistory(ctx context.Context, h cohort.Bitmap, segments []int) error {
	for part := range slices.Chunk(segments, pipelineLimit) {
		p := s.client.Pipeline()
		for _, segment := range part {
			p.Unlink(ctx, s.keys.bitmap(h, segment))
		}
		if err := s.exec(ctx, "remove a history", p); err != nil {
			return err
		}
	}
	return nil
}

// presence is what was asked, in the pipeline that reads bitmaps and after it,
// about the histories and lists among them: an absent day is one without users, an
// absent history one that was evicted or deleted, and so is an absent list.
type presence map[cohort.Bitmap]*redis.IntCmd

func (s *Store) askPresence(ctx context.Context, p redis.Pipeliner, segment int, inputs []cohort.Bitmap) presence {
	asked := presence{}
	for _, b := range inputs {
		if b.Kind == cohort.HistoryBitmap || b.Kind == cohort.ListBitmap {
			asked[b] = p.Exists(ctx, s.keys.bitmap(b, segment))
		}
	}
	return asked
}

// checkPresence takes a history that is gone out of the catalogue, so that it
// is made again, and is an error about it, or about a list that is gone.
func (s *Store) checkPresence(ctx context.Context, asked presence) error {
	for h, reply := range asked {
		if reply.Val() == 0 && h.Kind == cohort.ListBitmap {
			return listGone(h)
		}
		if reply.Val() == 0 {
			_, err := s.invoke(ctx, "remove a history", s.historyCall(dropHistoryScript, h))
			return errors.Join(errHistoryGone, err)
		}
	}
	return nil
}

// sweepHistories compares the histories of the catalogue with the keys that a
// scan met: it takes out those that lack a segment, and removes keys that are of
// no history there, which a process left that died.
func (s *Store) sweepHistories(ctx context.Context, before *cohort.Catalogue, found *sightings) error {
	latest, err := s.latest(ctx)
	if err != nil {
		return err
	}
	for h := range before.AllHistories() {
		if unmet(found.histories[h], before.SegmentsOf(h)) != nil {
			if err := s.DropHistory(ctx, before, h); err != nil {
				return err
			}
		}
	}
	var calls []invocation
	for h, segments := range found.histories {
		for _, segment := range segments.ToArray() {
			if !latest.catalogue.Has(h, int(segment)) {
				calls = append(calls, invocation{sweepScript, []string{s.keys.bitmap(h, int(segment))}, nil})
			}
		}
	}
	for part := range slices.Chunk(calls, pipelineLimit) {
		if _, err := s.invoke(ctx, "remove what is left of histories", part...); err != nil {
			return err
		}
	}
	return nil
}

// clearHistories takes a user out of all histories. They stay what they are: the
// days of the user have new tokens, or are gone.
func (s *Store) clearHistories(ctx context.Context, offset uint32) error {
	cat, err := s.Catalogue(ctx)
	if err != nil {
		return err
	}
	segment, bit := s.locate(offset)
	var histories []cohort.Bitmap
	for h := range cat.AllHistories() {
		if cat.Has(h, segment) {
			histories = append(histories, h)
		}
	}
	has, err := s.Marks(ctx, offset, histories)
	if err != nil {
		return err
	}
	p := s.client.Pipeline()
	for i, h := range histories {
		if has[i] { // else it would make the string longer
			p.SetBit(ctx, s.keys.bitmap(h, segment), bit, 0)
		}
	}
	if p.Len() == 0 {
		return nil
	}
	return s.exec(ctx, "take a user out of histories", p)
}

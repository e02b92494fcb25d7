package store

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

const (
	// presenceBits bounds one call of a script to well under 1 ms.
	presenceBits = 1000
	// beatLife is how long a minute's heartbeats are kept after the last of them:
	// the longest question, and a minute for clocks that differ.
	beatLife = (cohort.MaxRecentMinutes + 1) * time.Minute
	// beatCountLife is how long the numbers of a day's minutes are kept after the
	// last of them.
	beatCountLife = 48 * time.Hour
)

// liveScript sets the bits ARGV[2…] of who is there (KEYS[1]), which ascend, to
// ARGV[1], and moves their number (KEYS[2]) by the difference that makes, so that
// it always is the number of bits. What lies behind the end of the string is not
// cleared, which would make it longer. A number that is none is counted anew. It
// returns the difference.
const liveScript = `
if not string.match(redis.call('GET', KEYS[2]) or '', '^%d+$') then redis.call('SET', KEYS[2], redis.call('BITCOUNT', KEYS[1])) end
local call, value, changed = redis.call, tonumber(ARGV[1]), 0
local last = value == 0 and 8 * call('STRLEN', KEYS[1]) or math.huge
for i = 2, #ARGV do
  if tonumber(ARGV[i]) >= last then break end
  if call('SETBIT', KEYS[1], ARGV[i], ARGV[1]) ~= value then changed = changed + 1 end
end
if changed > 0 then redis.call('INCRBY', KEYS[2], value == 1 and changed or -changed) end
return changed
`

// beatScript sets the bits ARGV[4…] of a minute's heartbeats (KEYS[1]), which go
// away ARGV[2] seconds after the last, and moves their number, field ARGV[1] of a
// hash (KEYS[2]) that goes away after ARGV[3]. It returns how many were not set
// before. An EXPIREAT would delete at once what a slow clock sends. Nothing is set
// before it is known that the number can be: a bit alone would not be counted again.
const beatScript = `
local call, changed = redis.call, 0
if not string.match(call('HGET', KEYS[2], ARGV[1]) or '', '^%d+$') then call('HSET', KEYS[2], ARGV[1], call('BITCOUNT', KEYS[1])) end
for i = 4, #ARGV do changed = changed + 1 - call('SETBIT', KEYS[1], ARGV[i], 1) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('HINCRBY', KEYS[2], ARGV[1], changed)
redis.call('EXPIRE', KEYS[2], ARGV[3])
return changed
`

// eitherScript counts the bits that are set in any of KEYS[2…], by way of KEYS[1].
const eitherScript = `
redis.call('BITOP', 'OR', unpack(KEYS))
local n = redis.call('BITCOUNT', KEYS[1])
redis.call('UNLINK', KEYS[1])
return n
`

// forgetBeatScript clears the bit ARGV[1] of a minute's heartbeats.
const forgetBeatScript = `
if redis.call('GETBIT', KEYS[1], ARGV[1]) == 1 then redis.call('SETBIT', KEYS[1], ARGV[1], 0) end
return 0
`

// SetPresent notes that users are there, or that they are not, and returns for
// how many that is new. A user who is forgotten meanwhile is left out.
func (s *Store) SetPresent(ctx context.Context, metric string, users *roaring.Bitmap, there bool) (changed int64, err error) {
	value := 0
	if there {
		value = 1
	}
	return s.presence(ctx, users, func(users *roaring.Bitmap) (int64, error) {
		return s.eachPresence(ctx, "write who is there", users, liveScript, func(segment int) ([]string, []any) {
			return []string{s.keys.live(metric, segment), s.keys.liveCount(metric, segment)}, []any{value}
		})
	})
}

// Beat notes a heartbeat of users in the UTC minute of an instant, and returns
// how many had none in it before.
func (s *Store) Beat(ctx context.Context, metric string, users *roaring.Bitmap, at time.Time) (changed int64, err error) {
	minute := at.UTC().Truncate(time.Minute)
	day := minute.Truncate(24 * time.Hour)
	first := []any{minute.Format("1504"), int(beatLife.Seconds()), int(beatCountLife.Seconds())}
	return s.presence(ctx, users, func(users *roaring.Bitmap) (int64, error) {
		return s.eachPresence(ctx, "write heartbeats", users, beatScript, func(segment int) ([]string, []any) {
			return []string{s.keys.beat(metric, segment, minute), s.keys.beats(metric, segment, day)}, first
		})
	})
}

// presence writes users who were not forgotten, and takes those out again who
// were while it did.
func (s *Store) presence(ctx context.Context, users *roaring.Bitmap, write func(*roaring.Bitmap) (int64, error)) (int64, error) {
	if err := s.writable(ctx); err != nil {
		return 0, err
	}
	kept, version, err := s.withoutForgotten(ctx, map[cohort.Bitmap]*roaring.Bitmap{knownUsers: users})
	if err != nil {
		return 0, err
	}
	changed, err := write(kept[knownUsers])
	if err != nil {
		return changed, err
	}
	slipped, err := s.slipped(ctx, version, kept[knownUsers])
	if err != nil {
		return changed, err
	}
	for _, offset := range slipped {
		if err := s.clearPresence(ctx, offset); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// slipped returns those of some users who were forgotten after a version.
func (s *Store) slipped(ctx context.Context, version int64, users *roaring.Bitmap) ([]uint32, error) {
	if s.config.Dense {
		return nil, nil
	}
	now, err := s.now(ctx)
	if err != nil || now.forgotten == version {
		return nil, err
	}
	gone, err := s.forgottenSince(ctx, version)
	if err != nil {
		return nil, err
	}
	return roaring.And(users, gone).ToArray(), nil
}

// eachPresence calls a script for the users of each segment, and adds up the
// replies. The script goes along whole: one that is sent again because a server
// did not have it would report less than was changed.
func (s *Store) eachPresence(ctx context.Context, what string, users *roaring.Bitmap, script string, call func(segment int) (names []string, first []any)) (int64, error) {
	p := s.client.Pipeline()
	var replies []*redis.Cmd
	for segment, bits := range s.bitsBySegment(users) {
		for part := range slices.Chunk(bits, presenceBits) {
			names, first := call(segment)
			replies = append(replies, p.Eval(ctx, script, names, append(slices.Clone(first), part...)...))
		}
	}
	if len(replies) == 0 {
		return 0, nil
	}
	if err := s.exec(ctx, what, p); err != nil {
		return 0, err
	}
	total := int64(0)
	for _, r := range replies {
		n, err := r.Int64()
		if err != nil {
			return 0, s.failed(ctx, what, err)
		}
		total += n
	}
	return total, nil
}

// bitsBySegment yields the positions of users within their segments.
func (s *Store) bitsBySegment(users *roaring.Bitmap) iter.Seq2[int, []any] {
	return func(yield func(int, []any) bool) {
		var bits []any
		current := 0
		for i := users.Iterator(); i.HasNext(); {
			segment, bit := s.locate(i.Next())
			if segment != current && len(bits) > 0 {
				if !yield(current, bits) {
					return
				}
				bits = nil
			}
			current, bits = segment, append(bits, bit)
		}
		if len(bits) > 0 {
			yield(current, bits)
		}
	}
}

// Present returns how many users are there, by segment. Those of segments
// without one are left out.
func (s *Store) Present(ctx context.Context, metric string) (map[int]int64, error) {
	segments, err := s.knownSegments(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[int]int64{}
	for part := range slices.Chunk(segments, pipelineLimit) {
		p := s.client.Pipeline()
		replies := make([]*redis.StringCmd, len(part))
		for i, segment := range part {
			replies[i] = p.Get(ctx, s.keys.liveCount(metric, segment))
		}
		if err := s.exec(ctx, "read who is there", p); err != nil {
			return nil, err
		}
		for i, segment := range part {
			if replies[i].Err() == redis.Nil {
				continue
			}
			n, err := replies[i].Int64()
			if err != nil {
				return nil, damagedKey(s.keys.liveCount(metric, segment), "number")
			}
			if n != 0 {
				counts[segment] = n
			}
		}
	}
	return counts, nil
}

// knownSegments are those in which anybody is known: nobody else is there.
func (s *Store) knownSegments(ctx context.Context) ([]int, error) {
	catalogue, err := s.OwnCatalogue(ctx)
	if err != nil {
		return nil, err
	}
	return catalogue.SegmentsOf(knownUsers), nil
}

// Recent returns how many users had a heartbeat in some minutes up to that of
// an instant, by segment.
func (s *Store) Recent(ctx context.Context, metric string, at time.Time, minutes int) (map[int]int64, error) {
	segments, err := s.knownSegments(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[int]int64{}
	for part := range slices.Chunk(segments, pipelineLimit/(4*minutes)) {
		if err := s.recentIn(ctx, metric, at, minutes, part, counts); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// recentIn counts a few segments' heartbeats, in the store where that takes
// temporary keys.
func (s *Store) recentIn(ctx context.Context, metric string, at time.Time, minutes int, segments []int, counts map[int]int64) error {
	p, job := s.client.Pipeline(), random()
	replies := make([]*redis.Cmd, len(segments))
	for i, segment := range segments {
		names := append([]string{s.keys.temp(segment, job, 0)}, s.minuteKeys(metric, segment, at, minutes)...)
		replies[i] = p.Eval(ctx, eitherScript, names)
	}
	err := s.exec(ctx, "count heartbeats", p)
	if errors.Is(err, fault.ErrNoWrites) {
		return s.foldRecent(ctx, metric, at, minutes, segments, counts)
	}
	if err != nil {
		return err
	}
	for i, segment := range segments {
		n, err := replies[i].Int64()
		if err != nil {
			return s.failed(ctx, "count heartbeats", err)
		}
		if n > 0 {
			counts[segment] = n
		}
	}
	return nil
}

// foldRecent counts heartbeats here, a segment at a time.
func (s *Store) foldRecent(ctx context.Context, metric string, at time.Time, minutes int, segments []int, counts map[int]int64) error {
	for _, segment := range segments {
		p := s.client.Pipeline()
		var replies []*redis.StringCmd
		for _, key := range s.minuteKeys(metric, segment, at, minutes) {
			replies = append(replies, p.Get(ctx, key))
		}
		if err := s.exec(ctx, "count heartbeats", p); err != nil {
			return err
		}
		var all []byte
		for _, r := range replies {
			b := bytesOf(r)
			all = append(all, make([]byte, max(0, len(b)-len(all)))...)
			for i := range b {
				all[i] |= b[i]
			}
		}
		if n := bitmap.CountBits(all); n > 0 {
			counts[segment] = n
		}
	}
	return nil
}

func (s *Store) minuteKeys(metric string, segment int, at time.Time, minutes int) []string {
	names := make([]string, minutes)
	for i := range names {
		names[i] = s.keys.beat(metric, segment, at.Add(-time.Duration(i)*time.Minute))
	}
	return names
}

// Beats returns how many users had a heartbeat in each UTC minute that had one,
// by its beginning in Unix seconds, of the days from that of from to that of to.
func (s *Store) Beats(ctx context.Context, metric string, from, to time.Time) (map[int64]int64, error) {
	segments, err := s.knownSegments(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[int64]int64{}
	for day := from.UTC().Truncate(24 * time.Hour); !day.After(to); day = day.Add(24 * time.Hour) {
		for part := range slices.Chunk(segments, pipelineLimit) {
			if err := s.beatsOf(ctx, metric, day, part, counts); err != nil {
				return nil, err
			}
		}
	}
	return counts, nil
}

func (s *Store) beatsOf(ctx context.Context, metric string, day time.Time, segments []int, counts map[int64]int64) error {
	p := s.client.Pipeline()
	replies := make([]*redis.MapStringStringCmd, len(segments))
	for i, segment := range segments {
		replies[i] = p.HGetAll(ctx, s.keys.beats(metric, segment, day))
	}
	if err := s.exec(ctx, "read the heartbeats of a day", p); err != nil {
		return err
	}
	for i, r := range replies {
		for minute, text := range r.Val() {
			at, wrong := time.Parse("1504", minute)
			n, err := strconv.ParseInt(text, 10, 64)
			if err = errors.Join(wrong, err); err != nil {
				return damagedKey(s.keys.beats(metric, segments[i], day), "hash of numbers by minute")
			}
			counts[day.Add(time.Duration(at.Hour())*time.Hour+time.Duration(at.Minute())*time.Minute).Unix()] += n
		}
	}
	return nil
}

// clearPresence takes a user out of those who are there and out of the
// heartbeats, of all metrics.
func (s *Store) clearPresence(ctx context.Context, offset uint32) error {
	segment, bit := s.locate(offset)
	live, beats, err := s.presenceKeys(ctx, segment)
	if err != nil || len(live)+len(beats) == 0 {
		return err
	}
	p := s.client.Pipeline()
	for _, name := range live {
		p.Eval(ctx, liveScript, []string{name, name + countSuffix}, 0, bit)
	}
	for _, name := range beats {
		p.Eval(ctx, forgetBeatScript, []string{name}, bit)
	}
	return s.exec(ctx, "take a user out of who is there", p)
}

// presenceKeys finds the bitmaps of who is there, and of heartbeats, in a segment.
func (s *Store) presenceKeys(ctx context.Context, segment int) (live, beats []string, err error) {
	var mu sync.Mutex
	inSegment := s.keys.segment(segment)
	err = s.eachMaster(ctx, "scan the keys", func(ctx context.Context, node redis.Cmdable) error {
		found := node.ScanType(ctx, 0, inSegment+"*", scanCount, stringType).Iterator()
		for found.Next(ctx) {
			name := strings.TrimPrefix(found.Val(), inSegment)
			mu.Lock()
			switch {
			case strings.HasPrefix(name, liveWord) && !strings.HasSuffix(name, countSuffix):
				live = append(live, found.Val())
			case strings.HasPrefix(name, beatWord):
				beats = append(beats, found.Val())
			}
			mu.Unlock()
		}
		return found.Err()
	})
	return live, beats, err
}

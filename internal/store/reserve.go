package store

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

// reserveScript hands out ARGV[1] consecutive offsets and returns the first,
// and the epoch. When fewer are left below ARGV[2] it takes none and returns -1
// less those left. KEYS: next offset, epoch, the segments of the known users.
// ARGV[3] is the offsets of a segment: should the counter be lost, it begins
// again above all users that there are.
var reserveScript = redis.NewScript(`
local epoch, stored = redis.call('GET', KEYS[2]) or '', redis.call('GET', KEYS[1])
local known, next = redis.call('STRLEN', KEYS[3]), tonumber(stored or 0)
if not stored and known > 0 then next = (8 * known + 1) * ARGV[3] end
local n, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
if not next then return {false, epoch} end
if next + n > limit then return {-1 - math.max(0, limit - next), epoch} end
redis.call('SET', KEYS[1], string.format('%d', next + n))
return {next, epoch}
`)

// passScript makes sure that the offsets below ARGV[1] are handed out to nobody
// any more. It returns which was next, and the epoch. KEYS as for reserveScript;
// ARGV[2] is the offsets of a segment.
var passScript = redis.NewScript(`
local stored, known = redis.call('GET', KEYS[1]), redis.call('STRLEN', KEYS[3])
local next, least = tonumber(stored or 0), tonumber(ARGV[1])
if not stored and known > 0 then least = math.max(least, (8 * known + 1) * ARGV[2]) end
if next and next < least then redis.call('SET', KEYS[1], string.format('%d', least)) end
return {next or false, redis.call('GET', KEYS[2]) or ''}
`)

// confirmTimeout bounds the giving back of offsets of data that are gone.
const confirmTimeout = 2 * time.Second

// reservation is consecutive offsets that were handed out here, and by which
// state of the data.
type reservation struct {
	first   uint32
	epoch   string
	servers int
}

func (s *Store) reserve(ctx context.Context, ids []string) (reservation, error) {
	r := reservation{servers: s.servers.count()}
	limit := int64(s.config.MaxOffset) + 1
	if err := s.undiminished(ctx); err != nil {
		return r, err
	}
	reply, err := reserveScript.Run(ctx, s.client, s.counterKeys(), len(ids), limit, s.config.SegmentBits).Slice()
	if err != nil {
		return r, s.failed(ctx, "reserve offsets", err)
	}
	n, epoch, err := s.stateOf(reply)
	if err != nil {
		return r, err
	}
	if n < 0 {
		return r, &fault.Error{Kind: fault.ErrInvalid, Code: "offset_too_high", Field: "user_id", Position: fault.NoPosition,
			Message: fmt.Sprintf("no offset is left for the user ID %s: the highest is %d", fault.Show(ids[-1-n]), s.config.MaxOffset)}
	}
	r.first, r.epoch = uint32(n), epoch
	return r, nil
}

// stateOf reads the reply of reserveScript and of passScript.
func (s *Store) stateOf(reply []any) (next int64, epoch string, err error) {
	next, ok := reply[0].(int64)
	if !ok {
		return 0, "", damagedKey(s.keys.nextOffset(), "number")
	}
	epoch, _ = reply[1].(string)
	return next, epoch, nil
}

// passing is the call that keeps offsets from being handed out. Data that were
// emptied, or that lack the last writes after a failover, would give to others
// what an earlier state of them had given to users.
func (s *Store) passing(end int64) invocation {
	return invocation{passScript, s.counterKeys(), []any{end, s.config.SegmentBits}}
}

// counterKeys are the KEYS of reserveScript.
func (s *Store) counterKeys() []string {
	return []string{s.keys.nextOffset(), s.keys.epoch(), s.keys.segmentsOf(member(knownUsers))}
}

// confirm makes sure that the data in which the IDs were entered are those that
// had reserved their offsets. Otherwise the same offsets may be handed out again:
// it takes the IDs out and returns an ErrUnavailable. It does so too when the
// writer was interrupted.
func (s *Store) confirm(ctx context.Context, r reservation, ids []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	end := int64(r.first) + int64(len(ids))
	replies, err := s.invoke(ctx, "confirm offsets", s.passing(end))
	if err != nil {
		return err
	}
	reply, err := replies[0].Slice()
	if err != nil {
		return s.failed(ctx, "confirm offsets", err)
	}
	next, epoch, err := s.stateOf(reply)
	if err != nil {
		return err
	}
	if next >= end && epoch == r.epoch && s.servers.count() == r.servers {
		return nil
	}
	calls := make([]scriptCall, len(ids))
	for i, id := range ids {
		calls[i] = s.releaseCall(id, r.first+uint32(i))
	}
	if _, err := s.runEach(ctx, "take user IDs back", releaseIDScript, calls); err != nil {
		return err
	}
	return fault.Unavailable(nil, "the store at %s was emptied or restarted while user IDs were given offsets; do the same again", s.shown)
}

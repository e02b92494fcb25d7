package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// lateness is how long before the pending keys expire a record counts as late,
// for servers whose clocks differ.
const lateness = time.Minute

// serverTime is the server's clock, as Unix time.
func (s *Store) serverTime(ctx context.Context) (int64, error) {
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return 0, s.failed(ctx, "ask for the time", err)
	}
	return now.Unix(), nil
}

// late tells whether a record is so old that a pending key may be gone because
// it expired, rather than because its segment was done.
func (s *Store) late(ctx context.Context, r record) (bool, error) {
	now, err := s.serverTime(ctx)
	return now-r.At > int64((pendingTTL-lateness)/time.Second), err
}

// members are the days and flags that the record changes.
func (r segmentRecord) members() []string {
	names := slices.Concat(slices.Collect(maps.Keys(r.Replace)), slices.Collect(maps.Keys(r.Merge)), r.Remove)
	return slices.DeleteFunc(names, func(name string) bool { return name == knownWord })
}

// endScript removes a commit record and brings what is half replaced up to
// date. KEYS: the record, the syncs, the swaps, what is half replaced, and the
// catalogue's version. ARGV: the sync, how many members it changes, those, and
// then the members that were lost. A process that comes after another one that
// ended the sync can only add what it saw lost.
var endScript = redis.NewScript(`
local ended, members = redis.call('DEL', KEYS[1]), tonumber(ARGV[2])
if ended == 0 and #ARGV == members + 2 then return 0 end
redis.call('SREM', KEYS[2], ARGV[1])
redis.call('INCR', KEYS[3])
if ended == 1 then
  for i = 3, members + 2 do redis.call('SREM', KEYS[4], ARGV[i]) end
end
for i = members + 3, #ARGV do redis.call('SADD', KEYS[4], ARGV[i]) end
redis.call('INCR', KEYS[5])
return ended
`)

// endSync removes a commit record and keeps in mind what was lost, until it is
// replaced again. A merge does not put such a day right: the users that it
// should have lost would stay.
func (s *Store) endSync(ctx context.Context, id string, r record, lost []string) error {
	changes := slices.Clone(r.Days)
	for _, sr := range r.Segments {
		changes = append(changes, sr.members()...)
	}
	slices.Sort(changes)
	changes = slices.Compact(changes)
	args := []any{id, len(changes)}
	for _, name := range slices.Concat(changes, lost) {
		args = append(args, name)
	}
	names := []string{s.keys.sync(id), s.keys.syncs(), s.keys.swaps(), s.keys.halfReplaced(), s.keys.catalogueVersion()}
	return s.failed(ctx, "end a sync", endScript.Run(ctx, s.client, names, args...).Err())
}

// dropSegments removes what is left of segments that cannot be finished.
func (s *Store) dropSegments(ctx context.Context, id string, gone []segmentRecord) error {
	for part := range slices.Chunk(gone, registerLimit) {
		p := s.client.Pipeline()
		for _, sr := range part {
			p.Unlink(ctx, s.keys.pending(sr.Segment, id))
			for _, st := range sr.steps() {
				if st.kind != removeStep {
					p.Unlink(ctx, s.keys.temp(sr.Segment, id, st.temp))
				}
			}
		}
		if err := s.exec(ctx, "drop staged marks", p); err != nil {
			return err
		}
	}
	return nil
}

// lostStaged says that a sync was committed and could not be finished.
func (s *Store) lostStaged(lost []string) error {
	slices.Sort(lost)
	return fault.Unavailable(nil, "what was staged for the replace is no longer in the store at %s, perhaps evicted; "+
		"%s may be half replaced: import them again with --mode replace", s.shown, strings.Join(slices.Compact(lost), ", "))
}

// HalfReplaced returns the days and flags whose replacement was begun and
// cannot be finished, until they are replaced again.
func (s *Store) HalfReplaced(ctx context.Context) (map[cohort.Bitmap]bool, error) {
	names, err := s.client.SMembers(ctx, s.keys.halfReplaced()).Result()
	if err != nil {
		return nil, s.failed(ctx, "look for days that are half replaced", err)
	}
	var half map[cohort.Bitmap]bool
	for _, name := range names {
		if b, ok := parseMember(name); ok {
			if half == nil {
				half = map[cohort.Bitmap]bool{}
			}
			half[b] = true
		}
	}
	return half, nil
}

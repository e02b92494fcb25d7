package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

const (
	// committedTTL is how long the staged keys of a committed sync wait for
	// somebody to finish it.
	committedTTL = 24 * time.Hour
	// pendingTTL is shorter, so that a segment is never applied without them.
	pendingTTL = committedTTL - time.Hour
)

// record is the commit record of a sync: all that is needed to finish it. It
// is written once everything is staged, and deleted when all is done.
type record struct {
	// At is when the sync was committed, as Unix time of the server.
	At int64 `json:"at"`
	// Days are the members of the days that are replaced.
	Days []string `json:"days"`
	// Segments are those in which something is to be done.
	Segments []segmentRecord `json:"segments"`
	// Forgotten is the version of the forgotten when the sync began.
	Forgotten int64 `json:"forgotten"`
}

// segmentRecord is what becomes of one segment.
type segmentRecord struct {
	Segment int `json:"segment"`
	// Replace gives members the contents of temporary keys, by number.
	Replace map[string]int `json:"replace,omitempty"`
	// Merge adds the contents of temporary keys to members.
	Merge map[string]int `json:"merge,omitempty"`
	// Remove names the members that have no users here any more.
	Remove []string `json:"remove,omitempty"`
}

// The states in which applyScript finds a segment.
const (
	appliedNow = iota
	nothingPending
	stagedGone
)

// applyScript does what a commit record says about one segment, once: KEYS[1]
// is deleted with it, and when that is gone it was done before. The other KEYS
// are the staged and the lasting key of each step. ARGV has for each step its
// kind (replace, merge, know or remove) and when the lasting key expires, as
// Unix time, or 0. When a staged key is gone it changes nothing. It returns the
// state, and the bits and the users that the merges added.
var applyScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return {1, 0, 0} end
for i = 2, #KEYS, 2 do
  if ARGV[i - 1] ~= 'remove' and redis.call('EXISTS', KEYS[i]) == 0 then return {2, 0, 0} end
end
redis.call('UNLINK', KEYS[1])
local bits, users = 0, 0
for i = 2, #KEYS, 2 do
  local staged, target, kind, at = KEYS[i], KEYS[i + 1], ARGV[i - 1], ARGV[i]
  if kind == 'remove' then
    redis.call('UNLINK', target)
  else
    if kind == 'replace' then
      redis.call('RENAME', staged, target)
    else
      local before = redis.call('BITCOUNT', target)
      redis.call('BITOP', 'OR', target, target, staged)
      local added = redis.call('BITCOUNT', target) - before
      redis.call('UNLINK', staged)
      if kind == 'know' then users = users + added else bits = bits + added end
    end
    if at == '0' then redis.call('PERSIST', target) else redis.call('EXPIREAT', target, at) end
  end
end
return {0, bits, users}
`)

// writeRecord commits a sync. From then on it will be finished by somebody.
func (s *Store) writeRecord(ctx context.Context, id string, r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("store: commit record: %w", err)
	}
	p := s.client.TxPipeline()
	p.Set(ctx, s.keys.sync(id), text, 0)
	p.SAdd(ctx, s.keys.syncs(), id)
	p.Incr(ctx, s.keys.swaps())
	return s.exec(ctx, "commit a sync", p)
}

// finishSyncs finishes the syncs that were committed and not ended. Several
// processes may do so at once.
func (s *Store) finishSyncs(ctx context.Context) error {
	ids, err := s.client.SMembers(ctx, s.keys.syncs()).Result()
	if err != nil {
		return s.failed(ctx, "look for committed syncs", err)
	}
	for _, id := range ids {
		text, err := s.client.Get(ctx, s.keys.sync(id)).Bytes()
		if err == redis.Nil { // finished by another process meanwhile, or evicted
			if err := s.client.SRem(ctx, s.keys.syncs(), id).Err(); err != nil {
				return s.failed(ctx, "end a sync", err)
			}
			continue
		}
		if err != nil {
			return s.failed(ctx, "read a commit record", err)
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("store: commit record %s: %w", id, err)
		}
		if _, _, err := s.finish(ctx, id, r); err != nil {
			return err
		}
	}
	return nil
}

// finish rolls a committed sync forward from wherever it stands. It returns
// what its merges added, as far as that was done here, and the members that
// may be left half replaced because what was staged for them is gone.
func (s *Store) finish(ctx context.Context, id string, r record) (total Written, lost []string, err error) {
	late, err := s.late(ctx, r)
	if err != nil {
		return total, nil, err
	}
	var gone []segmentRecord
	for _, sr := range r.Segments {
		state, written, err := s.apply(ctx, id, sr)
		if err != nil {
			return total, nil, err
		}
		total.add(written)
		if state == stagedGone || state == nothingPending && late {
			gone = append(gone, sr)
			lost = append(lost, sr.members()...)
		}
	}
	if err := s.catalogueSync(ctx, r); err != nil {
		return total, nil, err
	}
	if err := s.clearForgottenOf(ctx, r); err != nil {
		return total, nil, err
	}
	if err := s.endSync(ctx, id, r, lost); err != nil {
		return total, nil, err
	}
	return total, lost, s.dropSegments(ctx, id, gone)
}

// apply does what the record says about one segment, unless it was done, and
// returns the state in which it found the segment.
func (s *Store) apply(ctx context.Context, id string, r segmentRecord) (state int64, w Written, err error) {
	keys := []string{s.keys.pending(r.Segment, id)}
	var args []any
	for _, st := range r.steps() {
		b, ok := parseMember(st.member)
		if !ok {
			return 0, Written{}, fmt.Errorf("store: commit record %s: %q names no bitmap", id, st.member)
		}
		keys = append(keys, s.keys.temp(r.Segment, id, st.temp), s.keys.bitmap(b, r.Segment))
		args = append(args, st.kind, s.expiresAt(b))
	}
	reply, err := applyScript.Run(ctx, s.client, keys, args...).Int64Slice()
	if err != nil {
		return 0, Written{}, s.failed(ctx, "apply a sync", err)
	}
	return reply[0], Written{BitsNew: reply[1], UsersNew: reply[2]}, nil
}

// removeStep is the kind of a step that needs nothing staged.
const removeStep = "remove"

// applyStep is one step of applyScript.
type applyStep struct {
	kind, member string
	temp         int
}

func (r segmentRecord) steps() []applyStep {
	var steps []applyStep
	for name, temp := range r.Merge {
		kind := "merge"
		if name == knownWord {
			kind = "know"
		}
		steps = append(steps, applyStep{kind, name, temp})
	}
	for name, temp := range r.Replace {
		steps = append(steps, applyStep{"replace", name, temp})
	}
	for _, name := range r.Remove {
		steps = append(steps, applyStep{kind: removeStep, member: name})
	}
	return steps
}

// expiresAt is the bitmap's expiry as Unix time, 0 for one that stays.
func (s *Store) expiresAt(b cohort.Bitmap) int64 {
	if at, ok := s.expiry(b); ok {
		return at.Unix()
	}
	return 0
}

// catalogueSync brings the catalogue up to date: what was written is in it, a
// day without users is an empty-day marker, and what was removed is out of it.
// All of it gets new version tokens.
func (s *Store) catalogueSync(ctx context.Context, r record) error {
	written, removed := map[string][]int{}, map[string][]int{}
	for _, day := range r.Days {
		written[day] = nil
	}
	for _, sr := range r.Segments {
		for name := range sr.Replace {
			written[name] = append(written[name], sr.Segment)
		}
		for name := range sr.Merge {
			written[name] = append(written[name], sr.Segment)
		}
		for _, name := range sr.Remove {
			removed[name] = append(removed[name], sr.Segment)
		}
	}
	w := s.newWriting(ctx, placesOf(written))
	defer w.stop()
	if err := s.register(ctx, placesOf(written)); err != nil {
		return err
	}
	if err := s.unregister(ctx, placesOf(removed), anyVersion, markEmpty); err != nil {
		return err
	}
	return w.end(ctx) // questions wait until the sync has ended, so it was never begun
}

func placesOf(members map[string][]int) []place {
	var places []place
	for name, segments := range members {
		if b, ok := parseMember(name); ok {
			places = append(places, place{b, segments})
		}
	}
	return places
}

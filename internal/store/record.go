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
	// Days are the members of the days that are replaced.
	Days []string `json:"days"`
	// Segments are those in which something is to be done.
	Segments []segmentRecord `json:"segments"`
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

// applyScript does what a commit record says about one segment, once: KEYS[1]
// is deleted with it, and when that is gone it was done before. The other KEYS
// are the staged and the lasting key of each step. ARGV has for each step its
// kind (replace, merge, know or remove) and when the lasting key expires, as
// Unix time, or 0. It returns the bits and the users that the merges added.
var applyScript = redis.NewScript(`
if redis.call('UNLINK', KEYS[1]) == 0 then return {0, 0} end
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
return {bits, users}
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
		if err == redis.Nil {
			continue // finished by another process meanwhile
		}
		if err != nil {
			return s.failed(ctx, "read a commit record", err)
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("store: commit record %s: %w", id, err)
		}
		if _, err := s.finish(ctx, id, r); err != nil {
			return err
		}
	}
	return nil
}

// finish rolls a committed sync forward from wherever it stands, and returns
// what its merges added, as far as that was done here.
func (s *Store) finish(ctx context.Context, id string, r record) (Written, error) {
	var total Written
	for _, sr := range r.Segments {
		written, err := s.apply(ctx, id, sr)
		if err != nil {
			return total, err
		}
		total.add(written)
	}
	if err := s.catalogueSync(ctx, r); err != nil {
		return total, err
	}
	p := s.client.TxPipeline()
	p.Del(ctx, s.keys.sync(id))
	p.SRem(ctx, s.keys.syncs(), id)
	p.Incr(ctx, s.keys.swaps())
	return total, s.exec(ctx, "end a sync", p)
}

// apply does what the record says about one segment, unless it was done.
func (s *Store) apply(ctx context.Context, id string, r segmentRecord) (Written, error) {
	keys := []string{s.keys.pending(r.Segment, id)}
	var args []any
	for _, st := range r.steps() {
		b, ok := parseMember(st.member)
		if !ok {
			return Written{}, fmt.Errorf("store: commit record %s: %q names no bitmap", id, st.member)
		}
		keys = append(keys, s.keys.temp(r.Segment, id, st.temp), s.keys.bitmap(b, r.Segment))
		args = append(args, st.kind, s.expiresAt(b))
	}
	added, err := applyScript.Run(ctx, s.client, keys, args...).Int64Slice()
	if err != nil {
		return Written{}, s.failed(ctx, "apply a sync", err)
	}
	return Written{BitsNew: added[0], UsersNew: added[1]}, nil
}

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
		steps = append(steps, applyStep{kind: "remove", member: name})
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
	if err := s.register(ctx, placesOf(written)); err != nil {
		return err
	}
	return s.unregister(ctx, placesOf(removed), anyVersion, markEmpty)
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

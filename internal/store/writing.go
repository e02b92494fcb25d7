package store

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// writingTTL is how long a writer that gives no sign counts as alive.
const writingTTL = time.Minute

// A write is open while it may have changed some of its bitmaps and has not
// ended. It is a member of a sorted set: its ID and the catalogue members that
// it writes, scored with the time of the server, in milliseconds, at which its
// writer counts as dead. When it ends, its bitmaps get a new version token.

// openWriteScript opens the write ARGV[1] for ARGV[2] milliseconds from now, or
// renews it.
var openWriteScript = redis.NewScript(`
local t = redis.call('TIME')
return redis.call('ZADD', KEYS[1], t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2], ARGV[1])
`)

// closeWriteScript ends the write ARGV[1]: its bitmaps get the token ARGV[2],
// under a new version of the catalogue. When ARGV[3] is dead, it ends only a
// write whose writer is. KEYS: writes, tokens, version, catalogue.
var closeWriteScript = redis.NewScript(`
if ARGV[3] == 'dead' then
  local t, deadline = redis.call('TIME'), redis.call('ZSCORE', KEYS[1], ARGV[1])
  if not deadline or tonumber(deadline) > t[1] * 1000 + math.floor(t[2] / 1000) then return 0 end
end
local version = redis.call('INCR', KEYS[3])
local first = true
for member in string.gmatch(ARGV[1], '%S+') do
  if not first then
    redis.call('HSET', KEYS[2], member, ARGV[2])
    redis.call('ZADD', KEYS[4], 'XX', version, member)
  end
  first = false
end
redis.call('ZREM', KEYS[1], ARGV[1])
return 1
`)

// The conditions of closeWriteScript.
const (
	endAlways = "always"
	endDead   = "dead"
)

// writing is an open write.
type writing struct {
	store *Store
	entry string
	stop  context.CancelFunc // leaves the write open until its writer counts as dead
}

// newWriting makes the write of some bitmaps, which is not open yet. While it
// lasts, it is renewed.
func (s *Store) newWriting(ctx context.Context, places []place) *writing {
	names := []string{random()}
	for _, p := range places {
		names = append(names, member(p.bitmap))
	}
	slices.Sort(names[1:])
	ctx, stop := context.WithCancel(ctx)
	w := &writing{s, strings.Join(names, " "), stop}
	go w.renew(ctx)
	return w
}

func (w *writing) opening() invocation {
	return invocation{openWriteScript, []string{w.store.keys.writes()}, []any{w.entry, writingTTL.Milliseconds()}}
}

func (s *Store) closing(entry, when string) invocation {
	k := s.keys
	return invocation{closeWriteScript, []string{k.writes(), k.tokens(), k.catalogueVersion(), k.catalogue()}, []any{entry, newToken(), when}}
}

// newToken returns a version token that no bitmap had before.
func newToken() string { return strconv.FormatUint(rand.Uint64(), 10) }

// begin opens the write, and carries out other calls after that.
func (w *writing) begin(ctx context.Context, others ...invocation) error {
	_, err := w.store.invoke(ctx, "begin a write", append([]invocation{w.opening()}, others...)...)
	return err
}

// end carries out other calls and ends the write. One that fails stays open
// until its writer counts as dead.
func (w *writing) end(ctx context.Context, others ...invocation) error {
	w.stop()
	_, err := w.store.invoke(ctx, "end a write", append(others, w.store.closing(w.entry, endAlways))...)
	return err
}

// renew renews the write until ctx ends.
func (w *writing) renew(ctx context.Context) {
	every := time.NewTicker(writingTTL / 3)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			// A write that is not renewed in time is ended by a reader, and by us once more.
			_, _ = w.store.invoke(ctx, "renew a write", w.opening())
		case <-ctx.Done():
			return
		}
	}
}

// writingOf returns the bitmaps of open writes.
func writingOf(entries []string) map[cohort.Bitmap]bool {
	writing := map[cohort.Bitmap]bool{}
	for _, entry := range entries {
		// An entry's first field is its ID, which names no bitmap.
		for name := range strings.FieldsSeq(entry) {
			if b, ok := parseMember(name); ok {
				writing[b] = true
			}
		}
	}
	return writing
}

// endDeadWrites ends the writes of writers that died: nobody knows what they
// had written.
func (s *Store) endDeadWrites(ctx context.Context, entries []string) error {
	calls := make([]invocation, len(entries))
	for i, entry := range entries {
		calls[i] = s.closing(entry, endDead)
	}
	_, err := s.invoke(ctx, "end the writes of the dead", calls...)
	return err
}

package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

// Pair is a user ID and the offset that it is to have.
type Pair struct {
	ID     string
	Offset uint32
}

// Clash is the error of a pair that cannot be taken in, because of what the
// store holds.
type Clash struct {
	// At is the pair's position among those given.
	At int
	// Why names the ID, the offset, and what they clash with.
	Why string
}

// Error implements error.
func (c *Clash) Error() string { return c.Why }

func clash(at int, p Pair, format string, args ...any) *Clash {
	return &Clash{at, fmt.Sprintf("the user ID %s cannot have offset %d: ", fault.Show(p.ID), p.Offset) + fmt.Sprintf(format, args...)}
}

// IDImport gives IDs the offsets that they have elsewhere. Check all pairs
// first; then SetAside their offsets, and when that is ok Write them all. One
// at a time is open under a prefix. Its methods are for one goroutine. End
// must be called.
type IDImport struct {
	store *Store
	id    string
	// counter is the first offset that was not handed out yet.
	counter uint64
	// imported are the offsets set aside for imports, this one's or earlier ones.
	imported *roaring.Bitmap
	// gone are those of users who were forgotten, as of a generation.
	gone       *roaring.Bitmap
	generation generation
	// The checked offsets from counter on lie from lowest up to before end.
	lowest, end uint64
}

// BeginIDImport opens an import of IDs. It waits a short while for another one
// to end, and is ErrBusy when that does not.
func (s *Store) BeginIDImport(ctx context.Context) (*IDImport, error) {
	if err := s.writable(ctx); err != nil {
		return nil, err
	}
	m := &IDImport{store: s, id: random()}
	if err := s.takeLease(ctx, s.idImportLease(), m.id); err != nil {
		return nil, err
	}
	if err := m.refresh(ctx); err != nil {
		return nil, errors.Join(err, m.End(ctx))
	}
	return m, nil
}

func (s *Store) idImportLease() lease { return lease{s.keys.idImportLease(), "import-ids"} }

// End gives the lease back.
func (m *IDImport) End(ctx context.Context) error {
	return m.store.releaseLease(context.WithoutCancel(ctx), m.store.idImportLease(), m.id)
}

// hold makes sure that no other import can have begun meanwhile.
func (m *IDImport) hold(ctx context.Context) error {
	held, err := m.store.renewLease(ctx, m.store.idImportLease(), m.id)
	if err == nil && !held {
		return fault.Unavailable(nil, "the import of IDs took too long between two steps; run the same import again")
	}
	return err
}

// refresh reads which offsets are free.
func (m *IDImport) refresh(ctx context.Context) error {
	now, err := m.store.now(ctx)
	if err != nil {
		return err
	}
	m.generation = now.generation()
	if m.gone, err = m.store.forgottenAt(ctx, m.generation); err != nil {
		return err
	}
	p := m.store.client.TxPipeline()
	next, ranges := p.Get(ctx, m.store.keys.nextOffset()), p.LRange(ctx, m.store.keys.imported(), 0, -1)
	if err := m.store.exec(ctx, "read which offsets are free", p); err != nil {
		return err
	}
	m.counter, m.lowest, m.end = 0, math.MaxUint64, 0
	if next.Err() == nil {
		counter, err := strconv.ParseUint(next.Val(), 10, 64)
		if err != nil {
			return fmt.Errorf("store: the next offset: %w", err)
		}
		m.counter = counter
	}
	m.imported = roaring.New()
	for _, text := range ranges.Val() {
		from, end, err := parseRange(text)
		if err != nil {
			return fmt.Errorf("store: range of imported offsets: %w", err)
		}
		m.imported.AddRange(from, end)
	}
	return nil
}

// parseRange reads a half-open range of offsets, FROM-END.
func parseRange(text string) (from, end uint64, err error) {
	left, right, _ := strings.Cut(text, "-")
	from, errFrom := strconv.ParseUint(left, 10, 32)
	end, errEnd := strconv.ParseUint(right, 10, 33)
	return from, end, errors.Join(errFrom, errEnd)
}

// Check tells whether the pairs can be taken in beside what the store holds,
// and how many of them are new. The first that cannot is a *Clash.
func (m *IDImport) Check(ctx context.Context, pairs []Pair) (fresh int, err error) {
	if err := m.hold(ctx); err != nil {
		return 0, err
	}
	ids, offsets := split(pairs)
	given, absent, err := m.store.lookUp(ctx, ids)
	if err != nil {
		return 0, err
	}
	holders, err := m.store.holders(ctx, offsets)
	if err != nil {
		return 0, err
	}
	isAbsent := map[int]bool{}
	for _, i := range absent {
		isAbsent[i] = true
	}
	for i, p := range pairs {
		if !isAbsent[i] && given[i] != p.Offset {
			return 0, clash(i, p, "the store gave it offset %d", given[i])
		}
		if err := m.checkOffset(i, p, holders[p.Offset]); err != nil {
			return 0, err
		}
	}
	return len(absent), nil
}

func split(pairs []Pair) (ids []string, offsets []uint32) {
	ids, offsets = make([]string, len(pairs)), make([]uint32, len(pairs))
	for i, p := range pairs {
		ids[i], offsets[i] = p.ID, p.Offset
	}
	return ids, offsets
}

// checkOffset tells whether a pair's offset is its own already, or free. Below
// the counter an offset without a holder may be one that another writer
// reserved and has yet to write, unless it was set aside for imports.
func (m *IDImport) checkOffset(at int, p Pair, holder string) error {
	switch offset := uint64(p.Offset); {
	case holder == erased, m.gone.Contains(p.Offset):
		return clash(at, p, "it was that of a user who was forgotten, and is never given again")
	case holder != "" && holder != p.ID:
		return clash(at, p, "the store holds it for the user ID %s", fault.Show(holder))
	case holder == p.ID:
		return nil
	case offset >= m.counter:
		m.lowest, m.end = min(m.lowest, offset), max(m.end, offset+1)
		return nil
	case !m.imported.Contains(p.Offset):
		return clash(at, p, "the store has handed it out to another user")
	}
	return nil
}

// setAsideScript moves the counter KEYS[1] to ARGV[2] unless it is there, and
// notes in KEYS[2] what it passed over. It does nothing and returns 0 when
// offsets from ARGV[1] on were handed out meanwhile.
var setAsideScript = redis.NewScript(`
local next = tonumber(redis.call('GET', KEYS[1]) or 0)
if next > tonumber(ARGV[1]) then return 0 end
if next < tonumber(ARGV[2]) then
  redis.call('RPUSH', KEYS[2], string.format('%.0f-%s', next, ARGV[2]))
  redis.call('SET', KEYS[1], ARGV[2])
end
return 1
`)

// SetAside keeps the offsets of the checked pairs from being handed out to
// others. When it is not ok, some of them may have been since they were
// checked, and all pairs are to be checked again.
func (m *IDImport) SetAside(ctx context.Context) (ok bool, err error) {
	if m.end == 0 {
		return true, nil
	}
	keys := []string{m.store.keys.nextOffset(), m.store.keys.imported()}
	done, err := setAsideScript.Run(ctx, m.store.client, keys, m.lowest, m.end).Int()
	if err != nil {
		return false, m.store.failed(ctx, "set offsets aside", err)
	}
	return done == 1, m.refresh(ctx)
}

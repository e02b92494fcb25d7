package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

// forwardBuckets is how many hashes hold the forward entries. At 100 million
// users a bucket has about 380, few enough for Redis to keep it packed. It is
// part of the stored format.
const forwardBuckets = 262_144

func (s *Store) forwardKey(id string) string {
	return s.keys.forward(xxhash.Sum64String(id) % forwardBuckets)
}

// Assign returns the offset of each ID, in order; IDs may repeat. New IDs get
// new offsets, which stay theirs whatever other writers do meanwhile. An ID
// that is malformed, or for which no offset is left, is an ErrInvalid that
// names it; then no offset is returned.
func (s *Store) Assign(ctx context.Context, ids []string) ([]uint32, error) {
	if s.config.Dense {
		return s.assignDense(ids)
	}
	for _, id := range ids {
		if err := CheckID(id, false, s.config.MaxOffset); err != nil {
			return nil, err
		}
	}
	for {
		now, err := s.now(ctx)
		if err != nil {
			return nil, err
		}
		offsets, remembered, err := s.assignAt(ctx, now.generation(), ids)
		if err != nil || remembered {
			return offsets, err
		}
		after, err := s.now(ctx)
		if err != nil || after.generation() == now.generation() {
			return offsets, err
		}
		// Somebody was forgotten meanwhile, perhaps one of these.
	}
}

// assignAt returns the offsets as of a generation, and whether all of them
// were remembered.
func (s *Store) assignAt(ctx context.Context, g generation, ids []string) (offsets []uint32, remembered bool, err error) {
	if s.newcomers.expected() {
		offsets, err = s.admitAll(ctx, g, ids)
		return offsets, false, err
	}
	offsets = make([]uint32, len(ids))
	missing := s.known.lookUp(g, ids, offsets)
	if len(missing) == 0 {
		return offsets, true, nil
	}
	if err := s.writable(ctx); err != nil {
		return nil, false, err
	}
	if err := s.resolveAll(ctx, g, ids, missing, offsets); err != nil {
		return nil, false, err
	}
	return offsets, false, nil
}

// admitAll takes IDs for new without looking. They are not remembered either:
// there are many of them, and most come once.
func (s *Store) admitAll(ctx context.Context, g generation, ids []string) ([]uint32, error) {
	if err := s.writable(ctx); err != nil {
		return nil, err
	}
	gone, err := s.forgottenAt(ctx, g)
	if err != nil {
		return nil, err
	}
	offsets := make([]uint32, 0, len(ids))
	for part := range slices.Chunk(ids, pipelineLimit) {
		admitted, err := s.admit(ctx, part, gone)
		if err != nil {
			return nil, err
		}
		offsets = append(offsets, admitted...)
	}
	return offsets, nil
}

func (s *Store) assignDense(ids []string) ([]uint32, error) {
	offsets := make([]uint32, len(ids))
	for i, id := range ids {
		offset, err := parseDense(id, s.config.MaxOffset)
		if err != nil {
			return nil, err
		}
		offsets[i] = offset
	}
	return offsets, nil
}

// resolveAll fills in the offsets of the IDs at some positions, and asks for
// each ID once.
func (s *Store) resolveAll(ctx context.Context, g generation, ids []string, at []int, offsets []uint32) error {
	gone, err := s.forgottenAt(ctx, g)
	if err != nil {
		return err
	}
	distinct, places := distinctIDs(ids, at)
	found := make([]uint32, 0, len(distinct))
	for part := range slices.Chunk(distinct, pipelineLimit) {
		resolved, err := s.resolve(ctx, part, gone)
		if err != nil {
			return err
		}
		s.known.remember(g, part, resolved)
		found = append(found, resolved...)
	}
	for n, i := range at {
		offsets[i] = found[places[n]]
	}
	return nil
}

// distinctIDs returns the IDs at some positions, each once, and for each of the
// positions the place of its ID among them.
func distinctIDs(ids []string, at []int) (distinct []string, places []int) {
	distinct, places = make([]string, 0, len(at)), make([]int, len(at))
	placeOf := make(map[string]int, len(at))
	for n, i := range at {
		place, seen := placeOf[ids[i]]
		if !seen {
			place = len(distinct)
			placeOf[ids[i]] = place
			distinct = append(distinct, ids[i])
		}
		places[n] = place
	}
	return distinct, places
}

// resolve returns the offsets of distinct IDs, and gives new ones to those
// that have none: it reserves offsets, writes the reverse entries, then claims
// each ID's forward entry. After a crash at any point an offset may be left
// that no ID has, but no ID has an offset that cannot be turned back. An ID
// that still has one of those gone, which are forgotten, gets another.
func (s *Store) resolve(ctx context.Context, ids []string, gone *roaring.Bitmap) ([]uint32, error) {
	offsets, absent, err := s.lookUp(ctx, ids)
	if err != nil {
		return nil, err
	}
	absent, err = s.releaseGone(ctx, ids, offsets, absent, gone)
	if err != nil || len(absent) == 0 {
		return offsets, err
	}
	newcomers := make([]string, len(absent))
	for i, at := range absent {
		newcomers[i] = ids[at]
	}
	claimed, err := s.admit(ctx, newcomers, gone)
	if err != nil {
		return nil, err
	}
	s.newcomers.judge(len(newcomers), len(ids)-len(newcomers))
	for i, at := range absent {
		offsets[at] = claimed[i]
	}
	return offsets, nil
}

// admit gives new offsets to IDs. One that has an offset nevertheless, or comes
// twice, keeps its first one, and the new one is left to nobody.
func (s *Store) admit(ctx context.Context, ids []string, gone *roaring.Bitmap) ([]uint32, error) {
	r, err := s.reserve(ctx, ids)
	if err != nil {
		return nil, err
	}
	offsets, err := s.enter(ctx, r.first, ids, gone)
	if changed := s.confirm(ctx, r, ids); err == nil {
		err = changed
	}
	return offsets, err
}

// enter writes the entries of IDs that get reserved offsets.
func (s *Store) enter(ctx context.Context, first uint32, ids []string, gone *roaring.Bitmap) ([]uint32, error) {
	if err := s.appendReverse(ctx, first, ids); err != nil {
		return nil, err
	}
	return s.claim(ctx, first, ids, gone)
}

// releaseGone takes the IDs whose offset is gone out of the dictionary, and
// returns the positions of all IDs without an offset.
func (s *Store) releaseGone(ctx context.Context, ids []string, offsets []uint32, absent []int, gone *roaring.Bitmap) ([]int, error) {
	if gone.IsEmpty() {
		return absent, nil
	}
	none := make(map[int]bool, len(absent))
	for _, i := range absent {
		none[i] = true
	}
	var calls []scriptCall
	for i, id := range ids {
		if !none[i] && gone.Contains(offsets[i]) {
			absent = append(absent, i)
			calls = append(calls, s.releaseCall(id, offsets[i]))
		}
	}
	_, err := s.runEach(ctx, "remove user IDs", releaseIDScript, calls)
	return absent, err
}

// lookUp returns the offsets in the forward entries, and the positions of the
// IDs that have none.
func (s *Store) lookUp(ctx context.Context, ids []string) (offsets []uint32, absent []int, err error) {
	p := s.client.Pipeline()
	replies := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		replies[i] = p.HGet(ctx, s.forwardKey(id), id)
	}
	if err := s.exec(ctx, "look up user IDs", p); err != nil {
		return nil, nil, err
	}
	offsets = make([]uint32, len(ids))
	for i, r := range replies {
		if r.Err() == redis.Nil {
			absent = append(absent, i)
			continue
		}
		n, err := strconv.ParseUint(r.Val(), 10, 32)
		if err != nil {
			return nil, nil, fmt.Errorf("store: dictionary entry of %s: %w", fault.Show(ids[i]), err)
		}
		offsets[i] = uint32(n)
	}
	return offsets, absent, nil
}

// claim writes the forward entries. An ID that another writer claimed first
// keeps that writer's offset, and ours is never used.
func (s *Store) claim(ctx context.Context, first uint32, ids []string, gone *roaring.Bitmap) ([]uint32, error) {
	p := s.client.Pipeline()
	replies := make([]*redis.BoolCmd, len(ids))
	for i, id := range ids {
		replies[i] = p.HSetNX(ctx, s.forwardKey(id), id, first+uint32(i))
	}
	if err := s.exec(ctx, "write user IDs", p); err != nil {
		return nil, err
	}
	offsets := make([]uint32, len(ids))
	var lost []int
	var losers []string
	for i, r := range replies {
		offsets[i] = first + uint32(i)
		if !r.Val() {
			lost, losers = append(lost, i), append(losers, ids[i])
		}
	}
	s.newcomers.note(len(ids)-len(lost), len(lost))
	if lost == nil {
		return offsets, nil
	}
	// A loser has its winner's offset, unless it was forgotten in between.
	theirs, err := s.resolve(ctx, losers, gone)
	if err != nil {
		return nil, err
	}
	for i, at := range lost {
		offsets[at] = theirs[i]
	}
	return offsets, nil
}

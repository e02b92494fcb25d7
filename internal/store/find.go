package store

import (
	"context"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"
)

// Find returns the offset of an ID. It is not ok for an ID that is malformed,
// not in the dictionary, or of a user who was never written.
func (s *Store) Find(ctx context.Context, id string) (offset uint32, ok bool, err error) {
	found, err := s.FindAll(ctx, []string{id})
	offset, ok = found[id]
	return offset, ok, err
}

// FindAll returns the offsets of those IDs that Find finds.
func (s *Store) FindAll(ctx context.Context, ids []string) (map[string]uint32, error) {
	found := make(map[string]uint32, len(ids))
	for part := range slices.Chunk(ids, pipelineLimit) {
		offsets, err := s.offsetsOf(ctx, part)
		if err != nil {
			return nil, err
		}
		if err := s.keepKnown(ctx, offsets); err != nil {
			return nil, err
		}
		maps.Copy(found, offsets)
	}
	return found, nil
}

// Offsets returns the offsets of those IDs that have one, whether or not anything
// was ever written of their users.
func (s *Store) Offsets(ctx context.Context, ids []string) (*roaring.Bitmap, error) {
	if s.config.Dense {
		offsets, err := s.assignDense(ids)
		return roaring.BitmapOf(offsets...), err
	}
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	offsets := make([]uint32, len(ids))
	missing := s.known.lookUp(now.generation(), ids, offsets)
	asked := make([]string, len(missing))
	for i, at := range missing {
		asked[i] = ids[at]
	}
	found, err := s.offsetsOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	all := roaring.New()
	for i, offset := range offsets {
		if len(missing) > 0 && missing[0] == i {
			missing = missing[1:]
			continue
		}
		all.Add(offset)
	}
	for _, offset := range found {
		all.Add(offset)
	}
	return all, nil
}

// offsetsOf returns the offsets of the IDs that have one.
func (s *Store) offsetsOf(ctx context.Context, ids []string) (map[string]uint32, error) {
	found := make(map[string]uint32, len(ids))
	wellFormed := make([]string, 0, len(ids))
	for _, id := range ids {
		if CheckID(id, s.config.Dense, s.config.MaxOffset) == nil {
			wellFormed = append(wellFormed, id)
		}
	}
	var offsets []uint32
	var absent []int
	var err error
	if s.config.Dense {
		offsets, err = s.assignDense(wellFormed)
	} else {
		offsets, absent, err = s.lookUp(ctx, wellFormed)
	}
	if err != nil {
		return nil, err
	}
	for i, id := range wellFormed {
		found[id] = offsets[i]
	}
	for _, i := range absent {
		delete(found, wellFormed[i])
	}
	return found, nil
}

// keepKnown leaves out the users who were never written, unless other programs
// write users of whom nobody says who they are.
func (s *Store) keepKnown(ctx context.Context, found map[string]uint32) error {
	other := !s.config.Known.IsZero()
	if len(s.config.Existing) > 0 && !other {
		return nil
	}
	p := s.client.Pipeline()
	replies := make(map[string]*redis.IntCmd, len(found))
	theirs := map[string]*redis.IntCmd{}
	for id, offset := range found {
		segment, bit := s.locate(offset)
		replies[id] = p.GetBit(ctx, s.keys.bitmap(knownUsers, segment), bit)
		if other {
			theirs[id] = p.GetBit(ctx, s.config.Known.Key(0, 0), int64(offset))
		}
	}
	if err := s.exec(ctx, "look for known users", p); err != nil {
		return err
	}
	for id, known := range replies {
		if known.Val() == 0 && (theirs[id] == nil || theirs[id].Val() == 0) {
			delete(found, id)
		}
	}
	return nil
}

package store

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// markForgottenScript notes the offsets ARGV as those of forgotten users
// (KEYS[1]), of whom something may still be stored (KEYS[3]), under a new
// version (KEYS[2]).
var markForgottenScript = redis.NewScript(`
local version = redis.call('INCR', KEYS[2])
for _, offset in ipairs(ARGV) do
  redis.call('ZADD', KEYS[1], version, offset)
  redis.call('SADD', KEYS[3], offset)
end
return version
`)

// Forget takes a user out of everything: all days and flags, those of other
// programs too, the known users, and the dictionary, where the offset is never
// given to anybody again. The same ID coming back later is a new user. Marks is
// how many bits of days and flags were cleared. A user of whom nothing is
// stored is an ErrNotFound. When it fails or is killed, it is completed by
// being done again.
func (s *Store) Forget(ctx context.Context, id string) (marks int64, err error) {
	if err := s.writable(ctx); err != nil {
		return 0, err
	}
	if CheckID(id, s.config.Dense, s.config.MaxOffset) != nil {
		return 0, unknownUser(id)
	}
	f := &forgetting{store: s, id: id, offsets: roaring.New(), left: roaring.New()}
	for _, step := range f.steps() {
		if err := step(ctx); err != nil {
			return f.marks, err
		}
	}
	if f.offsets.IsEmpty() || s.config.Dense && f.marks == 0 && !f.known {
		return 0, unknownUser(id)
	}
	return f.marks, nil
}

func unknownUser(id string) error {
	return fault.NotFound("unknown_user", "nothing is stored of a user %s", fault.Show(id))
}

// forgetting is the forgetting of one user.
type forgetting struct {
	store *Store
	id    string
	// offsets are those that the ID has or that a writer tried to give it.
	offsets *roaring.Bitmap
	// left are those of users whose forgetting was not completed.
	left  *roaring.Bitmap
	marks int64 // cleared
	known bool
}

// steps returns what is to be done, in an order in which what is found is found
// again after a crash: the forward entry, which leads to the rest, goes last.
func (f *forgetting) steps() []func(context.Context) error {
	if f.store.config.Dense {
		return []func(context.Context) error{f.findDense, f.clear}
	}
	return []func(context.Context) error{f.find, f.mark, f.search, f.mark, f.clear, f.erase, f.release, f.done}
}

func (f *forgetting) findDense(context.Context) error {
	offset, err := parseDense(f.id, f.store.config.MaxOffset)
	f.offsets.Add(offset)
	return err
}

// find reads the ID's offset, and whose forgetting was not completed.
func (f *forgetting) find(ctx context.Context) error {
	offsets, absent, err := f.store.lookUp(ctx, []string{f.id})
	if err != nil {
		return err
	}
	if len(absent) == 0 {
		f.offsets.Add(offsets[0])
	}
	members, err := f.store.client.SMembers(ctx, f.store.keys.forgetting()).Result()
	if err != nil {
		return f.store.failed(ctx, "read who is being forgotten", err)
	}
	f.left, err = offsetsOfMembers(members)
	return err
}

// all are all offsets of which nothing is to be left.
func (f *forgetting) all() []uint32 { return roaring.Or(f.offsets, f.left).ToArray() }

// mark makes every writer leave the user out from now on.
func (f *forgetting) mark(ctx context.Context) error {
	k := f.store.keys
	for part := range slices.Chunk(f.all(), pipelineLimit) {
		args := make([]any, len(part))
		for i, offset := range part {
			args[i] = offset
		}
		err := markForgottenScript.Run(ctx, f.store.client, []string{k.forgotten(), k.forgottenVersion(), k.forgetting()}, args...).Err()
		if err != nil {
			return f.store.failed(ctx, "note who is forgotten", err)
		}
	}
	return nil
}

// clear takes the bits out of all bitmaps, those of the known users last.
func (f *forgetting) clear(ctx context.Context) error {
	all := f.all()
	if len(all) == 0 {
		return nil
	}
	if err := f.store.scan(ctx); err != nil {
		return err
	}
	catalogue, err := f.store.OwnCatalogue(ctx)
	if err != nil {
		return err
	}
	for _, offset := range all {
		marks, known, err := f.store.clearEverywhere(ctx, catalogue, offset)
		if err != nil {
			return err
		}
		if f.offsets.Contains(offset) {
			f.marks, f.known = f.marks+marks, f.known || known
		}
	}
	return nil
}

// clearEverywhere takes a user out of all bitmaps of the catalogue, and out of
// the known users last. It returns how many marks there were, and whether the
// user was known.
func (s *Store) clearEverywhere(ctx context.Context, catalogue *cohort.Catalogue, offset uint32) (marks int64, known bool, err error) {
	segment, _ := s.locate(offset)
	var bitmaps []cohort.Bitmap
	for b := range catalogue.All() {
		if b != knownUsers && catalogue.Has(b, segment) {
			bitmaps = append(bitmaps, b)
		}
	}
	if marks, err = s.clearUser(ctx, offset, bitmaps); err != nil {
		return 0, false, err
	}
	if err := s.clearPresence(ctx, offset); err != nil {
		return 0, false, err
	}
	// Only now: a history that was made meanwhile of what is gone is found too.
	if err := s.clearHistories(ctx, offset); err != nil {
		return 0, false, err
	}
	n, err := s.clearUser(ctx, offset, []cohort.Bitmap{knownUsers})
	return marks, n > 0, err
}

// clearUser takes a user out of those bitmaps that hold it. The others are not
// touched: clearing a bit beyond the end of a string would make it longer.
func (s *Store) clearUser(ctx context.Context, offset uint32, bitmaps []cohort.Bitmap) (cleared int64, err error) {
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for part := range slices.Chunk(bitmaps, pipelineLimit) {
		has, err := s.Marks(ctx, offset, part)
		if err != nil {
			return 0, err
		}
		for i, b := range part {
			if has[i] {
				marks[b] = roaring.BitmapOf(offset)
			}
		}
	}
	return s.clear(ctx, marks)
}

// done notes that nothing is left to do.
func (f *forgetting) done(ctx context.Context) error {
	for part := range slices.Chunk(f.all(), pipelineLimit) {
		members := make([]any, len(part))
		for i, offset := range part {
			members[i] = offset
		}
		if err := f.store.client.SRem(ctx, f.store.keys.forgetting(), members...).Err(); err != nil {
			return f.store.failed(ctx, "note who was forgotten", err)
		}
	}
	return nil
}

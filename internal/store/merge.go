package store

import (
	"context"
	"errors"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// Written is what a write changed.
type Written struct {
	// BitsNew is how many bits of the named metrics went from 0 to 1.
	BitsNew int64
	// UsersNew is how many users were written for the first time.
	UsersNew int64
}

func (w *Written) add(more Written) {
	w.BitsNew += more.BitsNew
	w.UsersNew += more.UsersNew
}

// Merge adds users, given by offset, to days and flags, and to the known users.
// It works a segment at a time, each in transactions of about 1 ms. When it
// fails, some segments may have been written; done again it ends in the same
// state. What it says was new leaves out what a lost reply was about.
func (s *Store) Merge(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (Written, error) {
	if err := s.writable(ctx); err != nil {
		return Written{}, err
	}
	kept, forgotten, err := s.withoutForgotten(ctx, marks)
	if err != nil {
		s.withdraw(ctx, s.places(marks)) // which an earlier attempt may have left
		return Written{}, err
	}
	kept = withKnown(kept)
	places := s.places(kept)
	total, err := s.mergePlaces(ctx, kept, places)
	if err != nil {
		s.withdraw(ctx, places)
	}
	return total, errors.Join(err, s.clearForgotten(ctx, forgotten, kept))
}

func (s *Store) mergePlaces(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap, places []place) (Written, error) {
	w := s.newWriting(ctx, places)
	defer w.stop()
	registering := s.catalogueCalls(registerScript, places)
	if known := marks[knownUsers]; !s.config.Dense && known != nil && !known.IsEmpty() {
		registering = append(registering, s.passing(int64(known.Maximum())+1))
	}
	if err := w.begin(ctx, registering...); err != nil {
		return Written{}, err
	}
	var total Written
	for segment, writes := range s.bySegment(marks) {
		written, err := s.mergeSegment(ctx, segment, writes)
		if err != nil {
			return total, err
		}
		total.add(written)
	}
	return total, w.end(ctx, registering...)
}

// withKnown adds the union of all users of the marks as marks of the known users.
func withKnown(marks map[cohort.Bitmap]*roaring.Bitmap) map[cohort.Bitmap]*roaring.Bitmap {
	all := make([]*roaring.Bitmap, 0, len(marks))
	with := make(map[cohort.Bitmap]*roaring.Bitmap, len(marks)+1)
	for b, users := range marks {
		with[b] = users
		all = append(all, users)
	}
	with[knownUsers] = roaring.FastOr(all...)
	return with
}

// mergeSegment writes one segment's marks, the known users with the first of
// them, so that no user ever has a mark without being known.
func (s *Store) mergeSegment(ctx context.Context, segment int, writes []write) (Written, error) {
	var total Written
	for batch := range batches(writes) {
		written, err := s.mergeBatch(ctx, segment, batch)
		if err != nil {
			return total, err
		}
		total.add(written)
	}
	return total, nil
}

func (s *Store) mergeBatch(ctx context.Context, segment int, writes []write) (Written, error) {
	added, err := s.writeBatch(ctx, "write marks", segment, writes, s.queueOr)
	if err != nil {
		return Written{}, err
	}
	var written Written
	for i, w := range writes {
		if w.bitmap == knownUsers {
			written.UsersNew += added[i]
		} else {
			written.BitsNew += added[i]
		}
	}
	return written, nil
}

// queueing queues the commands of one write, which may use a temporary key.
type queueing func(ctx context.Context, p redis.Pipeliner, key, temp string, w write) change

// writeBatch carries out writes in one transaction, and returns how many bits
// each of them changed.
func (s *Store) writeBatch(ctx context.Context, what string, segment int, writes []write, queue queueing) ([]int64, error) {
	job := random()
	p := s.client.TxPipeline()
	changes := make([]change, len(writes))
	for i, w := range writes {
		key := s.keys.bitmap(w.bitmap, segment)
		changes[i] = queue(ctx, p, key, s.keys.temp(segment, job, i), w)
		s.queueExpiry(ctx, p, key, w.bitmap)
	}
	if err := s.exec(ctx, what, p); err != nil {
		return nil, err
	}
	changed := make([]int64, len(writes))
	for i, c := range changes {
		changed[i] = c()
	}
	return changed, nil
}

// change tells, once the transaction was carried out, how many bits it changed.
type change func() int64

// queueOr queues the commands that set a write's bits in a key.
func (s *Store) queueOr(ctx context.Context, p redis.Pipeliner, key, temp string, w write) change {
	if w.dense == nil {
		return queueBits(ctx, p, key, w.bits, 1)
	}
	p.Set(ctx, temp, w.dense, s.config.TempTTL)
	before := p.BitCount(ctx, key, nil)
	p.BitOpOr(ctx, key, key, temp)
	after := p.BitCount(ctx, key, nil)
	p.Unlink(ctx, temp)
	return func() int64 { return after.Val() - before.Val() }
}

// queueAndNot queues the commands that clear a write's bits in a key.
func (s *Store) queueAndNot(ctx context.Context, p redis.Pipeliner, key, temp string, w write) change {
	if w.dense == nil {
		return queueBits(ctx, p, key, w.bits, 0)
	}
	p.Set(ctx, temp, w.dense, s.config.TempTTL)
	p.BitOpAnd(ctx, temp, key, temp)
	cleared := p.BitCount(ctx, temp, nil)
	p.BitOpXor(ctx, key, key, temp)
	p.Unlink(ctx, temp)
	return cleared.Val
}

// queueBits queues the setting of single bits to a value. The replies are the
// values before.
func queueBits(ctx context.Context, p redis.Pipeliner, key string, bits []uint32, value int64) change {
	args := make([]any, 0, 4*len(bits))
	for _, bit := range bits {
		args = append(args, "SET", "u1", bit, value)
	}
	reply := p.BitField(ctx, key, args...)
	return func() int64 {
		changed := int64(0)
		for _, before := range reply.Val() {
			if before != value {
				changed++
			}
		}
		return changed
	}
}

// queueExpiry gives a lasting key its time to live again, which a BITOP takes
// away and a new key does not have, or makes sure that it has none.
func (s *Store) queueExpiry(ctx context.Context, p redis.Pipeliner, key string, b cohort.Bitmap) {
	if at, ok := s.expiry(b); ok {
		p.ExpireAt(ctx, key, at)
		return
	}
	p.Persist(ctx, key)
}

// Clear takes users out of days and flags, and returns how many bits went from
// 1 to 0. The users stay known.
func (s *Store) Clear(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (cleared int64, err error) {
	if err := s.writable(ctx); err != nil {
		return 0, err
	}
	return s.clear(ctx, marks)
}

func (s *Store) clear(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (cleared int64, err error) {
	w := s.newWriting(ctx, s.places(marks))
	defer w.stop()
	if err := w.begin(ctx); err != nil {
		return 0, err
	}
	if cleared, err = s.clearAll(ctx, marks); err != nil {
		return cleared, err
	}
	return cleared, w.end(ctx)
}

func (s *Store) clearAll(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (cleared int64, err error) {
	for segment, writes := range s.bySegment(marks) {
		present, err := s.existing(ctx, segment, writes)
		if err != nil {
			return cleared, err
		}
		for batch := range batches(present) {
			changed, err := s.writeBatch(ctx, "take marks back", segment, batch, s.queueAndNot)
			if err != nil {
				return cleared, err
			}
			for _, n := range changed {
				cleared += n
			}
		}
	}
	return cleared, nil
}

// existing leaves out the writes to absent keys, which clearing would create.
func (s *Store) existing(ctx context.Context, segment int, writes []write) ([]write, error) {
	p := s.client.Pipeline()
	replies := make([]*redis.IntCmd, len(writes))
	for i, w := range writes {
		replies[i] = p.Exists(ctx, s.keys.bitmap(w.bitmap, segment))
	}
	if err := s.exec(ctx, "look for bitmaps", p); err != nil {
		return nil, err
	}
	var present []write
	for i, w := range writes {
		if replies[i].Val() == 1 {
			present = append(present, w)
		}
	}
	return present, nil
}

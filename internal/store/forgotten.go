package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// generation names the data and how often a user was forgotten in them. What
// is remembered of IDs holds within one generation only.
type generation struct {
	epoch     string
	forgotten int64
}

// tombs are the offsets of the users who were forgotten up to a generation, or
// a little later. They are never changed, but replaced.
type tombs struct {
	generation
	offsets *roaring.Bitmap
}

// forgottenAt returns the offsets of the users who were forgotten up to a
// generation. Nobody may have them again, nor a mark.
func (s *Store) forgottenAt(ctx context.Context, g generation) (*roaring.Bitmap, error) {
	seen := s.tombs.Load()
	if seen != nil && seen.generation == g {
		return seen.offsets, nil
	}
	if seen == nil || seen.epoch != g.epoch || seen.forgotten > g.forgotten {
		seen = &tombs{offsets: roaring.New()}
	}
	newer, err := s.forgottenSince(ctx, seen.forgotten)
	if err != nil {
		return nil, err
	}
	next := &tombs{g, roaring.Or(seen.offsets, newer)}
	s.tombs.Store(next)
	return next.offsets, nil
}

// forgottenSince returns the offsets of the users who were forgotten after a
// version of the forgotten.
func (s *Store) forgottenSince(ctx context.Context, version int64) (*roaring.Bitmap, error) {
	after := &redis.ZRangeBy{Min: "(" + strconv.FormatInt(version, 10), Max: "+inf"}
	members, err := s.client.ZRangeByScore(ctx, s.keys.forgotten(), after).Result()
	if err != nil {
		return nil, s.failed(ctx, "read who was forgotten", err)
	}
	return offsetsOfMembers(members)
}

func offsetsOfMembers(members []string) (*roaring.Bitmap, error) {
	offsets := roaring.New()
	for _, m := range members {
		offset, err := strconv.ParseUint(m, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("store: forgotten offset: %w", err)
		}
		offsets.Add(uint32(offset))
	}
	return offsets, nil
}

// withoutForgotten leaves the users who were forgotten out of marks: whoever
// gathered them may have asked for the offsets before. It returns the version
// of the forgotten that it knew.
func (s *Store) withoutForgotten(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (map[cohort.Bitmap]*roaring.Bitmap, int64, error) {
	if s.config.Dense {
		return marks, 0, nil
	}
	now, err := s.now(ctx)
	if err != nil {
		return nil, 0, err
	}
	gone, err := s.forgottenAt(ctx, now.generation())
	if err != nil || gone.IsEmpty() {
		return marks, now.forgotten, err
	}
	without := make(map[cohort.Bitmap]*roaring.Bitmap, len(marks))
	for b, users := range marks {
		if users.Intersects(gone) {
			users = roaring.AndNot(users, gone)
		}
		without[b] = users
	}
	return without, now.forgotten, nil
}

// clearForgotten takes back the marks, just written, of users who were
// forgotten after a version. Whoever is forgotten later than this looks is
// cleared by the forgetting, which finds the marks there.
func (s *Store) clearForgotten(ctx context.Context, version int64, marks map[cohort.Bitmap]*roaring.Bitmap) error {
	if s.config.Dense {
		return nil
	}
	now, err := s.now(ctx)
	if err != nil || now.forgotten == version {
		return err
	}
	gone, err := s.forgottenSince(ctx, version)
	if err != nil {
		return err
	}
	slipped := map[cohort.Bitmap]*roaring.Bitmap{}
	for b, users := range marks {
		if users.Intersects(gone) {
			slipped[b] = roaring.And(users, gone)
		}
	}
	_, err = s.clear(ctx, slipped)
	return err
}

// marksOf returns all marks that a sync may have written of some users.
func (s *Store) marksOf(r record, users *roaring.Bitmap) map[cohort.Bitmap]*roaring.Bitmap {
	marks := map[cohort.Bitmap]*roaring.Bitmap{}
	for _, sr := range r.Segments {
		from := uint64(sr.Segment) * uint64(s.config.SegmentBits)
		here := roaring.New()
		here.AddRange(from, from+uint64(s.config.SegmentBits))
		here.And(users)
		for _, st := range sr.steps() {
			if b, ok := parseMember(st.member); ok && !here.IsEmpty() {
				if marks[b] == nil {
					marks[b] = roaring.New()
				}
				marks[b].Or(here)
			}
		}
	}
	return marks
}

// clearForgottenOf takes back what a sync, when applied, wrote of users who
// were forgotten since it began.
func (s *Store) clearForgottenOf(ctx context.Context, r record) error {
	if s.config.Dense {
		return nil
	}
	gone, err := s.forgottenSince(ctx, r.Forgotten)
	if err != nil || gone.IsEmpty() {
		return err
	}
	_, err = s.clear(ctx, s.marksOf(r, gone))
	return err
}

// sweepForgotten clears what is left of users who were forgotten. A writer that
// died may have left marks, and never one of a user who is not known.
func (s *Store) sweepForgotten(ctx context.Context) error {
	if s.config.Dense {
		return nil
	}
	latest, err := s.latest(ctx)
	if err != nil {
		return err
	}
	gone, err := s.forgottenAt(ctx, latest.generation())
	if err != nil {
		return err
	}
	for part := range slices.Chunk(gone.ToArray(), pipelineLimit) {
		known, err := s.knownAmong(ctx, part)
		if err != nil {
			return err
		}
		for _, offset := range known {
			if _, _, err := s.clearEverywhere(ctx, latest.catalogue, offset); err != nil {
				return err
			}
		}
	}
	return nil
}

// knownAmong returns those of some offsets that are of known users.
func (s *Store) knownAmong(ctx context.Context, offsets []uint32) (known []uint32, err error) {
	p := s.client.Pipeline()
	replies := make([]*redis.IntCmd, len(offsets))
	for i, offset := range offsets {
		segment, bit := s.locate(offset)
		replies[i] = p.GetBit(ctx, s.keys.bitmap(knownUsers, segment), bit)
	}
	if err := s.exec(ctx, "look for known users", p); err != nil {
		return nil, err
	}
	for i, r := range replies {
		if r.Val() == 1 {
			known = append(known, offsets[i])
		}
	}
	return known, nil
}

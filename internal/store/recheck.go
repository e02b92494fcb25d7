package store

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// Recheck looks whether other programs have changed bitmaps since they were
// rechecked the last time: whether any segment has another number of bits. One
// that has, or that was never rechecked, gets a new version token, and its users
// become known. It reports whether there was any.
func (s *Store) Recheck(ctx context.Context, bitmaps []cohort.Bitmap) (changed bool, err error) {
	cat, err := s.Catalogue(ctx)
	if err != nil || len(bitmaps) == 0 {
		return false, err
	}
	for part := range slices.Chunk(bitmaps, pipelineLimit/max(1, len(cat.Segments()))+1) {
		places, prints, err := s.recount(ctx, cat, part)
		if err != nil {
			return changed, err
		}
		if len(places) == 0 {
			continue
		}
		changed = true
		ours := slices.DeleteFunc(slices.Clone(places), s.isOthers)
		theirs := slices.DeleteFunc(places, func(p place) bool { return !s.isOthers(p) })
		if err := errors.Join(s.adopt(ctx, ours), s.adoptOthers(ctx, theirs)); err != nil {
			return changed, err
		}
		if err := s.client.HSet(ctx, s.keys.prints(), prints).Err(); err != nil {
			return changed, s.failed(ctx, "note the number of bits", err)
		}
	}
	return changed, nil
}

// recount counts the bits of bitmaps in every segment in use, and returns those
// bitmaps that have changed, with their new fingerprints.
func (s *Store) recount(ctx context.Context, cat *cohort.Catalogue, bitmaps []cohort.Bitmap) ([]place, map[string]string, error) {
	p := s.client.Pipeline()
	old := make([]*redis.StringCmd, len(bitmaps))
	counts := make([][]func() int64, len(bitmaps))
	for i, b := range bitmaps {
		old[i] = p.HGet(ctx, s.keys.prints(), member(b))
		for _, segment := range cat.Segments() {
			counts[i] = append(counts[i], s.queueCount(ctx, p, b, segment))
		}
	}
	if err := s.exec(ctx, "count bits", p); err != nil {
		return nil, nil, err
	}
	var places []place
	prints := map[string]string{}
	for i, b := range bitmaps {
		at, counted := place{bitmap: b}, []byte(cat.Lineage())
		for k, segment := range cat.Segments() {
			if n := counts[i][k](); n > 0 {
				at.segments = append(at.segments, segment)
				counted = binary.AppendVarint(binary.AppendVarint(counted, int64(segment)), n)
			}
		}
		if now := strconv.FormatUint(xxhash.Sum64(counted), 36); now != old[i].Val() {
			places, prints[member(b)] = append(places, at), now
		}
	}
	return places, prints, nil
}

// queueCount queues the counting of a bitmap's bits in a segment.
func (s *Store) queueCount(ctx context.Context, p redis.Pipeliner, b cohort.Bitmap, segment int) func() int64 {
	if !s.isOthers(place{bitmap: b}) {
		return p.BitCount(ctx, s.keys.bitmap(b, segment), nil).Val
	}
	var replies []*redis.IntCmd
	for _, piece := range s.stretches(b, segment, 0, int64(s.config.SegmentBits/8)) {
		replies = append(replies, p.BitCount(ctx, piece.key, &redis.BitCount{Start: piece.from, End: piece.to - 1}))
	}
	return func() (n int64) {
		for _, r := range replies {
			n += r.Val()
		}
		return n
	}
}

func (s *Store) isOthers(p place) bool {
	_, other := s.existingOf(p.bitmap)
	return other
}

// adopt takes over what other programs wrote: its users become known, and its
// bitmaps get new version tokens.
func (s *Store) adopt(ctx context.Context, places []place) error {
	if len(places) == 0 {
		return nil
	}
	known := place{bitmap: knownUsers}
	for _, p := range places {
		known.segments = append(known.segments, p.segments...)
	}
	slices.Sort(known.segments)
	known.segments = slices.Compact(known.segments)
	all := append(slices.Clone(places), known)
	w := s.newWriting(ctx, all)
	defer w.stop()
	registering := s.catalogueCalls(registerScript, all)
	if err := w.begin(ctx, registering...); err != nil {
		return err
	}
	for _, p := range places {
		for _, segment := range p.segments {
			if err := s.makeKnown(ctx, p.bitmap, segment); err != nil {
				return err
			}
		}
	}
	return w.end(ctx, registering...)
}

// makeKnown adds the users of a bitmap in a segment to the known ones.
func (s *Store) makeKnown(ctx context.Context, b cohort.Bitmap, segment int) error {
	known := s.keys.bitmap(knownUsers, segment)
	p := s.client.TxPipeline()
	p.BitOpOr(ctx, known, known, s.keys.bitmap(b, segment))
	p.Persist(ctx, known)
	return s.exec(ctx, "make users known", p)
}

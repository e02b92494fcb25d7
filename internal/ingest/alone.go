package ingest

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/fault"
	"bitboard/internal/store"
)

// maxSuspects is how many suspects are looked at closely. Two IDs with one
// fingerprint are so rare that among this many there is a real clash.
const maxSuspects = 1000

// checkAlone tells whether the pairs of the file clash among themselves: an ID
// with two offsets, or an offset with two IDs.
func (f *pairFile) checkAlone(ctx context.Context) error {
	prints := fingerprints{seed: maphash.MakeSeed()}
	err := f.each(ctx, func(_ int64, p store.Pair) error {
		prints.add(p)
		return nil
	})
	if err != nil {
		return err
	}
	doubtful := prints.suspects()
	if doubtful.none() {
		return nil
	}
	return f.compare(ctx, doubtful)
}

// fingerprint stands for a pair in 16 bytes.
type fingerprint struct {
	hash   uint64 // of the ID
	offset uint32
}

// fingerprints are those of a file's pairs, by the hash's first byte, so that
// a growing list never moves all of them. Their seed is random, so that nobody
// can make IDs of one hash.
type fingerprints struct {
	seed   maphash.Seed
	shards [256][]fingerprint
}

func (fp *fingerprints) hash(id string) uint64 { return maphash.String(fp.seed, id) }

func (fp *fingerprints) add(p store.Pair) {
	h := fp.hash(p.ID)
	shard := &fp.shards[h>>56]
	*shard = append(*shard, fingerprint{h, p.Offset})
}

// suspects are IDs, by hash, and offsets that may clash: all others do not.
type suspects struct {
	of      *fingerprints
	hashes  map[uint64]bool
	offsets map[uint32]bool
}

func (s *suspects) none() bool { return len(s.hashes)+len(s.offsets) == 0 }
func (s *suspects) many() bool { return len(s.hashes)+len(s.offsets) >= maxSuspects }

// suspects finds them, and gives the memory of the fingerprints back.
func (fp *fingerprints) suspects() *suspects {
	found := &suspects{fp, map[uint64]bool{}, map[uint32]bool{}}
	taken := roaring.New()
	for i := range fp.shards {
		shard := fp.shards[i]
		fp.shards[i] = nil
		slices.SortFunc(shard, func(a, b fingerprint) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.offset, b.offset))
		})
		shard = slices.Compact(shard) // the same pair again is no clash
		for i, p := range shard {
			if found.many() {
				return found
			}
			if i > 0 && shard[i-1].hash == p.hash {
				found.hashes[p.hash] = true
			}
			if !taken.CheckedAdd(p.offset) {
				found.offsets[p.offset] = true
			}
		}
	}
	return found
}

// seen is a pair and where it stands.
type seen struct {
	store.Pair
	line int64
}

// compare reads the file again and compares the suspects' pairs themselves.
func (f *pairFile) compare(ctx context.Context, s *suspects) error {
	byID, byOffset := map[string]seen{}, map[uint32]seen{}
	return f.each(ctx, func(line int64, p store.Pair) error {
		if s.hashes[s.of.hash(p.ID)] {
			if before, ok := byID[p.ID]; ok && before.Offset != p.Offset {
				return f.conflict(line, "the user ID %s has offset %d, but offset %d on line %d; nothing was taken in",
					fault.Show(p.ID), p.Offset, before.Offset, before.line)
			}
			byID[p.ID] = seen{p, line}
		}
		if s.offsets[p.Offset] {
			if before, ok := byOffset[p.Offset]; ok && before.ID != p.ID {
				return f.conflict(line, "the user ID %s has offset %d, but so has %s on line %d; nothing was taken in",
					fault.Show(p.ID), p.Offset, fault.Show(before.ID), before.line)
			}
			byOffset[p.Offset] = seen{p, line}
		}
		return nil
	})
}

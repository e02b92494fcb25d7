package store

import (
	"context"
	"math"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

const (
	// scanCount keeps a step of a scan well under 1 ms of the server's time.
	scanCount = 250
	// anyVersion lets unregister take out what it finds absent, however new.
	anyVersion = math.MaxInt64
	// markEmpty lets a bitmap without segments stay as an empty-day marker.
	markEmpty = "keep"
	// removeEmpty removes a bitmap without segments.
	removeEmpty = "remove"
)

// Scan compares the catalogue with the keys that are there: it adds bitmaps
// that other programs wrote, and takes out those that are gone. It walks over
// all keys of every server, so it is for the background only. It also clears
// what a writer that died left of a user who was forgotten while it wrote.
func (s *Store) Scan(ctx context.Context) error {
	if err := s.scan(ctx); err != nil {
		return err
	}
	if len(s.config.Existing) > 0 {
		if err := s.scanOthers(ctx); err != nil {
			return err
		}
	}
	return s.sweepForgotten(ctx)
}

func (s *Store) scan(ctx context.Context) error {
	before, err := s.latest(ctx)
	if err != nil {
		return err
	}
	found := &sightings{bitmaps: map[cohort.Bitmap]*roaring.Bitmap{}, histories: map[cohort.Bitmap]*roaring.Bitmap{}}
	if err := s.eachMaster(ctx, "scan the keys", func(ctx context.Context, node redis.Cmdable) error {
		return s.scanNode(ctx, node, found)
	}); err != nil {
		return err
	}
	if err := s.register(ctx, found.unlisted(before.catalogue)); err != nil {
		return err
	}
	if err := s.sweepHistories(ctx, before.catalogue, found); err != nil {
		return err
	}
	if err := s.sweepLists(ctx, before.catalogue); err != nil {
		return err
	}
	return s.unregister(ctx, found.unseen(before.catalogue), before.version, removeEmpty)
}

// eachMaster calls f for every server that holds keys of its own, perhaps for
// several at once. An error of one of them is returned as failed makes it.
func (s *Store) eachMaster(ctx context.Context, what string, f func(context.Context, redis.Cmdable) error) error {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return s.failed(ctx, what, f(ctx, s.client))
	}
	return s.failed(ctx, what, cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return f(ctx, c) }))
}

func (s *Store) scanNode(ctx context.Context, node redis.Cmdable, found *sightings) error {
	highest, _ := s.locate(s.config.MaxOffset)
	for cursor := uint64(0); ; {
		names, next, err := node.ScanType(ctx, cursor, s.keys.segments(), scanCount, "string").Result()
		if err != nil {
			return err
		}
		for _, name := range names {
			if b, segment, ok := s.keys.parse(name); ok && segment <= highest {
				found.add(b, segment)
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// sightings is which bitmaps a scan met in which segments.
type sightings struct {
	mu                 sync.Mutex
	bitmaps, histories map[cohort.Bitmap]*roaring.Bitmap
}

func (f *sightings) add(b cohort.Bitmap, segment int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.bitmaps
	if b.Kind == cohort.HistoryBitmap {
		of = f.histories
	}
	if of[b] == nil {
		of[b] = roaring.New()
	}
	of[b].AddInt(segment)
}

// unlisted returns what was met but is not in the catalogue.
func (f *sightings) unlisted(c *cohort.Catalogue) []place {
	var places []place
	for b, segments := range f.bitmaps {
		var missing []int
		for segment := range roaring.Values(segments) {
			if !c.Has(b, int(segment)) {
				missing = append(missing, int(segment))
			}
		}
		if missing != nil {
			places = append(places, place{b, missing})
		}
	}
	return places
}

// unseen returns what is in the catalogue but was not met. A list stays: without a
// part of it, it would seem to be a smaller one.
func (f *sightings) unseen(c *cohort.Catalogue) []place {
	var places []place
	for b, segments := range c.All() {
		if missing := unmet(f.bitmaps[b], segments); missing != nil && b.Kind != cohort.ListBitmap {
			places = append(places, place{b, missing})
		}
	}
	return places
}

// unmet returns those of some segments that are not among the seen ones.
func unmet(seen *roaring.Bitmap, segments []int) (missing []int) {
	for _, segment := range segments {
		if seen == nil || !seen.ContainsInt(segment) {
			missing = append(missing, segment)
		}
	}
	return missing
}

package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

const (
	// versionBits is how many bits of a list's version are random, below the second in
	// which it was made.
	versionBits = 24
	// listAge is how old a list without a saved cohort may be: it may be one that is
	// still being written.
	listAge = time.Hour
)

// WriteList stores users, given by offset, as a list of the saved cohort of a name,
// and returns its version: with that in its record the cohort is the list. Who is
// not known is not made known. When it fails nothing is left.
func (s *Store) WriteList(ctx context.Context, name string, users *roaring.Bitmap) (version uint64, err error) {
	if err := s.writable(ctx); err != nil {
		return 0, err
	}
	now, err := s.serverTime(ctx)
	if err != nil {
		return 0, err
	}
	version = uint64(now)<<versionBits | uint64(rand.Uint32N(1<<versionBits))
	list := cohort.ListOf(name, version)
	kept, forgotten, err := s.withoutForgotten(ctx, map[cohort.Bitmap]*roaring.Bitmap{list: users})
	if err != nil {
		return 0, err
	}
	_, err = s.mergePlaces(ctx, kept, s.places(kept))
	if err = errors.Join(err, s.clearForgotten(ctx, forgotten, kept)); err != nil {
		s.clearUp(ctx, list)
		return 0, err
	}
	return version, nil
}

// DropList removes a list that is no saved cohort.
func (s *Store) DropList(ctx context.Context, name string, version uint64) error {
	latest, err := s.latest(ctx)
	if err != nil {
		return err
	}
	list := cohort.ListOf(name, version)
	segments := latest.catalogue.SegmentsOf(list)
	for part := range slices.Chunk(segments, pipelineLimit) {
		p := s.client.Pipeline()
		for _, segment := range part {
			p.Unlink(ctx, s.keys.bitmap(list, segment))
		}
		if err := s.exec(ctx, "remove a list", p); err != nil {
			return err
		}
	}
	return s.unregister(ctx, []place{{list, segments}}, anyVersion, removeEmpty)
}

// clearUp removes a list also when what it was for was interrupted; where that
// fails, the next scan does it.
func (s *Store) clearUp(ctx context.Context, list cohort.Bitmap) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer cancel()
	_ = s.DropList(ctx, list.Metric, list.Print)
}

// dropReplaced removes the list that a cohort was before a change, if it is that no
// longer.
func (s *Store) dropReplaced(ctx context.Context, before cohort.Saved, after *cohort.Saved) {
	if before.IsList() && (after == nil || after.List != before.List) {
		s.clearUp(ctx, cohort.ListOf(before.Name, before.List))
	}
}

// sweepLists removes the lists that are no saved cohorts, which a process left that
// died. The catalogue is older than the saved cohorts that it is compared with.
func (s *Store) sweepLists(ctx context.Context, before *cohort.Catalogue) error {
	var lists []cohort.Bitmap
	for b := range before.All() {
		if b.Kind == cohort.ListBitmap {
			lists = append(lists, b)
		}
	}
	if len(lists) == 0 {
		return nil
	}
	saved, err := s.SavedCohorts(ctx)
	if err != nil {
		return err
	}
	now, err := s.serverTime(ctx)
	if err != nil {
		return err
	}
	for _, b := range lists {
		age := time.Duration(now-int64(b.Print>>versionBits)) * time.Second
		if saved[b.Metric].List != b.Print && age > listAge {
			if err := s.DropList(ctx, b.Metric, b.Print); err != nil {
				return err
			}
		}
	}
	return nil
}

// listGone is the error about a list of which a bitmap is not there: the users in it
// must not be taken for none.
func listGone(list cohort.Bitmap) error {
	return &fault.Error{Kind: fault.ErrBusy, Code: "list_gone", Position: fault.NoPosition,
		Message: "the list of the cohort " + list.Metric + " was replaced while it was read, or a part of it was lost; ask again, and if that does not help upload it again"}
}

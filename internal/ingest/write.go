package ingest

import (
	"context"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
)

// writer is where an import's marks go.
type writer interface {
	// write takes marks, several times.
	write(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) error
	// finish completes the import.
	finish(ctx context.Context) (store.Written, error)
	// drop gives the import up.
	drop(ctx context.Context) error
}

func (s *Service) newWriter(ctx context.Context, o Options) (writer, error) {
	if o.Mode == Merge {
		return &merging{store: s.config.Store}, nil
	}
	sync, err := s.config.Store.BeginSync(ctx)
	if err != nil {
		return nil, err
	}
	return &replacing{sync, o.Force}, nil
}

// merging writes marks as they come.
type merging struct {
	store Store
	total store.Written
}

func (m *merging) write(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) error {
	written, err := m.store.Merge(ctx, marks)
	m.total.UsersNew += written.UsersNew
	m.total.BitsNew += written.BitsNew
	return err
}

func (m *merging) finish(context.Context) (store.Written, error) { return m.total, nil }

// drop leaves what was written: the same import again completes it.
func (m *merging) drop(context.Context) error { return nil }

// dropTimeout bounds the clearing up after an import that failed or was
// cancelled. What it leaves goes with its lease.
const dropTimeout = 10 * time.Second

// replacing stages days, which then replace those that are there; what it
// stages of flags is merged.
type replacing struct {
	sync  *store.Sync
	force bool
}

func (r *replacing) write(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) error {
	return r.sync.Stage(ctx, marks)
}

func (r *replacing) finish(ctx context.Context) (store.Written, error) {
	return r.sync.Commit(ctx, r.force)
}

func (r *replacing) drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	return r.sync.Drop(ctx)
}

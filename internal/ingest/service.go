// Package ingest takes in who did what and when: files in bulk, batches of
// events, and flags. It decides what a row means and which rows are refused;
// the store keeps the marks.
package ingest

import (
	"context"
	"runtime"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
)

// Store is what ingest needs of a store.
type Store interface {
	// Assign returns the offsets of IDs, handing out those of new ones.
	Assign(ctx context.Context, ids []string) ([]uint32, error)
	// Generation changes when offsets that were handed out may hold no longer.
	Generation(ctx context.Context) (string, error)
	// FindAll returns the offsets of those IDs that are of known users.
	FindAll(ctx context.Context, ids []string) (map[string]uint32, error)
	// Offsets returns the offsets of those IDs that have one.
	Offsets(ctx context.Context, ids []string) (*roaring.Bitmap, error)
	// Merge adds users to bitmaps.
	Merge(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (store.Written, error)
	// Clear takes users out of bitmaps.
	Clear(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) (cleared int64, err error)
	// WriteList stores users as a list of the saved cohort of a name, and DropList
	// removes one that is no saved cohort.
	WriteList(ctx context.Context, name string, users *roaring.Bitmap) (version uint64, err error)
	DropList(ctx context.Context, name string, version uint64) error
	// SetPresent notes that users are there or not, Beat that they had a
	// heartbeat; both return for how many that is new.
	SetPresent(ctx context.Context, metric string, users *roaring.Bitmap, there bool) (changed int64, err error)
	Beat(ctx context.Context, metric string, users *roaring.Bitmap, at time.Time) (changed int64, err error)
	// Marks tells which of some bitmaps a user is in.
	Marks(ctx context.Context, offset uint32, of []cohort.Bitmap) ([]bool, error)
	// BeginSync starts a replacement of whole days.
	BeginSync(ctx context.Context) (*store.Sync, error)
}

// Config says where marks go and what rows mean.
type Config struct {
	Store     Store
	Workspace cohort.Workspace
	// Events names for each event the metrics it marks, and under "*" those
	// of any other event.
	Events map[string][]string
	// Dense is true when an ID is its own offset.
	Dense bool
	// MaxOffset is the highest offset that a user may have.
	MaxOffset uint32
}

// Service takes in marks. It is safe for concurrent use.
type Service struct {
	config  Config
	mapping *mapping
	// memoryLimit is how many bytes of gathered marks an import holds.
	memoryLimit uint64
	// readers is how many goroutines of an import read blocks of blockBytes.
	readers, blockBytes int
	beats               beatMemory
}

// New returns a Service. An event that marks something that is no metric is a
// fault.ErrInvalid.
func New(c Config) (*Service, error) {
	m, err := newMapping(c.Workspace.Metrics, c.Events)
	if err != nil {
		return nil, err
	}
	return &Service{
		config: c, mapping: m, memoryLimit: defaultMemoryLimit,
		readers: runtime.GOMAXPROCS(0), blockBytes: defaultBlockBytes,
	}, nil
}

// checkID says what is wrong with an ID.
func (s *Service) checkID(id string) error {
	return store.CheckID(id, s.config.Dense, s.config.MaxOffset)
}

// addMark adds a user to the set of a bitmap.
func addMark(marks map[cohort.Bitmap]*roaring.Bitmap, b cohort.Bitmap, offset uint32) {
	if marks[b] == nil {
		marks[b] = roaring.New()
	}
	marks[b].Add(offset)
}

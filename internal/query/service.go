// Package query answers questions: it plans the sets that a question wants
// counted, runs the plan on the stored bitmaps a segment at a time, and adds
// the segments up. It knows no Redis, no HTTP and no clock.
package query

import (
	"context"
	"time"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// Store is what the service needs of the place where bitmaps lie.
type Store interface {
	// Catalogue returns what exists, no older than the last acknowledged write.
	Catalogue(ctx context.Context) (*cohort.Catalogue, error)
	// SavedCohorts returns the saved cohorts, no older than the last acknowledged change.
	SavedCohorts(ctx context.Context) (cohort.SavedCohorts, error)
	// Swaps names the replacements of whole days made so far, when none is half done.
	Swaps(ctx context.Context) (string, error)
	// SegmentBits is the number of offsets in a segment.
	SegmentBits() int
	// Run executes a program on the bitmaps of one segment, atomically. To Run and
	// to Fetch a history that is not there is an error.
	Run(ctx context.Context, segment int, inputs []cohort.Bitmap, p bitmap.Program) (bitmap.Result, error)
	// Fetch reads bytes from..to-1 of bitmaps of one segment; absent ones are nil
	// or empty. It puts them into the arena, if that has arenaSlack bytes more
	// than they take up for each bitmap.
	Fetch(ctx context.Context, segment int, inputs []cohort.Bitmap, from, to int, arena []byte) ([][]byte, error)
	// Commands returns the commands that Run would send for a segment, each as its
	// words, with $s in place of the segment's number.
	Commands(ctx context.Context, inputs []cohort.Bitmap, p bitmap.Program) ([][]string, error)
	// Marks reads one user's bit in each of the bitmaps.
	Marks(ctx context.Context, offset uint32, of []cohort.Bitmap) ([]bool, error)
	// UserMonths returns the bits of a user's days in each of some months of a
	// metric that is kept by user and month.
	UserMonths(ctx context.Context, metric, id string, months []cohort.Day) ([][]byte, error)
	// Find returns the offset of a known user.
	Find(ctx context.Context, id string) (offset uint32, ok bool, err error)
	// Recheck notices which of some bitmaps other programs have changed.
	Recheck(ctx context.Context, bitmaps []cohort.Bitmap) (changed bool, err error)
	// Derive makes a history the union of bitmaps, and puts it into the catalogue.
	Derive(ctx context.Context, cat *cohort.Catalogue, h cohort.Bitmap, of []cohort.Bitmap) (segments []int, err error)
	// DropHistory removes a history.
	DropHistory(ctx context.Context, cat *cohort.Catalogue, h cohort.Bitmap) error
	// Claim takes a piece of work; ok is false while somebody else does it.
	Claim(ctx context.Context, work string) (release func(), ok bool, err error)
	// ReadCells fills in the values of rows that are kept; absent ones are empty.
	ReadCells(ctx context.Context, rows []cohort.CellRow) error
	// WriteCells keeps the values of rows for some time, or loses them.
	WriteCells(ctx context.Context, rows []cohort.CellRow, life time.Duration) error
	// Present and Recent return how many users are there, and how many had a
	// heartbeat in some minutes up to an instant, by segment.
	Present(ctx context.Context, metric string) (map[int]int64, error)
	Recent(ctx context.Context, metric string, at time.Time, minutes int) (map[int]int64, error)
	// Beats returns how many users had a heartbeat in each UTC minute of some
	// days, by its beginning in Unix seconds.
	Beats(ctx context.Context, metric string, from, to time.Time) (map[int64]int64, error)
	// ListIDs adds the external IDs of ascending offsets to a list.
	ListIDs(ctx context.Context, offsets []uint32, list *cohort.IDList) error
}

// Engine says which executor computes an answer.
type Engine string

// The engines. Both executors give the same answers.
const (
	// Auto lets the planner choose by cost.
	Auto Engine = "auto"
	// Bitop computes inside the store with BITOP and BITCOUNT.
	Bitop Engine = "bitop"
	// Fold reads each bitmap once and computes here.
	Fold Engine = "fold"
)

// ParseEngine reads auto, bitop or fold; empty is auto.
func ParseEngine(field, s string) (Engine, error) {
	switch e := Engine(s); e {
	case "":
		return Auto, nil
	case Auto, Bitop, Fold:
		return e, nil
	}
	return "", fault.Invalid("bad_value", field, "%s is not an engine; give one of auto, bitop or fold", fault.Show(s))
}

// Options is how, not what, to ask.
type Options struct {
	// Engine forces an executor; empty is Auto.
	Engine Engine
	// Now is the instant of asking: new counts carry it as their computed_at.
	Now time.Time
	// Refresh computes all counts anew.
	Refresh bool
	// Ledger takes down where the counts come from; it may be nil.
	Ledger *Ledger
	// Job is told how far the computing is; it may be nil.
	Job Job
}

// Job is what a question that takes long is computed for.
type Job interface {
	// Admit waits until work of a cost, in bytes, by an engine may begin.
	Admit(ctx context.Context, cost int64, engine string) error
	// Turn waits until the store may be given the next piece of work, of about a
	// millisecond. It is gentle when the piece must not be larger. Done is to be
	// called when the store has answered.
	Turn(ctx context.Context) (gentle bool, done func(), err error)
	// Expect adds to the work that there is, and Did to what is done of it.
	Expect(amount int)
	Did(amount int)
}

// noJob is the Job of a question that nobody watches.
type noJob struct{}

func (noJob) Admit(context.Context, int64, string) error { return nil }
func (noJob) Expect(int)                                 {}
func (noJob) Did(int)                                    {}

func (noJob) Turn(context.Context) (gentle bool, done func(), err error) {
	return false, func() {}, nil
}

// job is the Job that there is.
func (o Options) job() Job {
	if o.Job == nil {
		return noJob{}
	}
	return o.Job
}

// Answer is a value with where it comes from.
type Answer[T any] struct {
	Value T
	// ComputedAt is when the oldest of its counts was computed.
	ComputedAt time.Time
	// Engine is what computed the latest of them.
	Engine Engine
}

// Service answers questions about one workspace. It is safe for concurrent use.
type Service struct {
	store     Store
	workspace cohort.Workspace
	config    Config
	arenas    arenas
}

// Config is the choices of the service.
type Config struct {
	// TTLOpen is how long a count is kept that may change unnoticed.
	TTLOpen time.Duration
	// SettleAfter is how long after its end a day may still be written by other
	// programs.
	SettleAfter time.Duration
	// MaxBitopBytes bounds the operands of one command of the store; 0 is no bound.
	MaxBitopBytes int64
}

// New returns a service over a store.
func New(store Store, w cohort.Workspace, c Config) *Service {
	return &Service{store: store, workspace: w, config: c}
}

// Workspace returns what the meaning of questions depends on.
func (s *Service) Workspace() cohort.Workspace { return s.workspace }

// SegmentBits is the number of offsets in a segment.
func (s *Service) SegmentBits() int { return s.store.SegmentBits() }

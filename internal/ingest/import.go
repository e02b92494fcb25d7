package ingest

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
)

// Mode says what an import does to what is there.
type Mode uint8

// The modes, the default first.
const (
	// Merge adds the rows' marks.
	Merge Mode = iota
	// Replace gives every metric's day that the files mention exactly the
	// files' users. Flags have no days: they are merged.
	Replace
)

// Options are the choices of one import.
type Options struct {
	Mode Mode
	// Events goes before the configuration's events, for this import only.
	Events map[string][]string
	// Today decides which days are past what a metric keeps.
	Today cohort.Day
	// Force lets a replacement shrink a day by more than half.
	Force bool
	// Verify looks a sample of the marks up in the store afterwards.
	Verify bool
}

// Summary counts what an import did.
type Summary struct {
	// Rows is Accepted and Rejected together.
	Rows, Accepted, Rejected int64
	// UsersNew is the users written for the first time.
	UsersNew int64
	// BitsNew is the bits of named metrics that went from 0 to 1.
	BitsNew int64
}

// Phase is what an import is doing.
type Phase uint8

// The phases, in their order.
const (
	// Reading reads the sources, and writes whenever enough was gathered.
	Reading Phase = iota
	// Writing writes what is left.
	Writing
	// Checking looks up what was written.
	Checking
)

// Progress is how far an import is.
type Progress struct {
	Phase Phase
	Rows  int64
	// Bytes is how many were read of Total, as stored; Total is 0 when the
	// size of a source is not known.
	Bytes, Total int64
}

// Observer is told what happens during an import; each may be nil.
type Observer struct {
	// Reject is given every rejected row. Its error ends the import.
	Reject func(source string, r Reject) error
	// Progress is called about every 65,536 rows, at the end of each source and
	// when another phase begins.
	Progress func(Progress)
}

// stepRows is about how many rows are taken between looks at memory.
const stepRows = 1 << 16

// Import reads the sources and writes the marks of their rows. Rows that mean
// nothing are rejected and the rest goes on; a source that cannot be read to
// its end is an error. After an error a merge leaves what it had written, and
// the same import again completes it; a replacement has changed nothing.
func (s *Service) Import(ctx context.Context, o Options, sources []Source, watch Observer) (Summary, error) {
	m, err := newMapping(s.config.Workspace.Metrics, o.Events, s.config.Events)
	if err != nil {
		return Summary{}, err
	}
	out, err := s.newWriter(ctx, o)
	if err != nil {
		return Summary{}, err
	}
	generation, err := s.config.Store.Generation(ctx)
	if err != nil {
		return Summary{}, errors.Join(err, out.drop(ctx))
	}
	im := &importing{
		generation: generation, gatherer: newGatherer(s), readers: s.newReaders(m, o),
		out: out, watch: watch, total: totalSize(sources), blockBytes: s.blockBytes,
	}
	if err := im.readAll(ctx, sources); err != nil {
		return im.summary, errors.Join(err, out.drop(ctx))
	}
	written, err := out.finish(ctx)
	if err == nil {
		err = im.sameData(ctx)
	}
	im.summary.UsersNew, im.summary.BitsNew = written.UsersNew, written.BitsNew
	if err == nil && o.Verify {
		im.enter(Checking)
		err = im.sample().verify(ctx, s.config.Store)
	}
	return im.summary, err
}

// newReaders returns what reads the blocks of an import side by side.
func (s *Service) newReaders(m *mapping, o Options) []*reader {
	readers := make([]*reader, s.readers)
	for i := range readers {
		readers[i] = &reader{service: s, meaning: newInterpreter(m, s.config.Workspace.Zone, o.Today)}
		if o.Verify {
			readers[i].sample = &sample{}
		}
	}
	return readers
}

// importing is an import under way.
type importing struct {
	*gatherer
	readers    []*reader
	generation string // of the store, when the import began
	out        writer
	watch      Observer
	blockBytes int
	summary    Summary
	phase      Phase
	bytes      atomic.Int64
	total      int64
}

func totalSize(sources []Source) int64 {
	total := int64(0)
	for _, s := range sources {
		if s.Size == 0 {
			return 0
		}
		total += s.Size
	}
	return total
}

// readAll reads the sources and writes what was gathered.
func (im *importing) readAll(ctx context.Context, sources []Source) error {
	ctx, cancel := context.WithCancel(ctx)
	defer im.abandon()
	defer cancel()
	for _, s := range sources {
		if err := im.read(ctx, s); err != nil {
			return err
		}
	}
	im.enter(Writing)
	return im.flush(ctx)
}

// read reads one source to its end.
func (im *importing) read(ctx context.Context, s Source) error {
	f, err := opened(ctx, s)
	if err != nil {
		return err
	}
	defer f.Close()
	// A read may wait for ever, e.g. on a pipe; closing it ends the wait.
	stop := context.AfterFunc(ctx, func() { f.Close() })
	defer stop()
	err = im.readRows(ctx, s.Name, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && fault.As(err) == nil {
		return unreadable(s.Name, err)
	}
	return err
}

func (im *importing) readRows(ctx context.Context, name string, f io.ReadCloser) error {
	blocks, err := rows.Open(name, counter{f, &im.bytes}, im.blockBytes)
	if err != nil {
		return err
	}
	err = im.readBlocks(ctx, blocks, f, func(r *reading) error { return im.take(ctx, name, r) })
	if err == nil {
		im.report()
	}
	return err
}

// take counts the rows of a reading, hands out its rejects and gathers its marks.
func (im *importing) take(ctx context.Context, name string, r *reading) error {
	before := im.summary.Rows / stepRows
	im.summary.Rows += r.rows
	im.summary.Rejected += int64(len(r.rejects))
	im.summary.Accepted = im.summary.Rows - im.summary.Rejected
	if im.watch.Reject != nil {
		for _, reject := range r.rejects {
			if err := im.watch.Reject(name, reject); err != nil {
				return err
			}
		}
	}
	if err := im.add(ctx, r); err != nil || im.summary.Rows/stepRows == before {
		return err
	}
	im.report()
	if !im.large() {
		return nil
	}
	return im.flush(ctx)
}

// flush writes what was gathered.
func (im *importing) flush(ctx context.Context) error {
	if err := im.complete(ctx); err != nil {
		return err
	}
	if err := im.sameData(ctx); err != nil {
		return err
	}
	return im.out.write(ctx, im.marks())
}

// sameData makes sure that the store still holds what the import began with.
// Otherwise the offsets that it remembers may be those of other users.
func (im *importing) sameData(ctx context.Context) error {
	generation, err := im.store.Generation(ctx)
	if err == nil && generation != im.generation {
		return &fault.Error{Kind: fault.ErrConflict, Code: "store_changed", Position: fault.NoPosition,
			Message: "the store was emptied or restarted while the import ran; run the same import again"}
	}
	return err
}

// enter begins a phase.
func (im *importing) enter(p Phase) {
	im.phase = p
	im.report()
}

func (im *importing) report() {
	if im.watch.Progress != nil {
		im.watch.Progress(Progress{Phase: im.phase, Rows: im.summary.Rows, Bytes: im.bytes.Load(), Total: im.total})
	}
}

// sample is the choice of all readers.
func (im *importing) sample() *sample {
	all := &sample{}
	for _, r := range im.readers {
		all.join(r.sample)
	}
	return all
}

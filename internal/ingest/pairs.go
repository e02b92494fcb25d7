package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
	"bitboard/internal/store"
)

// pairBatch is how many pairs are given to the store at once.
const pairBatch = 5000

// Dictionary is what ImportIDs needs of a store.
type Dictionary interface {
	// BeginIDImport opens an import of IDs.
	BeginIDImport(ctx context.Context) (*store.IDImport, error)
}

// PairSummary counts what an import of IDs did.
type PairSummary struct {
	Pairs int64
	// New is how many of the IDs had no offset yet.
	New int64
}

// ImportIDs reads user IDs and their offsets from a file, several times over,
// and gives the IDs these offsets. A pair that is malformed, or that clashes
// with another of the file or with the store, is an error that names its line,
// and nothing is written. Progress may be nil; its bytes are those of all passes.
func ImportIDs(ctx context.Context, d Dictionary, path string, maxOffset uint32, progress func(Progress)) (PairSummary, error) {
	f, err := openPairs(path, maxOffset, progress)
	if err != nil {
		return PairSummary{}, err
	}
	defer f.file.Close()
	if err := f.checkAlone(ctx); err != nil {
		return PairSummary{}, err
	}
	m, err := d.BeginIDImport(ctx)
	if err != nil {
		return PairSummary{}, err
	}
	summary, err := f.takeIn(ctx, m)
	return summary, errors.Join(err, m.End(ctx))
}

// pairFile is a file of pairs that is read several times.
type pairFile struct {
	name      string
	file      *os.File
	size      int64
	modified  time.Time
	maxOffset uint32
	progress  func(Progress)
	bytes     atomic.Int64 // read in all passes
}

// passes is how often a file without a clash is read.
const passes = 3

// takeIn checks the pairs against the store until their offsets are set aside,
// and then writes them.
func (f *pairFile) takeIn(ctx context.Context, m *store.IDImport) (PairSummary, error) {
	for done := false; !done; {
		_, err := f.inBatches(ctx, m.Check)
		if err != nil {
			return PairSummary{}, f.refused(err, "nothing was taken in")
		}
		if done, err = m.SetAside(ctx); err != nil {
			return PairSummary{}, err
		}
	}
	summary, err := f.inBatches(ctx, m.Write)
	return summary, f.refused(err, "some pairs were taken in, and the same file is refused until this is settled")
}

// clashAt is a clash with the store on a line.
type clashAt struct {
	line  int64
	clash *store.Clash
}

// Error implements error.
func (c clashAt) Error() string { return c.clash.Error() }

// refused makes a fault.ErrConflict of a clash with the store.
func (f *pairFile) refused(err error, state string) error {
	c, ok := errors.AsType[clashAt](err)
	if !ok {
		return err
	}
	return f.conflict(c.line, "%s; %s", c.clash.Why, state)
}

func (f *pairFile) conflict(line int64, format string, args ...any) error {
	return &fault.Error{Kind: fault.ErrConflict, Code: "id_clash", Position: fault.NoPosition,
		Message: fmt.Sprintf("%s: line %d: ", f.name, line) + fmt.Sprintf(format, args...)}
}

// inBatches hands all pairs to a step of the store, and sums up what it says
// was new.
func (f *pairFile) inBatches(ctx context.Context, step func(context.Context, []store.Pair) (int, error)) (PairSummary, error) {
	var summary PairSummary
	batch, lines := make([]store.Pair, 0, pairBatch), make([]int64, 0, pairBatch)
	flush := func() error {
		fresh, err := step(ctx, batch)
		if c, ok := errors.AsType[*store.Clash](err); ok {
			return clashAt{lines[c.At], c}
		}
		summary.Pairs += int64(len(batch))
		summary.New += int64(fresh)
		batch, lines = batch[:0], lines[:0]
		return err
	}
	err := f.each(ctx, func(line int64, p store.Pair) error {
		batch, lines = append(batch, p), append(lines, line)
		if len(batch) < pairBatch {
			return nil
		}
		return flush()
	})
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	return summary, err
}

func openPairs(path string, maxOffset uint32, progress func(Progress)) (*pairFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.Invalid("unreadable_file", "", "%s is no regular file, and a table of user IDs is read several times; write it into a file first", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	return &pairFile{name: path, file: file, size: info.Size(), modified: info.ModTime(), maxOffset: maxOffset, progress: progress}, nil
}

// each reads the file from its start and calls f with every pair. A row that
// is no pair is a fault.ErrInvalid that names its line.
func (f *pairFile) each(ctx context.Context, take func(line int64, p store.Pair) error) error {
	r, err := f.rewind()
	if err != nil {
		return err
	}
	var row rows.Row
	for n := int64(1); ; n++ {
		if err := r.Next(&row); err == io.EOF {
			break
		} else if err != nil {
			return f.unreadable(err)
		}
		p, err := f.pair(&row)
		if err != nil {
			return fault.Invalid(err.Code, err.Field, "%s: line %d: %s; nothing was taken in", f.name, row.Line, err.Message)
		}
		if err := take(row.Line, p); err != nil {
			return err
		}
		if n%stepRows == 0 {
			f.progress(Progress{Rows: n, Bytes: f.bytes.Load(), Total: passes * f.size})
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return f.unchanged()
}

func (f *pairFile) rewind() (*rows.Reader, error) {
	if err := f.unchanged(); err != nil {
		return nil, err
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return nil, unreadable(f.name, err)
	}
	r, err := rows.OpenPairs(f.name, counter{f.file, &f.bytes})
	return r, f.unreadable(err)
}

func (f *pairFile) unreadable(err error) error {
	if err == nil || fault.As(err) != nil {
		return err
	}
	return unreadable(f.name, err)
}

// unchanged makes sure that every pass reads the same: what is written must be
// what was checked.
func (f *pairFile) unchanged() error {
	info, err := f.file.Stat()
	if err != nil {
		return unreadable(f.name, err)
	}
	if info.Size() != f.size || !info.ModTime().Equal(f.modified) {
		return &fault.Error{Kind: fault.ErrConflict, Code: "file_changed", Position: fault.NoPosition,
			Message: fmt.Sprintf("%s was changed while it was read; run the same command again", f.name)}
	}
	return nil
}

// pair reads the pair of a row.
func (f *pairFile) pair(row *rows.Row) (store.Pair, *fault.Error) {
	if row.Fault != nil {
		return store.Pair{}, row.Fault
	}
	id, text := string(row.UserID), string(row.Offset)
	if err := store.CheckID(id, false, f.maxOffset); err != nil {
		return store.Pair{}, fault.As(err)
	}
	offset, err := strconv.ParseUint(text, 10, 32)
	if err != nil || offset > uint64(f.maxOffset) || strconv.FormatUint(offset, 10) != text {
		return store.Pair{}, fault.Invalid("bad_offset", rows.Offset,
			"the offset %s of the user ID %s is not accepted; give a decimal integer from 0 to %d without sign or leading zero", fault.Show(text), fault.Show(id), f.maxOffset)
	}
	return store.Pair{ID: id, Offset: uint32(offset)}, nil
}

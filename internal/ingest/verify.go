package ingest

import (
	"context"
	"math/rand/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// sampleSize is how many marks a verification looks up.
const sampleSize = 50

// sample is a random choice of the marks of an import's rows, each row as
// likely as any other.
type sample struct {
	marks []sampled
	seen  int64
}

// sampled is one mark: a user in a bitmap.
type sampled struct {
	id     string
	bitmap cohort.Bitmap
}

// offer makes one of a row's marks a candidate.
func (s *sample) offer(id []byte, bitmaps []cohort.Bitmap) {
	s.seen++
	at := rand.Int64N(s.seen)
	if len(s.marks) < sampleSize {
		at = int64(len(s.marks))
		s.marks = append(s.marks, sampled{})
	}
	if at < sampleSize {
		s.marks[at] = sampled{string(id), bitmaps[rand.IntN(len(bitmaps))]}
	}
}

// verify looks the marks up. One that is not in the store is an ErrConflict.
func (s *sample) verify(ctx context.Context, from Store) error {
	ids := make([]string, len(s.marks))
	for i, m := range s.marks {
		ids[i] = m.id
	}
	found, err := from.FindAll(ctx, ids)
	if err != nil {
		return err
	}
	for _, m := range s.marks {
		offset, known := found[m.id]
		if !known {
			return lost("the user %s is not in the store", fault.Show(m.id))
		}
		in, err := from.Marks(ctx, offset, []cohort.Bitmap{m.bitmap})
		if err != nil {
			return err
		}
		if !in[0] {
			return lost("the user %s has no mark of %s in the store", fault.Show(m.id), describe(m.bitmap))
		}
	}
	return nil
}

func lost(format string, args ...any) error {
	e := fault.Invalid("not_verified", "", "the import was written, but the check failed: "+format, args...)
	e.Kind = fault.ErrConflict
	return e
}

// describe names a bitmap as set expressions do.
func describe(b cohort.Bitmap) string {
	if b.Kind == cohort.DayBitmap {
		return b.Metric + "@" + b.Day.String()
	}
	return b.Metric
}

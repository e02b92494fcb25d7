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
// likely as any other: every row draws a number, and the lowest stay.
type sample struct {
	marks []sampled
	// highest is the place of the mark with the highest number.
	highest int
}

// sampled is one mark: a user in a bitmap.
type sampled struct {
	number uint64
	id     string
	bitmap cohort.Bitmap
}

// offer makes one of a row's marks a candidate.
func (s *sample) offer(id []byte, bitmaps []cohort.Bitmap) {
	if number := rand.Uint64(); s.takes(number) {
		s.put(sampled{number, string(id), bitmaps[rand.IntN(len(bitmaps))]})
	}
}

// join offers the marks of another sample.
func (s *sample) join(other *sample) {
	for _, m := range other.marks {
		if s.takes(m.number) {
			s.put(m)
		}
	}
}

func (s *sample) takes(number uint64) bool {
	return len(s.marks) < sampleSize || number < s.marks[s.highest].number
}

// put adds a mark, in place of the one with the highest number when there are
// enough.
func (s *sample) put(m sampled) {
	if len(s.marks) < sampleSize {
		s.marks = append(s.marks, m)
	} else {
		s.marks[s.highest] = m
	}
	for i, other := range s.marks {
		if other.number > s.marks[s.highest].number {
			s.highest = i
		}
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

package doctor

import (
	"context"
	"errors"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// lists looks for lists of users of which a part is gone. A scan leaves them in
// the catalogue, so that they are not taken for shorter ones.
func (e *examination) lists(ctx context.Context) error {
	catalogue, err := e.Store.OwnCatalogue(ctx)
	if err != nil {
		return err
	}
	var lost tally
	for b, segments := range catalogue.All() {
		if b.Kind != cohort.ListBitmap {
			continue
		}
		for _, segment := range segments {
			if e.keys.bitmaps[b][segment] {
				continue
			}
			// It may have been written, or replaced, after the survey: the store knows.
			_, err := e.Store.Fetch(ctx, segment, []cohort.Bitmap{b}, 0, 1, nil)
			if errors.Is(err, fault.ErrBusy) {
				lost.add(b.Metric)
				break
			}
			if err != nil {
				return err
			}
		}
	}
	if lost.n > 0 {
		e.wrong("lists", "%s lost a part, evicted or deleted: %s; upload each again", count(int64(lost.n), "saved list"), lost)
	}
	return nil
}

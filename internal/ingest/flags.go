package ingest

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// Flags puts users into a flag or takes them out, and returns for how many
// that changed something. An ID given twice counts once, and one that nobody
// knows cannot be taken out. A metric that does not exist is an ErrNotFound;
// one that is no flag and a malformed ID are an ErrInvalid, more than
// MaxEvents IDs an ErrTooLarge, and then nothing is written.
func (s *Service) Flags(ctx context.Context, metric string, ids []string, value bool) (changed int64, err error) {
	if err := s.checkFlag(metric); err != nil {
		return 0, err
	}
	if err := s.checkIDs(ids); err != nil || len(ids) == 0 {
		return 0, err
	}
	if value {
		return s.setFlag(ctx, cohort.Flag(metric), ids)
	}
	return s.clearFlag(ctx, cohort.Flag(metric), ids)
}

func (s *Service) checkFlag(name string) error {
	m, ok := s.config.Workspace.Metric(name)
	switch {
	case !ok:
		return fault.NotFound("unknown_metric", "there is no metric %s", fault.Show(name))
	case m.Kind != cohort.KindFlag:
		return fault.Invalid("not_a_flag", "metric", "%s is a %s metric; give a flag", fault.Show(name), m.Kind)
	case m.ReadOnly():
		return fault.Invalid("read_only", "metric", "%s is kept by another program and only read here", name)
	}
	return nil
}

func (s *Service) setFlag(ctx context.Context, flag cohort.Bitmap, ids []string) (int64, error) {
	offsets, err := s.config.Store.Assign(ctx, ids)
	if err != nil {
		return 0, err
	}
	written, err := s.config.Store.Merge(ctx, map[cohort.Bitmap]*roaring.Bitmap{flag: roaring.BitmapOf(offsets...)})
	return written.BitsNew, err
}

func (s *Service) clearFlag(ctx context.Context, flag cohort.Bitmap, ids []string) (int64, error) {
	offsets, err := s.config.Store.FindAll(ctx, ids)
	if err != nil || len(offsets) == 0 {
		return 0, err
	}
	users := roaring.New()
	for _, offset := range offsets {
		users.Add(offset)
	}
	return s.config.Store.Clear(ctx, map[cohort.Bitmap]*roaring.Bitmap{flag: users})
}

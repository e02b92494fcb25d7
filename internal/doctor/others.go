package doctor

import (
	"context"

	"bitboard/internal/cohort"
)

// others says what was found of each metric that another program keeps.
func (e *examination) others(ctx context.Context) error {
	if !e.Workspace.HasOthers() {
		return nil
	}
	catalogue, err := e.Store.Catalogue(ctx)
	if err != nil {
		return err
	}
	for _, m := range e.Workspace.Metrics {
		if m.Source != cohort.ExistingBitmaps {
			continue
		}
		span, hasDays := catalogue.Span(m.Name)
		switch {
		case hasDays:
			days := len(catalogue.Days(m.Name, span))
			e.ok("other programs", "%s has %s, %s to %s", m.Name, count(int64(days), "day"), span.From, span.To)
		case m.Kind == cohort.KindFlag && len(catalogue.SegmentsOf(cohort.Flag(m.Name))) > 0:
			e.ok("other programs", "%s is there", m.Name)
		default:
			e.hint("other programs", "%s has no key; compare its key in the configuration with the names in the store", m.Name)
		}
	}
	return nil
}

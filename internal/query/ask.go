package query

import (
	"context"

	"bitboard/internal/cohort"
)

// Question is a report that counts sets of users.
type Question[T any] interface {
	// Check reports the first thing that is wrong with the question.
	Check(w cohort.Workspace) error
	// Sets returns what is to be counted.
	Sets(c cohort.Calendar) []cohort.Set
	// Rows groups so many Sets.
	Rows(c cohort.Calendar, sets int) []cohort.Row
	// Answer makes the report from the counts of Sets, in their order.
	Answer(c cohort.Calendar, counts []int64) T
}

// Ask answers a question. A wrong question is a *fault.Error of kind ErrInvalid.
func Ask[T any](ctx context.Context, s *Service, q Question[T], o Options) (Answer[T], error) {
	if err := q.Check(s.workspace); err != nil {
		return Answer[T]{}, err
	}
	calendar := s.workspace.Calendar
	return steady(ctx, s, o, func(cat *cohort.Catalogue) (value T, t tally, err error) {
		sets := q.Sets(calendar)
		if t, err = s.count(ctx, cat, sets, q.Rows(calendar, len(sets)), o); err != nil {
			return value, t, err
		}
		return q.Answer(calendar, t.counts), t, nil
	})
}

// Active answers an ActiveQuestion, with the points that are suspect marked.
func (s *Service) Active(ctx context.Context, q cohort.ActiveQuestion, o Options) (Answer[[]cohort.Point], error) {
	if err := q.Check(s.workspace); err != nil {
		return Answer[[]cohort.Point]{}, err
	}
	spans := q.Spans(s.workspace.Calendar)
	if len(spans) == 0 {
		return Answer[[]cohort.Point]{ComputedAt: o.Now, Engine: Bitop}, nil
	}
	return steady(ctx, s, o, func(cat *cohort.Catalogue) ([]cohort.Point, tally, error) {
		return s.active(ctx, cat, q, spans, o)
	})
}

func (s *Service) active(ctx context.Context, cat *cohort.Catalogue, q cohort.ActiveQuestion, spans []cohort.Range, o Options) ([]cohort.Point, tally, error) {
	calendar := s.workspace.Calendar
	sets := q.Sets(calendar)
	days, others := judged(cat, q.Metric, cohort.Range{From: spans[0].From, To: spans[len(spans)-1].To}, q.AsOf)
	rows := append(q.Rows(calendar, len(sets)), days.row())
	t, err := s.count(ctx, cat, append(sets, others...), rows, o)
	if err != nil {
		return nil, t, err
	}
	points := q.Answer(calendar, t.counts)
	suspects := days.suspects(cat, t.counts[len(points):])
	for i := range points {
		points[i].Suspect = cohort.SuspectIn(suspects, spans[i])
	}
	return points, t, nil
}

// judgedDays is the days that say whether those of a range are suspect.
type judgedDays struct {
	metric string
	span   cohort.Range
	asOf   cohort.Day
	days   []cohort.Day
}

// judged returns the days whose counts are needed to judge those of r, and
// what is to be counted for it.
func judged(cat *cohort.Catalogue, metric string, r cohort.Range, asOf cohort.Day) (judgedDays, []cohort.Set) {
	j := judgedDays{metric: metric, span: r, asOf: asOf}
	from := max(cohort.MinDay, r.From-cohort.LookBack)
	j.days = cat.Days(metric, cohort.Range{From: from, To: min(r.To, asOf-1)})
	sets := make([]cohort.Set, len(j.days))
	for i, d := range j.days {
		sets[i] = cohort.ActiveOn(metric, cohort.Range{From: d, To: d}, asOf)
	}
	return j, sets
}

// row is the row of the judged days: the same as when they are asked for.
func (j judgedDays) row() cohort.Row {
	return cohort.ActiveQuestion{Metric: j.metric, Window: 1}.Rows(cohort.Calendar{}, len(j.days))[0]
}

func (j judgedDays) suspects(cat *cohort.Catalogue, counts []int64) map[cohort.Day]cohort.Suspicion {
	byDay := make(map[cohort.Day]int64, len(j.days))
	for i, d := range j.days {
		byDay[d] = counts[i]
	}
	return cohort.Suspects(cat, j.metric, j.span, j.asOf, byDay)
}

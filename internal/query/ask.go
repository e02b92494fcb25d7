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
	// Answer makes the report from the counts of Sets, in their order.
	Answer(c cohort.Calendar, counts []int64) T
}

// Ask answers a question. A wrong question is a *fault.Error of kind ErrInvalid.
func Ask[T any](ctx context.Context, s *Service, q Question[T], o Options) (Answer[T], error) {
	var a Answer[T]
	if err := q.Check(s.workspace); err != nil {
		return a, err
	}
	return steady(ctx, s, func(cat *cohort.Catalogue) (Answer[T], error) {
		counts, engine, err := s.count(ctx, cat, q.Sets(s.workspace.Calendar), o.Engine)
		if err != nil {
			return a, err
		}
		return Answer[T]{q.Answer(s.workspace.Calendar, counts), o.Now, engine}, nil
	})
}

// Active answers an ActiveQuestion, with the points that are suspect marked.
func (s *Service) Active(ctx context.Context, q cohort.ActiveQuestion, o Options) (Answer[[]cohort.Point], error) {
	var a Answer[[]cohort.Point]
	if err := q.Check(s.workspace); err != nil {
		return a, err
	}
	spans := q.Spans(s.workspace.Calendar)
	if len(spans) == 0 {
		return Answer[[]cohort.Point]{nil, o.Now, Bitop}, nil
	}
	return steady(ctx, s, func(cat *cohort.Catalogue) (Answer[[]cohort.Point], error) {
		return s.active(ctx, cat, q, spans, o)
	})
}

func (s *Service) active(ctx context.Context, cat *cohort.Catalogue, q cohort.ActiveQuestion, spans []cohort.Range, o Options) (Answer[[]cohort.Point], error) {
	var a Answer[[]cohort.Point]
	calendar := s.workspace.Calendar
	days, sets := judged(cat, q.Metric, cohort.Range{From: spans[0].From, To: spans[len(spans)-1].To}, q.AsOf)
	counts, engine, err := s.count(ctx, cat, append(q.Sets(calendar), sets...), o.Engine)
	if err != nil {
		return a, err
	}
	points := q.Answer(calendar, counts)
	suspects := days.suspects(cat, counts[len(points):])
	for i := range points {
		points[i].Suspect = cohort.SuspectIn(suspects, spans[i])
	}
	return Answer[[]cohort.Point]{points, o.Now, engine}, nil
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

func (j judgedDays) suspects(cat *cohort.Catalogue, counts []int64) map[cohort.Day]cohort.Suspicion {
	byDay := make(map[cohort.Day]int64, len(j.days))
	for i, d := range j.days {
		byDay[d] = counts[i]
	}
	return cohort.Suspects(cat, j.metric, j.span, j.asOf, byDay)
}

package query

import (
	"context"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// Calendar answers a CalendarQuestion. An unknown user is an ErrNotFound.
func (s *Service) Calendar(ctx context.Context, q cohort.CalendarQuestion, o Options) (Answer[cohort.CalendarAnswer], error) {
	var a Answer[cohort.CalendarAnswer]
	if err := q.Check(s.workspace); err != nil {
		return a, err
	}
	if m, _ := s.workspace.Metric(q.Metric); m.Source == cohort.UserMonths {
		return s.monthsCalendar(ctx, q, o)
	}
	offset, known, err := s.store.Find(ctx, q.UserID)
	if err != nil {
		return a, err
	}
	if !known {
		return a, unknownUser(q.UserID)
	}
	return steady(ctx, s, o, func(cat *cohort.Catalogue) (cohort.CalendarAnswer, tally, error) {
		return s.calendar(ctx, cat, offset, q, o)
	})
}

func (s *Service) calendar(ctx context.Context, cat *cohort.Catalogue, offset uint32, q cohort.CalendarQuestion, o Options) (cohort.CalendarAnswer, tally, error) {
	var value cohort.CalendarAnswer
	days, err := s.daysOf(ctx, cat, offset, q)
	if err != nil {
		return value, tally{}, err
	}
	j, sets := judged(cat, q.Metric, q.Range, q.AsOf)
	t, err := s.count(ctx, cat, sets, []cohort.Row{j.row()}, o)
	if err != nil {
		return value, t, err
	}
	value = calendarOf(days, q)
	stored := cat.Days(q.Metric, cohort.Range{From: cohort.MinDay, To: q.AsOf})
	value.Gaps = cohort.LongestGaps(days, stored, q.AsOf, cohort.LeastGap, cohort.GapsNamed)
	value.Suspect = j.suspects(cat, t.counts)
	if m, ok := s.workspace.Metric(q.Metric); ok {
		value.Since, value.HasSince = m.KeptSince(q.AsOf)
	}
	return value, t, nil
}

// calendarOf is the calendar of a user's days up to as_of, ascending.
func calendarOf(days []cohort.Day, q cohort.CalendarQuestion) cohort.CalendarAnswer {
	a := cohort.CalendarAnswer{Streak: cohort.StreakOf(days, q.AsOf)}
	for _, d := range days {
		if q.Range.Has(d) {
			a.Days = append(a.Days, d)
		}
	}
	return a
}

func unknownUser(id string) error {
	return fault.NotFound("unknown_user", "there is no user %s; IDs are compared byte for byte", fault.Show(id))
}

// daysOf returns one user's days up to as_of, ascending.
func (s *Service) daysOf(ctx context.Context, cat *cohort.Catalogue, offset uint32, q cohort.CalendarQuestion) ([]cohort.Day, error) {
	segment := int(int64(offset) / int64(s.store.SegmentBits())) // an int may be too short for an offset
	var stored []cohort.Bitmap
	for _, d := range cat.Days(q.Metric, cohort.Range{From: cohort.MinDay, To: q.AsOf}) {
		if b := cohort.DayOfMetric(q.Metric, d); cat.Has(b, segment) {
			stored = append(stored, b)
		}
	}
	marks, err := s.store.Marks(ctx, offset, stored)
	if err != nil {
		return nil, err
	}
	var days []cohort.Day
	for i, marked := range marks {
		if marked {
			days = append(days, stored[i].Day)
		}
	}
	return days, nil
}

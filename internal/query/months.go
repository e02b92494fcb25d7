package query

import (
	"context"
	"time"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// firstMonth is the month before which nobody kept bitmaps: it began when Unix
// time did.
var firstMonth = cohort.DayOfDate(1970, time.January, 1)

// monthsCalendar answers for a metric that another program keeps as a bitmap for
// each user and month. Nobody can list the users of a day then, so that no day
// can be judged, and a user of whom there is no month is an ErrNotFound.
func (s *Service) monthsCalendar(ctx context.Context, q cohort.CalendarQuestion, o Options) (Answer[cohort.CalendarAnswer], error) {
	a := Answer[cohort.CalendarAnswer]{ComputedAt: o.Now, Engine: Fold}
	var months []cohort.Day
	for m := firstMonth; m <= q.AsOf; m = s.workspace.Calendar.Add(cohort.Monthly, m, 1) {
		months = append(months, m)
	}
	bits, err := s.store.UserMonths(ctx, q.Metric, q.UserID, months)
	if err != nil {
		return a, err
	}
	var days []cohort.Day
	known := false
	for i, month := range bits {
		known = known || len(month) > 0
		last := s.workspace.Calendar.Period(cohort.Monthly, months[i]).To
		for position := range bitmap.Ones(month) {
			// Bits beyond the month's end mean no day.
			if d := months[i] + cohort.Day(position); d <= min(last, q.AsOf) {
				days = append(days, d)
			}
		}
	}
	if !known {
		return a, unknownUser(q.UserID)
	}
	a.Value = calendarOf(days, q)
	var all []cohort.Day // nobody can tell on which of them data are missing
	if len(days) > 0 {
		for d := days[0]; d <= q.AsOf; d++ {
			all = append(all, d)
		}
	}
	a.Value.Gaps = cohort.LongestGaps(days, all, q.AsOf, cohort.LeastGap, cohort.GapsNamed)
	return a, nil
}

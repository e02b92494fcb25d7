package web

import (
	"cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
	"bitboard/views"
)

// weekUntil holds a day and the same weekday before it.
func (b *overviewBuilder) weekUntil(day cohort.Day) cohort.Range {
	return cohort.Range{From: max(cohort.MinDay, day-weekWindow), To: day}
}

// countFact is the people active in the window that ends on the last day.
func (b *overviewBuilder) countFact(window int) views.CountFact {
	a, q, err := b.active(window, cohort.Range{From: max(cohort.MinDay, b.last-trendDays+1), To: b.last})
	if err != nil {
		return views.CountFact{Error: b.panelError(b.echo, err)}
	}
	points := a.Value
	span := cohort.Range{From: b.last - cohort.Day(window-1), To: b.last}
	last, before := points[len(points)-1], points[max(0, len(points)-1-weekWindow)]
	expr := b.params.filtered(q.Expr(span))
	f := views.CountFact{
		Number: b.params.people(last.Count, expr), From: span.From.String(), To: span.To.String(), Expr: expr,
		Suspect: string(last.Suspect),
	}
	if before.Date >= b.span.From && (window > 1 || before.Suspect != cohort.Missing) {
		f.Before, f.BeforeDay = &before.Count, before.Date.String()
		if window == 1 {
			f.BeforeSuspect = string(before.Suspect)
		}
	}
	for _, pt := range points {
		f.Trend = append(f.Trend, pt.Count)
	}
	return f
}

func (b *overviewBuilder) retention(days cohort.Range) (query.Answer[cohort.Retention], cohort.RetentionQuestion, error) {
	q := cohort.RetentionQuestion{Start: b.metric, Return: b.metric, Range: days, Periods: 1, Membership: cohort.AnyTime, Filter: b.filter, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	return a, q, err
}

// nextDayCell is the column of next-day retention.
var nextDayCell = cohort.Bracket{From: 1, To: 1}

// nextDay is how many came back on the last day.
func (b *overviewBuilder) nextDay() views.RateFact {
	day := b.last - 1
	a, q, err := b.retention(b.weekUntil(day))
	if err != nil {
		return views.RateFact{Error: b.panelError(b.echo, err)}
	}
	suspects, err := b.suspects(b.metric, cohort.Daily, b.weekUntil(b.last))
	if err != nil {
		return views.RateFact{Error: b.panelError(b.echo, err)}
	}
	rate := func(row cohort.CohortRow) (*float64, cohort.Suspicion) {
		suspect := cmp.Or(suspects[row.Date], suspects[row.Date+1])
		return known(share(row.Cells[1].Count, row.Size), suspect), suspect
	}
	rows := a.Value.Rows
	row, before := rows[len(rows)-1], rows[0]
	expr := b.params.filtered(q.CellExpr(b.workspace.Calendar, day, nextDayCell))
	f := views.RateFact{
		Day: day.String(), From: day.String(), To: b.last.String(), Expr: expr,
		Of:   b.people(row.Size, q.MembersExpr(b.workspace.Calendar, day)),
		Kept: b.params.people(row.Cells[1].Count, expr),
	}
	now, suspect := rate(row)
	f.Rate, f.Suspect = now, string(suspect)
	if before.Date >= b.span.From {
		f.Before, _ = rate(before)
		f.BeforeDay = before.Date.String()
	}
	return f
}

// stickiness is the last day's users as a share of its month's.
func (b *overviewBuilder) stickiness() views.RateFact {
	q := cohort.RatioQuestion{Metric: b.metric, Range: b.weekUntil(b.last), Window: monthWindow, Filter: b.filter, AsOf: b.params.today}
	a, err := query.Ask(b.ctx, b.Query, q, b.params.opts)
	if err != nil {
		return views.RateFact{Error: b.panelError(b.echo, err)}
	}
	suspects, err := b.suspects(b.metric, cohort.Daily, q.Range)
	if err != nil {
		return views.RateFact{Error: b.panelError(b.echo, err)}
	}
	points := a.Value
	last, before := points[len(points)-1], points[0]
	month := cohort.Range{From: b.last - monthWindow + 1, To: b.last}
	active := cohort.ActiveQuestion{Metric: b.metric}
	expr := b.params.filtered(active.Expr(cohort.Range{From: b.last, To: b.last}))
	f := views.RateFact{
		Day: b.last.String(), From: month.From.String(), To: month.To.String(), Expr: expr,
		Of: b.people(last.MAU, active.Expr(month)), Kept: b.params.people(last.DAU, expr),
		Rate: known(defined(last.Ratio()), suspects[b.last]), Suspect: string(suspects[b.last]),
	}
	if before.Date >= b.span.From {
		f.Before, f.BeforeDay = known(defined(before.Ratio()), suspects[before.Date]), before.Date.String()
	}
	return f
}

// share is part / whole, nil when the whole is 0.
func share(part, whole int64) *float64 {
	return defined(float64(part)/float64(max(whole, 1)), whole > 0)
}

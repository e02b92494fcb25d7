package web

import (
	"slices"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/views"
)

// ticketMonths is how many months a ticket is told the days of.
const ticketMonths = 3

// usersText is what the page says of a user, or a line for each of several, as
// plain text.
func (s *server) usersText(c echo.Context) error {
	l := s.lookUps(c)
	l.params.needed("id")
	if l.params.err != nil {
		return l.params.err
	}
	page := views.UsersPage{Page: s.page(c, l.params.today), ID: l.params.given("id"), Metric: l.metric}
	status, err := l.search(&page)
	if err != nil {
		return err
	}
	return c.Blob(status, "text/plain; charset=utf-8", []byte(page.AsText()))
}

// ticketMonths is the days of the last months, the earliest first.
func (s *server) ticketMonths(p *params, q cohort.CalendarQuestion) ([]views.TicketMonth, error) {
	calendar := s.workspace.Calendar
	this := calendar.Period(cohort.Monthly, q.AsOf).From
	q.Range = cohort.Range{From: calendar.Add(cohort.Monthly, this, 1-ticketMonths), To: q.AsOf}
	a, err := s.Query.Calendar(p.ctx, q, p.opts)
	if err != nil {
		return nil, err
	}
	var doubtful []cohort.Day
	for d, why := range a.Value.Suspect {
		if slices.Contains(unsure, why) && !slices.Contains(a.Value.Days, d) {
			doubtful = append(doubtful, d)
		}
	}
	slices.Sort(doubtful)
	var months []views.TicketMonth
	for at := q.Range.From; at <= this; at = calendar.Add(cohort.Monthly, at, 1) {
		month := calendar.Period(cohort.Monthly, at)
		months = append(months, views.TicketMonth{First: at.String(), Days: daysIn(a.Value.Days, month), NoData: daysIn(doubtful, month)})
	}
	return months, nil
}

// daysIn is the days of a month as numbers.
func daysIn(days []cohort.Day, month cohort.Range) []int {
	var numbers []int
	for _, d := range days {
		if month.Has(d) {
			numbers = append(numbers, int(d-month.From)+1)
		}
	}
	return numbers
}

package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/query"
)

// defaultPeriods is the highest retention period when none is given.
const defaultPeriods = 7

// columnBody is a period, or a bracket when brackets were asked for.
type columnBody struct {
	Period  *int   `json:"period,omitempty"`
	Bracket string `json:"bracket,omitempty"`
}

type cellBody struct {
	columnBody
	Count    int64 `json:"count"`
	Complete bool  `json:"complete"`
}

type rowBody struct {
	Date  cohort.Day `json:"date"`
	Size  int64      `json:"size"`
	Cells []cellBody `json:"cells"`
}

type averageBody struct {
	columnBody
	Rate    *float64 `json:"rate"`
	Cohorts int      `json:"cohorts"`
}

func (s *server) apiRetention(c echo.Context) error {
	p := s.params(c, "start", "return", "from", "to", "granularity", "periods", "cohorts", "returning", "brackets", "filter")
	q := p.retention()
	a, err := ask(c, p, q)
	if err != nil {
		return err
	}
	if wantsCSV(c) { // a table of a year has 66,000 cells, which are made in one form only
		return writeCSV(c, "", retentionRows(a.Value))
	}
	return c.JSON(http.StatusOK, retentionBody(q, a))
}

func (p *params) retention() cohort.RetentionQuestion {
	q := cohort.RetentionQuestion{
		Start: p.metric("start"), Return: p.text("return"), Range: p.days(), Granularity: p.granularity(),
		Periods: p.number("periods", defaultPeriods, 0, cohort.MaxPeriods), Filter: p.filter(), AsOf: p.today,
	}
	if q.Return == "" {
		q.Return = q.Start
	} else {
		q.Return = p.metric("return")
	}
	var err error
	q.Membership, err = cohort.ParseMembership("cohorts", p.text("cohorts"))
	p.fail(err)
	q.Returning, err = cohort.ParseReturning("returning", p.text("returning"))
	p.fail(err)
	q.Brackets, err = cohort.ParseBrackets("brackets", p.text("brackets"))
	p.fail(err)
	return q
}

func retentionBody(q cohort.RetentionQuestion, a query.Answer[cohort.Retention]) any {
	bracketed := len(q.Brackets) > 0
	rows := make([]rowBody, len(a.Value.Rows))
	for i, r := range a.Value.Rows {
		rows[i] = rowBody{r.Date, r.Size, make([]cellBody, len(r.Cells))}
		for j, cell := range r.Cells {
			rows[i].Cells[j] = cellBody{columnOf(cell.Bracket, bracketed), cell.Count, cell.Complete}
		}
	}
	averages := make([]averageBody, len(a.Value.Averages))
	for i, v := range a.Value.Averages {
		averages[i] = averageBody{columnOf(v.Bracket, bracketed), defined(v.Rate, v.Cohorts > 0), v.Cohorts}
	}
	return struct {
		Cohorts []rowBody     `json:"cohorts"`
		Average []averageBody `json:"average"`
		origin
	}{rows, averages, originOf(a)}
}

func columnOf(b cohort.Bracket, bracketed bool) columnBody {
	if bracketed {
		return columnBody{Bracket: b.String()}
	}
	return columnBody{Period: &b.From}
}

// retentionRows is one row a cell.
func retentionRows(r cohort.Retention) table {
	t := table{header: []string{"date", "size", "period", "count", "rate", "complete"}}
	for _, row := range r.Rows {
		for _, cell := range row.Cells {
			rate := defined(float64(cell.Count)/float64(max(row.Size, 1)), row.Size > 0)
			t.rows = append(t.rows, []string{
				row.Date.String(), intText(row.Size), cell.Bracket.String(), intText(cell.Count), rateText(rate), strconv.FormatBool(cell.Complete),
			})
		}
	}
	return t
}

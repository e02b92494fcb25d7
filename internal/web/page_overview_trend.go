package web

import (
	"context"
	"strconv"

	"github.com/labstack/echo/v4"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/views"
	"bitboard/views/ui"
)

// trendWindows are the days that the numbers of a day of the trend are about.
var trendWindows = []int{1, weekWindow, monthWindow}

// trend is the active users of some days in each of the trend's windows, with
// those of the earlier days that they are compared with.
type trend struct {
	questions []cohort.ActiveQuestion
	points    [][]cohort.Point
	against   comparison
	before    []map[cohort.Day]cohort.Point
}

// trend asks for the active users of the days of a question, whatever its window.
func (s *server) trend(ctx context.Context, p *params, q cohort.ActiveQuestion, k cohort.Comparison) (trend, error) {
	cat, err := s.Query.Catalogue(ctx)
	if err != nil {
		return trend{}, err
	}
	t := trend{against: s.comparison(cat, k, q.Metric, q.Range)}
	for _, q.Window = range trendWindows {
		now, err := s.Query.Active(ctx, q, p.opts)
		if err != nil {
			return trend{}, err
		}
		before := map[cohort.Day]cohort.Point{}
		earlier := q
		if earlier.Range = t.against.earlier(q.Range); earlier.Range.Len() > 0 {
			a, err := s.Query.Active(ctx, earlier, p.opts)
			if err != nil {
				return trend{}, err
			}
			for _, pt := range a.Value {
				before[pt.Date] = pt
			}
		}
		t.questions, t.points, t.before = append(t.questions, q), append(t.points, now.Value), append(t.before, before)
	}
	return t, nil
}

// days are the days of the trend.
func (t trend) days() []cohort.Day {
	days := make([]cohort.Day, len(t.points[0]))
	for i, pt := range t.points[0] {
		days[i] = pt.Date
	}
	return days
}

// earlier is what the point of a day is compared with in a window; ok is false
// when nothing is known of it: before the data begin, and of a missing day.
func (t trend) earlier(window int, d cohort.Day) (pt cohort.Point, ok bool) {
	pt, ok = t.before[window][d-t.against.shift]
	return pt, ok && (trendWindows[window] > 1 || pt.Suspect != cohort.Missing)
}

// suspect is the suspicion about the day that a day is compared with.
func (t trend) suspect(d cohort.Day) cohort.Suspicion {
	return t.before[0][d-t.against.shift].Suspect
}

// trendPeople is a count in a window with the expression of these people.
func (b *overviewBuilder) trendPeople(t trend, window int, pt cohort.Point) ui.Number {
	q := t.questions[window]
	return b.people(pt.Count, q.Expr(cohort.Range{From: pt.Date - cohort.Day(q.Window-1), To: pt.Date}))
}

func (b *overviewBuilder) activePanel(days cohort.Range) views.ActivePanel {
	q := cohort.ActiveQuestion{Metric: b.metric, Range: days, Filter: b.filter, AsOf: b.params.today}
	t, err := b.trend(b.ctx, b.params, q, b.compare)
	if err != nil {
		return views.ActivePanel{Report: b.failed(err)}
	}
	panel := views.ActivePanel{Report: views.Report{
		CSV: address("/overview.csv", "metric", b.metric, "from", days.From.String(), "to", days.To.String(), "filter", b.params.text("filter"),
			compareParam, string(b.compare), "as_of", b.params.asOfParam()),
	}}
	shown := t.days()
	if b.compare != "" && len(shown) > 0 {
		panel.Against = t.against.note(b.text, cohort.Range{From: shown[0], To: shown[len(shown)-1]})
	}
	for i := range shown {
		row := b.activeRow(t, i)
		panel.Marks = mark(panel.Marks, cohort.Suspicion(row.Suspect))
		if row.Earlier != nil {
			panel.Marks = mark(panel.Marks, cohort.Suspicion(row.Earlier.Suspect))
		}
		panel.Rows = append(panel.Rows, row)
	}
	panel.Options = b.drawn(&panel.Report, chart.Lines, chart.Dates(shown), b.trendLines(t, shown)...)
	return panel
}

func (b *overviewBuilder) activeRow(t trend, i int) views.ActiveRow {
	pt := t.points[0][i]
	row := views.ActiveRow{
		Day: pt.Date.String(), Complete: pt.Complete, Suspect: string(pt.Suspect),
		DAU: b.trendPeople(t, 0, pt), WAU: b.trendPeople(t, 1, t.points[1][i]), MAU: b.trendPeople(t, 2, t.points[2][i]),
	}
	if b.compare == "" {
		return row
	}
	number := func(window int) *ui.Number {
		before, ok := t.earlier(window, pt.Date)
		if !ok {
			return nil
		}
		return new(b.trendPeople(t, window, before))
	}
	day := max(cohort.MinDay, pt.Date-t.against.shift)
	row.Earlier = &views.EarlierActive{
		Day: day.String(), BeforeData: day < t.against.first, Suspect: string(t.suspect(pt.Date)), DAU: number(0), WAU: number(1), MAU: number(2),
	}
	return row
}

// trendLines are the windows' lines, then those of the earlier days. One missing
// day makes every window over it suspect: marking the day itself says it all.
func (b *overviewBuilder) trendLines(t trend, days []cohort.Day) []chart.Series {
	lines := []chart.Series{
		chart.Counts(b.text.T("overview.dau"), t.points[0], b.day),
		chart.Counts(b.text.T("overview.wau"), unmarked(t.points[1]), b.day),
		chart.Counts(b.text.T("overview.mau"), unmarked(t.points[2]), b.day),
	}
	if b.compare == "" || len(t.before[0]) == 0 {
		return lines
	}
	name := t.against.name(b.text, cohort.Range{From: days[0], To: days[len(days)-1]})
	for window := range trendWindows {
		line := chart.Series{Name: name, Earlier: t.against.against(days)}
		for _, d := range days {
			pt, ok := t.earlier(window, d)
			point := chart.Point{Value: float64(pt.Count), Known: ok, Complete: true}
			if window == 0 {
				point.Suspect = b.day(t.suspect(d))
			}
			line.Points = append(line.Points, point)
		}
		lines = append(lines, line)
	}
	return lines
}

func unmarked(points []cohort.Point) []cohort.Point {
	plain := make([]cohort.Point, len(points))
	for i, pt := range points {
		pt.Suspect = ""
		plain[i] = pt
	}
	return plain
}

// overviewCSV is the rows of the chart of active users as a file.
func (s *server) overviewCSV(c echo.Context) error {
	p := s.params(c, "metric", "from", "to", "filter", compareParam)
	q := cohort.ActiveQuestion{Metric: p.metric("metric"), Range: p.days(), Filter: p.filter(), AsOf: p.today}
	compare := p.comparison()
	if p.err != nil {
		return p.err
	}
	t, err := s.trend(c.Request().Context(), p, q, compare)
	if err != nil {
		return err
	}
	rows := table{header: []string{"date", "dau", "wau", "mau", "complete", "suspect"}}
	if compare != "" {
		rows.header = append(rows.header, "compare_date", "compare_dau", "compare_wau", "compare_mau", "compare_suspect")
	}
	for i, pt := range t.points[0] {
		row := []string{pt.Date.String(), intText(pt.Count), intText(t.points[1][i].Count), intText(t.points[2][i].Count), strconv.FormatBool(pt.Complete), string(pt.Suspect)}
		if compare != "" {
			row = append(row, t.earlierTexts(pt.Date)...)
		}
		rows.rows = append(rows.rows, row)
	}
	return writeCSV(c, "active.csv", rows)
}

// earlierTexts are the cells of what a day is compared with; those of which
// nothing is known are empty.
func (t trend) earlierTexts(d cohort.Day) []string {
	earlier := max(cohort.MinDay, d-t.against.shift)
	cells := []string{earlier.String()}
	for window := range trendWindows {
		cell := ""
		if pt, ok := t.earlier(window, d); ok {
			cell = intText(pt.Count)
		}
		cells = append(cells, cell)
	}
	if earlier < t.against.first {
		return append(cells, "before_data")
	}
	return append(cells, string(t.suspect(d)))
}

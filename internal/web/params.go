package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/job"
	"bitboard/internal/query"
	"bitboard/views/text"
)

const maxWaitSeconds = 120

// commonParams are accepted by every query.
var commonParams = []string{"as_of", "engine", "refresh", "wait", "format"}

// params reads a query string. The first mistake is kept and every later call
// returns zero values, so that a handler checks once, at the end.
type params struct {
	ctx     context.Context
	printer *text.Printer // of a page; nil for the API
	values  url.Values
	server  *server
	today   cohort.Day // as_of: what relative dates are relative to
	opts    query.Options
	// narrowed is the filter in its normal form; empty when there is none.
	narrowed string
	err      error
}

// params reads the parameters that every query takes and refuses those that
// are neither among them nor among the accepted ones, or are given twice.
func (s *server) params(c echo.Context, accepted ...string) *params {
	p := &params{ctx: c.Request().Context(), values: c.QueryParams(), server: s, today: s.today()}
	if _, err := url.ParseQuery(c.Request().URL.RawQuery); err != nil {
		p.fail(fault.Invalid("bad_query", "", "the query %s is not escaped rightly", fault.Show(c.Request().URL.RawQuery)))
	}
	names := make([]string, 0, len(p.values))
	for name := range p.values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case !slices.Contains(accepted, name) && !slices.Contains(commonParams, name):
			p.fail(fault.Invalid("unknown_parameter", name, "there is no parameter %s here; accepted are %s",
				fault.Show(name), strings.Join(slices.Concat(accepted, commonParams), ", ")))
		case len(p.values[name]) > 1:
			p.fail(fault.Invalid("repeated_parameter", name, "%s is given %d times; give it once", name, len(p.values[name])))
		}
	}
	p.today = p.dayOr("as_of", p.today)
	engine, err := query.ParseEngine("engine", cmp.Or(p.text("engine"), string(s.Engine)))
	p.fail(err)
	p.opts = s.options(c, engine)
	p.opts.Refresh = p.choice("refresh", "0", "1") == "1"
	p.choice("format", "json", "csv")
	p.number("wait", defaultWait, 0, maxWaitSeconds)
	return p
}

// headerCells says of an answer how many counts it computed and how many were
// kept from before.
const headerCells = "X-Bitboard-Cells"

// options is how a request asks its questions now, by an engine.
func (s *server) options(c echo.Context, engine query.Engine) query.Options {
	ledger := &query.Ledger{}
	c.Response().Before(func() {
		if computed, cached := ledger.Cells(); computed+cached > 0 {
			c.Response().Header().Set(headerCells, fmt.Sprintf("computed=%d cached=%d", computed, cached))
		}
	})
	o := query.Options{Engine: engine, Now: s.Now(), Ledger: ledger}
	if run := job.RunOf(c.Request().Context()); run != nil {
		o.Job = run
	}
	return o
}

// computedAt is when the oldest of a page's counts was computed, or now when it
// has none.
func (p *params) computedAt() string {
	at, ok := p.opts.Ledger.Oldest()
	if !ok {
		at = p.opts.Now
	}
	return at.In(p.server.workspace.Zone).Format(time.RFC3339)
}

// fail keeps the first error.
func (p *params) fail(err error) {
	if p.err == nil && err != nil {
		p.err = err
	}
}

func (p *params) text(name string) string { return p.values.Get(name) }

// needed returns a parameter that must be there.
func (p *params) needed(name string) string {
	v := p.text(name)
	if v == "" {
		p.fail(fault.Invalid("missing", name, "the parameter %s is needed", name))
	}
	return v
}

func (p *params) choice(name string, accepted ...string) string {
	v := p.text(name)
	if v == "" {
		return accepted[0]
	}
	if !slices.Contains(accepted, v) {
		p.fail(fault.Invalid("bad_value", name, "%s is not a value of %s; give one of %s", fault.Show(v), name, strings.Join(accepted, ", ")).
			Say("wrong.choice", "given", fault.Show(v), "names", strings.Join(accepted, ", ")))
	}
	return v
}

// number reads a whole number from low to high.
func (p *params) number(name string, otherwise, low, high int) int {
	v := p.text(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		p.fail(fault.Invalid("bad_value", name, "%s is not a value of %s; a whole number from %d to %d is accepted", fault.Show(v), name, low, high).
			Say("wrong.number", "given", fault.Show(v), "from", strconv.Itoa(low), "to", strconv.Itoa(high)))
		return otherwise
	}
	return n
}

func (p *params) day(name string) cohort.Day {
	if p.needed(name) == "" {
		return p.today
	}
	return p.dayOr(name, p.today)
}

func (p *params) dayOr(name string, otherwise cohort.Day) cohort.Day {
	v := p.text(name)
	if v == "" {
		return otherwise
	}
	d, err := cohort.ParseRelativeDay(name, v, p.today)
	p.fail(err)
	return d
}

func (p *params) days() cohort.Range {
	return cohort.Range{From: p.day("from"), To: p.day("to")}
}

func (p *params) granularity() cohort.Granularity {
	g, err := cohort.ParseGranularity("granularity", p.text("granularity"))
	p.fail(err)
	return g
}

// expr reads a set expression from a parameter. The names of the metrics and
// the limits are checked here too.
func (p *params) expr(name string) query.People {
	given := p.needed(name)
	if p.err != nil {
		return query.People{}
	}
	people, err := p.server.Query.Parse(p.ctx, given, p.today)
	if f := fault.As(err); f != nil && f.Field == cohort.ExprField {
		f.Field = name
	}
	p.fail(err)
	return people
}

// filter is expr for a parameter that may be absent.
func (p *params) filter() cohort.Set {
	if p.text("filter") == "" {
		return nil
	}
	people := p.expr("filter")
	if p.err == nil {
		p.narrowed = people.String()
	}
	return people.Set
}

// filtered writes those of an expression's members whom the filter keeps. An
// expression that could not be written stays so.
func (p *params) filtered(expr string) string {
	if p.narrowed == "" || expr == "" {
		return expr
	}
	return "(" + expr + ") & (" + p.narrowed + ")"
}

// pathParam returns a path parameter. Echo routes by the raw path when there
// is one and hands its parts over still escaped.
func pathParam(c echo.Context, name string) (string, error) {
	v := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return v, nil
	}
	v, err := url.PathUnescape(v)
	if err != nil {
		return "", fault.Invalid("bad_path", name, "the path part %s is not escaped rightly", fault.Show(c.Param(name)))
	}
	return v, nil
}

// metric reads the name of a daily metric.
func (p *params) metric(name string) string {
	m, err := p.server.workspace.DailyMetric(name, p.text(name))
	p.fail(err)
	return m.Name
}

// calendarMetric is metric for calendars of one user, which more metrics have.
func (p *params) calendarMetric(name string) string {
	m, err := p.server.workspace.CalendarMetric(name, p.text(name))
	p.fail(err)
	return m.Name
}

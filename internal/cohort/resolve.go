package cohort

import (
	"slices"
	"strconv"

	"bitboard/internal/fault"
)

// Scope is what the names in an expression refer to.
type Scope struct {
	Workspace Workspace
	AsOf      Day
	Saved     SavedCohorts
}

// Resolve turns an expression into the set of users that it names at
// scope.AsOf. An unknown name, a reversed range, a number out of range and a
// cohort that refers to itself are errors with a position.
func (e Expr) Resolve(scope Scope) (Set, error) { return e.resolve(&resolver{Scope: scope}) }

// resolveAs resolves the expression of a saved cohort of that name.
func (e Expr) resolveAs(name string, scope Scope) (Set, error) {
	return e.resolve(&resolver{Scope: scope, trail: []string{name}})
}

func (e Expr) resolve(r *resolver) (Set, error) {
	r.length += e.length
	return e.root.resolve(r)
}

type resolver struct {
	Scope
	days   int
	length int
	depth  int
	trail  []string // the saved cohorts being resolved, outermost first
}

func (n binaryNode) resolve(r *resolver) (Set, error) {
	sets := make([]Set, len(n.of))
	for i, c := range n.of {
		var err error
		if sets[i], err = c.resolve(r); err != nil {
			return nil, err
		}
	}
	switch n.level {
	case unionLevel:
		return Union{sets}, nil
	case andLevel:
		return Intersection{sets}, nil
	}
	without := sets[1]
	if len(sets) > 2 {
		without = Union{sets[1:]} // a - b - c = a - (b | c)
	}
	return Difference{sets[0], without}, nil
}

func (n notNode) resolve(r *resolver) (Set, error) {
	if !r.Workspace.KnowsAllUsers() {
		return nil, fault.InvalidAt("no_known_users", ExprField, n.pos,
			"! asks for all other users, and nobody knows who they are while other programs keep metrics; name the key of all users as known in the configuration, or write a - b")
	}
	of, err := n.of.resolve(r)
	if err != nil {
		return nil, err
	}
	return Complement(of), nil
}

func (n flagNode) resolve(r *resolver) (Set, error) {
	m, err := r.metric(n.name, n.pos)
	if err != nil {
		return nil, err
	}
	if m.HasDays() {
		return nil, fault.InvalidAt("dates_needed", ExprField, n.pos+len(n.name),
			"%s is a %s metric: expected @ and a date after it, such as %s@yesterday", n.name, m.Kind, n.name).Say("wrong.dates_needed", "metric", n.name)
	}
	return Stored{Flag(n.name)}, nil
}

func (r *resolver) metric(name string, pos int) (Metric, error) {
	m, ok := r.Workspace.Metric(name)
	if !ok {
		return m, fault.InvalidAt("unknown_metric", ExprField, pos, "there is no metric %s; %s", fault.Show(name),
			r.Workspace.namesOf("the metrics are", func(Metric) bool { return true })).
			Say("wrong.metric", "given", fault.Show(name), "names", r.Workspace.metricNames())
	}
	return m, nil
}

func (n daysNode) resolve(r *resolver) (Set, error) {
	m, err := r.metric(n.name, n.pos)
	if err != nil {
		return nil, err
	}
	if !m.HasDays() {
		return nil, fault.InvalidAt("no_dates", ExprField, n.pos, "%s is a flag and has no days; a daily metric is expected before @", n.name).Say("wrong.no_dates", "metric", n.name)
	}
	if m.Source == UserMonths {
		return nil, fault.InvalidAt("calendars_only", ExprField, n.pos, "%s is kept by user and month and serves user calendars only; another daily metric is expected before @", n.name)
	}
	days, err := r.rangeOf(n.dates)
	if err != nil {
		return nil, err
	}
	switch n.call {
	case "all":
		return Intersection{eachDay(n.name, days, r.AsOf)}, nil
	case "first":
		return FirstOn(n.name, days, r.AsOf), nil
	case "atleast", "exactly":
		return n.counted(r, days)
	}
	return ActiveOn(n.name, days, r.AsOf), nil
}

func (n daysNode) counted(r *resolver, days Range) (Set, error) {
	if n.k < 1 || n.k > days.Len() {
		return nil, fault.InvalidAt("bad_number", ExprField, n.kPos, "%d is out of range; 1 to %d, the number of dates, is accepted", n.k, days.Len()).
			Say("wrong.count", "given", strconv.Itoa(n.k), "most", strconv.Itoa(days.Len()))
	}
	of := eachDay(n.name, days, r.AsOf)
	if n.call == "exactly" {
		return Exactly(n.k, of), nil
	}
	return AtLeast{n.k, of}, nil
}

func (r *resolver) rangeOf(d dateRange) (Range, error) {
	from, err := r.day(d.from, d.pos)
	if err != nil {
		return Range{}, err
	}
	to, err := r.day(d.to, d.pos)
	if err != nil {
		return Range{}, err
	}
	if to < from {
		return Range{}, fault.InvalidAt("reversed_range", ExprField, d.pos, "the range %s..%s ends before it begins", from, to).Say("wrong.reversed", "from", from.String(), "to", to.String())
	}
	days := Range{from, to}
	if r.days += days.Len(); r.days > MaxExprDays {
		return Range{}, fault.InvalidAt("too_many_days", ExprField, d.pos, "the ranges hold more than %d days together", MaxExprDays).Say("wrong.too_many_days", "most", strconv.Itoa(MaxExprDays))
	}
	return days, nil
}

func (r *resolver) day(d date, pos int) (Day, error) {
	if !d.relative {
		return d.day, nil
	}
	if d.ago > int(r.AsOf-MinDay) {
		return 0, fault.InvalidAt("bad_date", ExprField, pos, "%s is before the year 1", fault.Show(d.text)).Say("wrong.early", "given", fault.Show(d.text))
	}
	return r.AsOf - Day(d.ago), nil
}

const unknownCohort = "unknown_cohort"

func (n savedNode) resolve(r *resolver) (Set, error) {
	if slices.Contains(r.trail, n.name) {
		return nil, fault.InvalidAt("cohort_cycle", ExprField, n.pos, "the cohort %s refers to itself", fault.Show(n.name)).Say("wrong.cycle", "given", n.name)
	}
	saved, ok := r.Saved[n.name]
	if !ok {
		return nil, fault.InvalidAt(unknownCohort, ExprField, n.pos, "there is no saved cohort %s", fault.Show(n.name)).Say("wrong.cohort", "given", fault.Show(n.name))
	}
	s, err := n.within(r, saved)
	if inner := fault.As(err); inner != nil {
		// The position is one in the saved text; the reader sees this one.
		f := fault.InvalidAt(inner.Code, ExprField, n.pos, "in the cohort %s: %s", n.name, inner.Message).Say("wrong.within", "given", n.name)
		f.Inner = inner
		return nil, f
	}
	return s, err
}

// within resolves the saved expression as if it stood here in parentheses.
func (n savedNode) within(r *resolver, saved Saved) (Set, error) {
	if saved.IsList() {
		return Stored{ListOf(saved.Name, saved.List)}, nil
	}
	e, err := ParseExpr(saved.Expr)
	if err != nil {
		return nil, err
	}
	around := r.depth
	if r.depth += n.depth + 1; r.depth+e.depth > MaxExprDepth {
		return nil, fault.InvalidAt("too_deep", ExprField, n.pos, "more than %d levels of nesting, with those of the saved cohorts", MaxExprDepth).
			Say("wrong.too_deep", "most", strconv.Itoa(MaxExprDepth))
	}
	if r.length+e.length > MaxExprLength {
		return nil, fault.InvalidAt("too_long", ExprField, n.pos,
			"the expression has more than %d characters, with those of the saved cohorts", MaxExprLength).Say("wrong.too_long", "most", strconv.Itoa(MaxExprLength))
	}
	r.trail = append(r.trail, n.name)
	defer func() { r.trail, r.depth = r.trail[:len(r.trail)-1], around }()
	return e.resolve(r)
}

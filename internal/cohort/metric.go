package cohort

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"bitboard/internal/fault"
)

// Kind is what a metric keeps.
type Kind uint8

// The kinds of metric.
const (
	// KindDaily keeps who did it on a day: one bitmap for each day.
	KindDaily Kind = iota
	// KindFlag keeps who is in a standing set: one bitmap.
	KindFlag
	// KindPresence keeps who is there now, and as a daily metric who was there on a day.
	KindPresence
)

// KindNames are the kinds as configuration and API write them, indexed by Kind.
var KindNames = []string{"daily", "flag", "presence"}

// String returns daily, flag or presence.
func (k Kind) String() string { return KindNames[k] }

// Source says in what form a metric's bitmaps are kept, and by whom.
type Source uint8

// The sources.
const (
	// OwnBitmaps are those that are made of the marks taken in here.
	OwnBitmaps Source = iota
	// ExistingBitmaps are kept by another program, one for each day or flag, and
	// only read here.
	ExistingBitmaps
	// UserMonths are kept by another program, one for each user and month: they
	// tell a user's days, but not a day's users.
	UserMonths
)

// Metric is one thing that is measured.
type Metric struct {
	Name  string
	Kind  Kind
	Title string
	// Keep is how many days of a daily metric are kept; 0 keeps all.
	Keep int
	// Source is OwnBitmaps unless another program keeps the metric.
	Source Source
}

// IsDaily reports whether it can be told who has the metric on a day.
func (m Metric) IsDaily() bool { return m.Kind == KindDaily && m.Source != UserMonths }

// HasDays reports whether the metric has a bitmap for each day.
func (m Metric) HasDays() bool { return m.Kind != KindFlag }

// ReadOnly reports whether no marks can be taken in.
func (m Metric) ReadOnly() bool { return m.Source != OwnBitmaps }

var (
	namePattern   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	reservedNames = []string{"all", "atleast", "exactly", "first", "cohort", "today", "yesterday"}
)

// ValidName reports whether s may name a metric or a saved cohort.
func ValidName(s string) bool {
	return namePattern.MatchString(s) && !slices.Contains(reservedNames, s)
}

// Workspace is what the meaning of a question depends on besides the data.
type Workspace struct {
	Zone     *time.Location
	Calendar Calendar
	Metrics  []Metric
	// KnownKey says that another program keeps a bitmap of all users.
	KnownKey bool
}

// HasOthers reports whether another program keeps any of the bitmaps.
func (w Workspace) HasOthers() bool {
	return w.KnownKey || slices.ContainsFunc(w.Metrics, Metric.ReadOnly)
}

// KnowsAllUsers reports whether it can be told who is not in a set: not when
// another program keeps metrics and does not say who its users are.
func (w Workspace) KnowsAllUsers() bool {
	return w.KnownKey || !slices.ContainsFunc(w.Metrics, Metric.ReadOnly)
}

// Metric returns the metric of a name.
func (w Workspace) Metric(name string) (Metric, bool) {
	for _, m := range w.Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// DailyMetric returns the daily metric that a parameter names, or an error
// about that field, also when it cannot tell the users of a day.
func (w Workspace) DailyMetric(field, name string) (Metric, error) {
	m, err := w.metricOf(field, name, func(m Metric) bool { return m.Kind == KindDaily })
	if err == nil && m.Source == UserMonths {
		return m, fault.Invalid("calendars_only", field, "%s is kept by user and month, which tells one user's days but not the users of a day: it serves user calendars only; %s",
			name, w.namesOf("of the daily metrics give", Metric.IsDaily)).
			Say("wrong.calendars_only", "given", name, "names", w.names(Metric.IsDaily))
	}
	return m, err
}

// PresenceMetric returns the metric of kind presence that a parameter names, or
// an error about that field.
func (w Workspace) PresenceMetric(field, name string) (Metric, error) {
	m, ok := w.Metric(name)
	if ok && m.Kind == KindPresence {
		return m, nil
	}
	isPresence := func(m Metric) bool { return m.Kind == KindPresence }
	if !ok {
		return Metric{}, fault.Invalid("unknown_metric", field, "there is no metric %s; %s", fault.Show(name), w.namesOf("the metrics of kind presence are", isPresence))
	}
	return Metric{}, fault.Invalid("not_a_presence", field, "%s is a %s metric; %s", fault.Show(name), m.Kind, w.namesOf("of kind presence there is", isPresence))
}

// CalendarMetric returns the metric with days that a parameter names, in whatever
// form they are kept, or an error about that field.
func (w Workspace) CalendarMetric(field, name string) (Metric, error) {
	return w.metricOf(field, name, Metric.HasDays)
}

func (w Workspace) metricOf(field, name string, fits func(Metric) bool) (Metric, error) {
	m, ok := w.Metric(name)
	switch {
	case name == "":
		return m, fault.Invalid("missing", field, "%s is needed; %s", field, w.namesOf("the daily metrics are", fits)).Say("wrong.no_metric", "names", w.names(fits))
	case !ok:
		return m, fault.Invalid("unknown_metric", field, "there is no metric %s; %s", fault.Show(name), w.namesOf("the daily metrics are", fits)).
			Say("wrong.metric", "given", fault.Show(name), "names", w.names(fits))
	case !fits(m):
		return m, fault.Invalid("wrong_kind", field, "%s is a %s metric; %s", name, m.Kind, w.namesOf("the daily metrics are", fits)).
			Say("wrong.not_daily", "given", name, "names", w.names(fits))
	}
	return m, nil
}

// names lists the metrics that fit.
func (w Workspace) names(fits func(Metric) bool) string {
	var names []string
	for _, m := range w.Metrics {
		if fits(m) {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// metricNames lists all metrics.
func (w Workspace) metricNames() string {
	names := make([]string, len(w.Metrics))
	for i, m := range w.Metrics {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// namesOf lists the metrics that fit for a message.
func (w Workspace) namesOf(lead string, fits func(Metric) bool) string {
	var names []string
	for _, m := range w.Metrics {
		if fits(m) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return "none is configured"
	}
	return lead + " " + oneOf(names)
}

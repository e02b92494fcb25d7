package cohort

import (
	"regexp"
	"slices"
	"time"
)

// Kind is what a metric keeps.
type Kind uint8

// The kinds of metric.
const (
	// DailyMetric keeps who did it on a day: one bitmap for each day.
	DailyMetric Kind = iota
	// FlagMetric keeps who is in a standing set: one bitmap.
	FlagMetric
	// PresenceMetric keeps who is there now, and as a daily metric who was there on a day.
	PresenceMetric
)

// KindNames are the kinds as configuration and API write them, indexed by Kind.
var KindNames = []string{"daily", "flag", "presence"}

// String returns daily, flag or presence.
func (k Kind) String() string { return KindNames[k] }

// Metric is one thing that is measured.
type Metric struct {
	Name  string
	Kind  Kind
	Title string
	// Keep is how many days of a daily metric are kept; 0 keeps all.
	Keep int
}

// HasDays reports whether the metric has a bitmap for each day.
func (m Metric) HasDays() bool { return m.Kind != FlagMetric }

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

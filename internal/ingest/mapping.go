package ingest

import (
	"maps"
	"slices"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// anyOther is the name under which a mapping says what all other events mark.
const anyOther = "*"

// mapping says which metrics an event marks. It does not change.
type mapping struct {
	byEvent map[string]*rule
	other   *rule // nil when other events are refused
}

// rule is what one or more events mark.
type rule struct{ metrics []cohort.Metric }

// newMapping makes a mapping of the events that are named, each with its
// metrics. Where two layers name an event the first of them holds. A metric
// that does not exist is an ErrInvalid.
func newMapping(metrics []cohort.Metric, layers ...map[string][]string) (*mapping, error) {
	byName := map[string]cohort.Metric{}
	m := &mapping{byEvent: map[string]*rule{}}
	for _, metric := range metrics {
		byName[metric.Name] = metric
		if metric.ReadOnly() {
			continue
		}
		m.byEvent[metric.Name] = &rule{[]cohort.Metric{metric}}
	}
	for _, layer := range slices.Backward(layers) {
		for _, event := range slices.Sorted(maps.Keys(layer)) {
			r, err := newRule(byName, event, layer[event])
			if err != nil {
				return nil, err
			}
			m.byEvent[event] = r
		}
	}
	m.other = m.byEvent[anyOther]
	return m, nil
}

func newRule(byName map[string]cohort.Metric, event string, names []string) (*rule, error) {
	if event == "" || len(names) == 0 {
		return nil, fault.Invalid("bad_mapping", "event", "the event %s marks nothing; give NAME=METRIC", fault.Show(event))
	}
	r := &rule{}
	for _, name := range names {
		metric, ok := byName[name]
		if !ok {
			return nil, fault.Invalid("unknown_metric", "event", "the event %s marks %s, which is not a metric; give one of %s",
				fault.Show(event), fault.Show(name), fault.Show(joinNames(byName)))
		}
		if metric.ReadOnly() {
			return nil, fault.Invalid("read_only", "event", "the event %s marks %s, which another program keeps and is only read here", fault.Show(event), name)
		}
		r.metrics = append(r.metrics, metric)
	}
	return r, nil
}

// find returns what an event marks, nil for one that is refused.
func (m *mapping) find(event []byte) *rule {
	if r := m.byEvent[string(event)]; r != nil {
		return r
	}
	return m.other
}

// bitmaps are those that the rule marks on a day, without the days that are
// older than their metric keeps, seen from today.
func (r *rule) bitmaps(day, today cohort.Day) []cohort.Bitmap {
	var all []cohort.Bitmap
	for _, m := range r.metrics {
		switch {
		case !m.HasDays():
			all = append(all, cohort.Flag(m.Name))
		case !tooOld(m, day, today):
			all = append(all, cohort.DayOfMetric(m.Name, day))
		}
	}
	return all
}

// tooOld reports whether what is kept of a metric begins after a day.
func tooOld(m cohort.Metric, day, today cohort.Day) bool {
	return m.Keep > 0 && day < today-cohort.Day(m.Keep)
}

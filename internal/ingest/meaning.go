package ingest

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
)

// Reject is a row that was not taken, and why.
type Reject struct {
	// Line is the physical line on which the row starts, or the number of the
	// item in an array; both count from 1.
	Line int64 `json:"line"`
	// Code is a stable snake_case name, e.g. unknown_event.
	Code string `json:"code"`
	// Message names the value that was given and what would be accepted.
	Message string `json:"message"`
}

func rejected(line int64, f *fault.Error) Reject {
	return Reject{Line: line, Code: f.Code, Message: f.Message}
}

// group is the bitmaps that rows mark, and the users for whom rows did so.
type group struct {
	groupKey
	bitmaps []cohort.Bitmap
	offsets []uint32
}

// groupKey tells groups apart.
type groupKey struct {
	rule *rule
	day  cohort.Day
}

// interpreter says what rows mean. It is not safe for concurrent use.
type interpreter struct {
	mapping *mapping
	days    *days
	today   cohort.Day
	groups  map[groupKey]*group
	recent  recent
}

// recent is what was found lately, for the next row is often much the same.
type recent struct {
	event  []byte
	rule   *rule
	groups [64]*group // by the last bits of their days
}

func newInterpreter(m *mapping, zone *time.Location, today cohort.Day) *interpreter {
	return &interpreter{mapping: m, days: newDays(zone), today: today, groups: map[groupKey]*group{}}
}

// group returns what a row marks, whoever its user is, or what is wrong.
func (in *interpreter) group(row *rows.Row) (*group, *fault.Error) {
	if row.Fault != nil {
		return nil, row.Fault
	}
	r, err := in.rule(row.Event)
	if err != nil {
		return nil, err
	}
	day, err := in.day(row)
	if err != nil {
		return nil, err
	}
	key := groupKey{r, day}
	lately := &in.recent.groups[uint64(day)%uint64(len(in.recent.groups))]
	if *lately != nil && (*lately).groupKey == key {
		return *lately, nil
	}
	g := in.groups[key]
	if g == nil {
		if g, err = in.newGroup(key); err != nil {
			return nil, err
		}
	}
	*lately = g
	return g, nil
}

// rule returns what an event marks.
func (in *interpreter) rule(event []byte) (*rule, *fault.Error) {
	if in.recent.rule != nil && bytes.Equal(event, in.recent.event) {
		return in.recent.rule, nil
	}
	if len(event) == 0 {
		return nil, fault.Invalid("missing_event", rows.Event, "the event is empty")
	}
	r := in.mapping.find(event)
	if r == nil {
		return nil, fault.Invalid("unknown_event", rows.Event, "no metric is marked by the event %s; name it in the configuration's events, or for one import with --event", fault.Show(string(event)))
	}
	in.recent.event, in.recent.rule = append(in.recent.event[:0], event...), r
	return r, nil
}

// newGroup remembers what a rule marks on a day.
func (in *interpreter) newGroup(key groupKey) (*group, *fault.Error) {
	g := &group{groupKey: key, bitmaps: key.rule.bitmaps(key.day, in.today)}
	if len(g.bitmaps) == 0 {
		longest := slices.MaxFunc(key.rule.metrics, func(a, b cohort.Metric) int { return a.Keep - b.Keep })
		return nil, fault.Invalid("too_old", rows.Day, "%s is past what %s keeps; give a day from %s on", key.day, longest.Name, in.today-cohort.Day(longest.Keep))
	}
	in.groups[key] = g
	return g, nil
}

// forget forgets the groups.
func (in *interpreter) forget() {
	clear(in.groups)
	in.recent = recent{}
}

// day returns the day of a row: its day, or else that of its timestamp.
func (in *interpreter) day(row *rows.Row) (cohort.Day, *fault.Error) {
	switch {
	case len(row.Day) > 0:
		if d, ok := parseDate(row.Day); ok && inCalendar(d) {
			return d, nil
		}
		return 0, fault.Invalid("bad_day", rows.Day, "%s is not a date that exists; give YYYY-MM-DD", fault.Show(string(row.Day)))
	case len(row.Timestamp) > 0:
		if unix, ok := parseTimestamp(row.Timestamp); ok {
			if d := in.days.of(unix); inCalendar(d) {
				return d, nil
			}
		}
		return 0, fault.Invalid("bad_timestamp", rows.Timestamp, "%s is not an instant of RFC 3339; give e.g. 2026-03-01T10:00:00Z", fault.Show(string(row.Timestamp)))
	}
	return 0, fault.Invalid("missing_day", rows.Day, "neither timestamp nor day is given")
}

// inCalendar reports whether a day can be written as YYYY-MM-DD.
func inCalendar(d cohort.Day) bool { return cohort.MinDay <= d && d <= cohort.MaxDay }

func joinNames(byName map[string]cohort.Metric) string {
	return strings.Join(slices.Sorted(maps.Keys(byName)), ", ")
}

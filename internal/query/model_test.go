package query_test

import (
	"maps"
	"slices"

	"bitboard/internal/cohort"
)

// model is the brute-force truth: Go maps, a user at a time.
type model struct {
	days  map[string]map[cohort.Day]map[uint32]bool // metric, day, offset
	flags map[string]map[uint32]bool
	known map[uint32]bool
}

func newModel() *model {
	return &model{map[string]map[cohort.Day]map[uint32]bool{}, map[string]map[uint32]bool{}, map[uint32]bool{}}
}

func (m *model) mark(b cohort.Bitmap, user uint32) {
	m.known[user] = true
	if b.Kind == cohort.FlagBitmap {
		if m.flags[b.Metric] == nil {
			m.flags[b.Metric] = map[uint32]bool{}
		}
		m.flags[b.Metric][user] = true
		return
	}
	if m.days[b.Metric] == nil {
		m.days[b.Metric] = map[cohort.Day]map[uint32]bool{}
	}
	if m.days[b.Metric][b.Day] == nil {
		m.days[b.Metric][b.Day] = map[uint32]bool{}
	}
	m.days[b.Metric][b.Day][user] = true
}

// has reports whether a user is in a set, by the definitions alone.
func (m *model) has(s cohort.Set, user uint32) bool {
	in := func(of cohort.Set) bool { return m.has(of, user) }
	switch s := s.(type) {
	case cohort.Stored:
		if s.Bitmap.Kind == cohort.KnownBitmap {
			return m.known[user]
		}
		return m.flags[s.Bitmap.Metric][user]
	case cohort.OnAny:
		return m.on(s.Metric, s.Days, user)
	case cohort.Union:
		return slices.ContainsFunc(s.Of, in)
	case cohort.Intersection:
		return !slices.ContainsFunc(s.Of, func(of cohort.Set) bool { return !in(of) })
	case cohort.Difference:
		return in(s.From) && !in(s.Without)
	case cohort.AtLeast:
		n := 0
		for _, of := range s.Of {
			if in(of) {
				n++
			}
		}
		return n >= s.K
	}
	return false
}

func (m *model) on(metric string, r cohort.Range, user uint32) bool {
	for d, users := range m.days[metric] {
		if r.Has(d) && users[user] {
			return true
		}
	}
	return false
}

// members returns the offsets of a set, ascending.
func (m *model) members(s cohort.Set) []uint32 {
	var users []uint32
	for _, u := range slices.Sorted(maps.Keys(m.known)) {
		if m.has(s, u) {
			users = append(users, u)
		}
	}
	return users
}

// userDays returns a user's days of a metric, ascending.
func (m *model) userDays(metric string, user uint32) []cohort.Day {
	var days []cohort.Day
	for d, users := range m.days[metric] {
		if users[user] {
			days = append(days, d)
		}
	}
	slices.Sort(days)
	return days
}

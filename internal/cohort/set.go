package cohort

// Set is a set of users, written as an expression over stored bitmaps. It is
// what a question asks to be counted or listed; internal/query plans it.
type Set interface{ isSet() }

// Nobody is the empty set.
type Nobody struct{}

// Stored is the users of one stored bitmap: a flag, or the known users.
type Stored struct{ Bitmap Bitmap }

// OnAny is the users who have a metric on at least one day of a range.
type OnAny struct {
	Metric string
	Days   Range
}

// Union is the users in at least one of the sets.
type Union struct{ Of []Set }

// Intersection is the users in every one of the sets; there is at least one.
type Intersection struct{ Of []Set }

// Difference is the users in From who are not in Without.
type Difference struct{ From, Without Set }

// AtLeast is the users in K or more of the sets.
type AtLeast struct {
	K  int
	Of []Set
}

func (Nobody) isSet()       {}
func (Stored) isSet()       {}
func (OnAny) isSet()        {}
func (Union) isSet()        {}
func (Intersection) isSet() {}
func (Difference) isSet()   {}
func (AtLeast) isSet()      {}

// KnownUsers is every user ever written: the universe of a complement.
func KnownUsers() Set { return Stored{Known()} }

// Complement is the known users who are not in a.
func Complement(a Set) Set { return Difference{KnownUsers(), a} }

// Both is the users in a and in b. A nil b asks for no condition.
func Both(a, b Set) Set {
	if b == nil {
		return a
	}
	return Intersection{[]Set{a, b}}
}

// ActiveOn is the users with a metric on at least one day of r not after asOf.
func ActiveOn(metric string, r Range, asOf Day) Set {
	r = r.Until(asOf)
	if r.Len() == 0 {
		return Nobody{}
	}
	return OnAny{metric, r}
}

// Ever is the first day of an OnAny of all days up to its last, those included
// that are kept no longer, as far as anybody remembers. From MinDay on there are
// only the days that are kept.
var Ever = MinDay - 1

// FirstOn is the users whose first day for a metric lies in r. It looks at all
// history before r.
func FirstOn(metric string, r Range, asOf Day) Set {
	in := ActiveOn(metric, r, asOf)
	if _, none := in.(Nobody); none || r.From == MinDay {
		return in
	}
	return Difference{in, ActiveOn(metric, Range{Ever, r.From - 1}, asOf)}
}

// eachDay returns one set for each day of r.
func eachDay(metric string, r Range, asOf Day) []Set {
	sets := make([]Set, 0, r.Len())
	for d := r.From; d <= r.To; d++ {
		sets = append(sets, ActiveOn(metric, Range{d, d}, asOf))
	}
	return sets
}

// Exactly is the users in k of the sets and in no more.
func Exactly(k int, of []Set) Set {
	if k == len(of) {
		return AtLeast{k, of}
	}
	return Difference{AtLeast{k, of}, AtLeast{k + 1, of}}
}

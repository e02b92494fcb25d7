package cohort

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bitboard/internal/fault"
)

// Limits of saved cohorts.
const (
	// MaxSavedCohorts is how many there may be.
	MaxSavedCohorts = 1000
	// MaxSavedName is the longest name, in characters.
	MaxSavedName = 64
	// MaxSavedTitle is the longest title, in characters.
	MaxSavedTitle = 200
)

// Saved is a set expression, or a list of users, that is kept under a name.
type Saved struct {
	Name, Title string
	// Expr is the expression as it was written; empty for a list.
	Expr string
	// List is the version of the list of users that the cohort is, or 0.
	List             uint64
	Created, Updated time.Time
}

// IsList reports whether the cohort is a list of users, which stays as it is.
func (c Saved) IsList() bool { return c.List != 0 }

// Expression returns the expression that the cohort is; a list has none other than
// its name.
func (c Saved) Expression() string {
	if c.IsList() {
		return Expr{root: savedNode{name: c.Name}}.String()
	}
	return c.Expr
}

// SavedCohorts is all saved cohorts of one moment by name. It is not changed
// once it was handed over; nil is none.
type SavedCohorts map[string]Saved

// List returns the cohorts by name, ascending.
func (s SavedCohorts) List() []Saved {
	list := make([]Saved, 0, len(s))
	for _, name := range slices.Sorted(maps.Keys(s)) {
		list = append(list, s[name])
	}
	return list
}

// Get returns the cohort of a name, or an ErrNotFound.
func (s SavedCohorts) Get(name string) (Saved, error) {
	c, ok := s[name]
	if !ok {
		return c, fault.NotFound(unknownCohort, "there is no saved cohort %s", fault.Show(name)).Say("wrong.cohort", "given", fault.Show(name))
	}
	return c, nil
}

// UsersOf returns the names of the cohorts whose expressions name one, ascending.
func (s SavedCohorts) UsersOf(name string) []string {
	var users []string
	for _, c := range s.List() {
		if e, err := ParseExpr(c.Expr); err == nil && slices.Contains(e.Cohorts(), name) {
			users = append(users, c.Name)
		}
	}
	return users
}

// CheckNew returns the cohort as it is to be saved for the first time. A name
// that is taken is an ErrConflict; otherwise CheckChange says what is refused.
func (s SavedCohorts) CheckNew(w Workspace, asOf Day, c Saved) (Saved, error) {
	if _, taken := s[c.Name]; taken {
		f := fault.Conflict("cohort_exists", "there is a saved cohort %s already; give another name, or change that one", fault.Show(c.Name)).
			Say("wrong.cohort_exists", "given", c.Name)
		f.Field = "name"
		return c, f
	}
	return s.CheckChange(w, asOf, c)
}

// CheckChange returns the cohort as it is to be saved under its name, whether
// that is taken or not: one without a title is called by its name, and one that
// is there already stays as old as it is. A name, a title or an expression that
// cannot be used is an ErrInvalid; so is an expression that refers to the cohort
// itself, be it through others, or that makes one of those too large.
func (s SavedCohorts) CheckChange(w Workspace, asOf Day, c Saved) (Saved, error) {
	before, known := s[c.Name]
	if err := checkSavedName(c.Name); err != nil {
		return c, err
	}
	if c.Title = strings.TrimSpace(c.Title); c.Title == "" {
		c.Title = c.Name
	}
	if err := checkSavedTitle(c.Title); err != nil {
		return c, err
	}
	if known {
		c.Created = before.Created
	} else if len(s) >= MaxSavedCohorts {
		return c, fault.Conflict("too_many_cohorts", "there are %d saved cohorts, which is the most; delete one that is not used", len(s)).
			Say("wrong.too_many_cohorts", "most", strconv.Itoa(MaxSavedCohorts))
	}
	if c.IsList() {
		c.Expr = ""
		return c, nil
	}
	return c, s.checkExpr(Scope{Workspace: w, AsOf: asOf, Saved: s.with(c)}, c)
}

// CheckDelete returns an ErrNotFound when there is no cohort of that name, and
// an ErrConflict that names those that use it when there are any.
func (s SavedCohorts) CheckDelete(name string) error {
	if _, err := s.Get(name); err != nil {
		return err
	}
	if users := s.UsersOf(name); len(users) > 0 {
		return fault.Conflict("cohort_in_use", "the cohort %s is used by %s; change or delete that first", name, listed(users)).
			Say("wrong.cohort_in_use", "given", name, "names", listed(users))
	}
	return nil
}

func (s SavedCohorts) with(c Saved) SavedCohorts {
	next := make(SavedCohorts, len(s)+1)
	maps.Copy(next, s)
	next[c.Name] = c
	return next
}

// checkExpr checks the cohort's expression among the cohorts as they will be.
func (s SavedCohorts) checkExpr(next Scope, c Saved) error {
	e, err := ParseExpr(c.Expr)
	if err != nil {
		return err
	}
	if _, err := e.resolveAs(c.Name, next); err != nil {
		return err
	}
	for _, other := range s.List() {
		after := s.resolveSaved(next, other)
		if after == nil || other.Name == c.Name || s.resolveSaved(Scope{next.Workspace, next.AsOf, s}, other) != nil {
			continue // what was wrong before may stay so
		}
		f := fault.As(after)
		broken := fault.InvalidAt(f.Code, ExprField, 0, "the cohort %s, which uses this one, would not work any more: %s", other.Name, f.Message).
			Say("wrong.breaks", "given", other.Name)
		broken.Inner = f
		return broken
	}
	return nil
}

func (SavedCohorts) resolveSaved(in Scope, c Saved) error {
	if c.IsList() {
		return nil
	}
	e, err := ParseExpr(c.Expr)
	if err == nil {
		_, err = e.resolveAs(c.Name, in)
	}
	return err
}

func checkSavedName(name string) error {
	switch {
	case name == "":
		return fault.Invalid("missing", "name", "a saved cohort needs a name: a letter from a to z, then letters, digits and _").Say("wrong.no_name")
	case !ValidName(name):
		return fault.Invalid("bad_name", "name",
			"%s is not a name of a saved cohort; a letter from a to z and then letters, digits and _ are accepted, but none of %s",
			fault.Show(name), oneOf(reservedNames)).Say("wrong.name", "given", fault.Show(name), "names", strings.Join(reservedNames, ", "))
	case len(name) > MaxSavedName:
		return fault.Invalid("bad_name", "name", "the name has %d characters; at most %d are accepted", len(name), MaxSavedName).
			Say("wrong.long_name", "most", strconv.Itoa(MaxSavedName))
	}
	return nil
}

func checkSavedTitle(title string) error {
	for i, r := range title {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(title[i:]); size == 1 {
			return fault.InvalidAt("bad_title", "title", utf8.RuneCountInString(title[:i]), "the title has bytes that are no UTF-8 text").Say("wrong.title.utf8")
		}
	}
	if n := utf8.RuneCountInString(title); n > MaxSavedTitle {
		return fault.Invalid("bad_title", "title", "the title has %d characters; at most %d are accepted", n, MaxSavedTitle).
			Say("wrong.long_title", "most", strconv.Itoa(MaxSavedTitle))
	}
	if strings.ContainsFunc(title, unicode.IsControl) {
		return fault.Invalid("bad_title", "title", "the title has a line break or another control character; one line of text is accepted").Say("wrong.title")
	}
	return nil
}

// mostListed is how many names a message gives.
const mostListed = 10

func listed(names []string) string {
	if len(names) <= mostListed {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:mostListed], ", ") + " and others"
}

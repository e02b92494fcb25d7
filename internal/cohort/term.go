package cohort

import (
	"slices"
	"strconv"
	"strings"

	"bitboard/internal/fault"
)

// Join says how a term is combined with all that stands before it.
type Join uint8

// The joins.
const (
	// JoinAnd keeps who is in the term too.
	JoinAnd Join = iota
	// JoinOr adds who is in the term.
	JoinOr
	// JoinMinus takes away who is in the term.
	JoinMinus
)

// JoinNames are the joins in words, indexed by Join.
var JoinNames = []string{"and", "or", "minus"}

var joinLevels = [...]int{JoinAnd: andLevel, JoinOr: unionLevel, JoinMinus: minusLevel}

// TermKind is the form of a term's condition.
type TermKind string

// The kinds of term.
const (
	// FlagTerm is who has the flag Name.
	FlagTerm TermKind = "flag"
	// AnyTerm is who has the metric Name on any of the days.
	AnyTerm TermKind = "any"
	// AllTerm is who has it on every one of the days.
	AllTerm TermKind = "all"
	// AtLeastTerm is who has it on K or more of the days.
	AtLeastTerm TermKind = "atleast"
	// ExactlyTerm is who has it on K of the days and no more.
	ExactlyTerm TermKind = "exactly"
	// FirstTerm is who has it for the first time on one of the days.
	FirstTerm TermKind = "first"
	// SavedTerm is who is in the saved cohort Name.
	SavedTerm TermKind = "cohort"
	// OtherTerm is whom the expression Text names.
	OtherTerm TermKind = "other"
)

// The fields of a term, as a TermError names them.
const (
	TermName = "name"
	TermK    = "k"
	TermFrom = "from"
	TermTo   = "to"
	TermText = "text"
)

// Term is one condition of a chain of conditions, as somebody fills it in. In a
// chain each is joined to the result of all before it, so that "a, or b, minus c"
// is "(a | b) - c"; the Join of the first means nothing.
type Term struct {
	Join Join
	// Not turns the condition around: the known users who do not meet it.
	Not  bool
	Kind TermKind
	// Name is the metric or the saved cohort.
	Name string
	// K is the number of days of AtLeastTerm and ExactlyTerm.
	K string
	// From and To are dates as expressions write them; an empty To is the day From alone.
	From, To string
	// Text is the expression of OtherTerm.
	Text string
}

// HasDays reports whether the condition is about a metric on days.
func (t Term) HasDays() bool { return t.call() != "" || t.Kind == AnyTerm }

// call is the word that expressions have for the kind; empty for none.
func (t Term) call() string {
	switch t.Kind {
	case AllTerm, AtLeastTerm, ExactlyTerm, FirstTerm:
		return string(t.Kind)
	}
	return ""
}

// TermError says which field of which term is wrong, and how.
type TermError struct {
	// Term is counted from 1.
	Term int
	// Field is one of the names above.
	Field string
	// Err is what is wrong; its position is one in Field only when that is TermText.
	Err *fault.Error
}

// Error returns the message with the place.
func (e *TermError) Error() string {
	return "condition " + strconv.Itoa(e.Term) + ", " + e.Field + ": " + e.Err.Message
}

// Unwrap returns what is wrong.
func (e *TermError) Unwrap() error { return e.Err }

// link is a term of a chain as a part of the syntax tree.
type link struct {
	join Join
	node node
}

// Terms returns the expression as a chain of at most so many terms; Combine turns
// it back. What a term cannot say is an OtherTerm, and so are the first of too many
// together.
func (e Expr) Terms(most int) []Term {
	links := chain(e.root)
	if extra := len(links) - most; extra > 0 {
		links = slices.Replace(links, 0, extra+1, link{node: fold(links[:extra+1])})
	}
	terms := make([]Term, len(links))
	for i, l := range links {
		terms[i] = termOf(l.node)
		terms[i].Join = l.join
	}
	return terms
}

// chain follows the operators from the last to the first: what stands left of one
// is a chain again, and what stands right of it a term.
func chain(n node) []link {
	b, ok := n.(binaryNode)
	if !ok {
		return []link{{node: n}}
	}
	links := chain(b.of[0])
	join := Join(slices.Index(joinLevels[:], b.level))
	for _, c := range b.of[1:] {
		links = append(links, link{join, c})
	}
	return links
}

// fold is the inverse of chain.
func fold(links []link) node {
	left := links[0].node
	for _, l := range links[1:] {
		level := joinLevels[l.join]
		of := []node{left}
		if b, ok := left.(binaryNode); ok && b.level == level {
			of = slices.Clone(b.of)
		}
		left = binaryNode{level, append(of, l.node)}
	}
	return left
}

func termOf(n node) Term {
	switch n := n.(type) {
	case flagNode:
		return Term{Kind: FlagTerm, Name: n.name}
	case savedNode:
		return Term{Kind: SavedTerm, Name: n.name}
	case daysNode:
		return n.term()
	case notNode:
		if t := termOf(n.of); !t.Not {
			t.Not = true
			return t
		}
		return Term{Not: true, Kind: OtherTerm, Text: Expr{root: n.of}.String()}
	}
	return Term{Kind: OtherTerm, Text: Expr{root: n}.String()}
}

func (n daysNode) term() Term {
	t := Term{Kind: AnyTerm, Name: n.name, From: n.dates.from.text}
	if n.call != "" {
		t.Kind = TermKind(n.call)
	}
	if counting(n.call) {
		t.K = strconv.Itoa(n.k)
	}
	if !n.dates.single {
		t.To = n.dates.to.text
	}
	return t
}

// Combine returns the expression of a chain of at least one term. A field that
// cannot be read is a *TermError; an expression that grows too long is an
// ErrInvalid about the whole.
func Combine(terms []Term) (Expr, error) {
	links := make([]link, len(terms))
	for i, t := range terms {
		n, err := t.node()
		if err != nil {
			return Expr{}, inTerm(i, err)
		}
		links[i] = link{t.Join, n}
	}
	return ParseExpr(Expr{root: fold(links)}.String())
}

func inTerm(i int, err error) error {
	if f := fault.As(err); f != nil {
		return &TermError{Term: i + 1, Field: f.Field, Err: f}
	}
	return err
}

// CheckTerms returns a *TermError about the first term that cannot be read or that
// names nobody in a scope because something in it does not exist.
func CheckTerms(terms []Term, scope Scope) error {
	for i, t := range terms {
		e, err := Combine([]Term{t})
		if err == nil {
			_, err = e.Resolve(scope)
		}
		f := fault.As(err)
		if f != nil && f.Field == ExprField && t.Kind != OtherTerm {
			return &TermError{Term: i + 1, Field: t.fieldAt(f.Position), Err: f}
		}
		if f != nil && f.Field == ExprField {
			f.Field = TermText
		}
		if err != nil {
			return inTerm(i, err)
		}
	}
	return nil
}

// node reads the term's fields. An error names the field.
func (t Term) node() (node, error) {
	n, err := t.condition()
	if err == nil && t.Not {
		n = notNode{of: n}
	}
	return n, err
}

func (t Term) condition() (node, error) {
	if t.Kind == OtherTerm {
		e, err := ParseExpr(t.Text)
		if f := fault.As(err); f != nil {
			f.Field = TermText
		}
		return e.root, err
	}
	if !ValidName(t.Name) {
		return nil, fault.Invalid("bad_name", TermName, "%s is not a name; choose what the condition is about", fault.Show(t.Name)).Say("wrong.term.name")
	}
	switch t.Kind {
	case FlagTerm:
		return flagNode{name: t.Name}, nil
	case SavedTerm:
		return savedNode{name: t.Name}, nil
	}
	return t.days()
}

func (t Term) days() (node, error) {
	n := daysNode{call: t.call(), name: t.Name}
	var err error
	if counting(n.call) {
		if n.k, err = t.number(); err != nil {
			return nil, err
		}
	}
	if n.dates.from, err = wholeDate(TermFrom, t.From); err != nil {
		return nil, err
	}
	if t.To == "" {
		n.dates.to, n.dates.single = n.dates.from, true
		return n, nil
	}
	n.dates.to, err = wholeDate(TermTo, t.To)
	return n, err
}

func (t Term) number() (int, error) {
	p := &parser{in: []rune(t.K)}
	k, _, err := p.number()
	if err != nil || p.pos < len(p.in) {
		return 0, fault.Invalid("bad_number", TermK, "%s is not a number of days; a whole number is accepted", fault.Show(t.K)).Say("wrong.term.k", "given", fault.Show(t.K))
	}
	return k, nil
}

// wholeDate reads a date that takes up all of a field.
func wholeDate(field, text string) (date, error) {
	p := &parser{in: []rune(text)}
	d, err := p.date()
	if err != nil || p.pos < len(p.in) {
		return date{}, fault.Invalid("bad_date", field, "%s is not a date that exists; %s is accepted", fault.Show(text), dateForms).
			Say("wrong.date", "given", fault.Show(text))
	}
	return d, nil
}

// fieldAt returns the field in which a character of the term's expression stands.
func (t Term) fieldAt(position int) string {
	if !t.HasDays() {
		return TermName
	}
	rest := position
	if t.Not {
		rest--
	}
	if call := t.call(); call != "" {
		rest -= len(call + "(")
		if counting(call) {
			n, _ := t.number()
			if rest < len(strconv.Itoa(n)) {
				return TermK
			}
			rest -= len(strconv.Itoa(n) + ", ")
		}
	}
	if rest < len(t.Name+"@") {
		return TermName
	}
	if rest -= len(t.Name + "@"); rest < len(strings.TrimSpace(t.From)) {
		return TermFrom
	}
	return TermTo
}

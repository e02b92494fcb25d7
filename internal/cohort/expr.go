package cohort

import (
	"strconv"
	"strings"
)

// Limits of a set expression.
const (
	// MaxExprLength is the longest expression, in characters, with the text of
	// each saved cohort that it names, as often as it does.
	MaxExprLength = 10_000
	// MaxExprDepth is the deepest nesting of parentheses and complements. A saved
	// cohort is one level and those of its own expression.
	MaxExprDepth = 100
	// MaxExprDays is the most days in all ranges of an expression together,
	// those of the saved cohorts it names included.
	MaxExprDays = 100_000
)

// ExprField is the field that an error about an expression names.
const ExprField = "expr"

// Expr is a parsed set expression. Its dates may still be relative, so it
// names users only together with an as_of.
type Expr struct {
	root   node
	length int // in characters, as it was written
	depth  int // the deepest nesting
}

// String returns the normal form: one space around binary operators, none
// elsewhere, and only the parentheses that the meaning needs.
func (e Expr) String() string {
	var b strings.Builder
	e.root.write(&b, unionLevel)
	return b.String()
}

// Cohorts returns the names of the saved cohorts that the expression refers
// to, each once, in order of appearance.
func (e Expr) Cohorts() []string {
	var names []string
	seen := map[string]bool{}
	e.root.walk(func(n node) {
		if c, ok := n.(savedNode); ok && !seen[c.name] {
			seen[c.name] = true
			names = append(names, c.name)
		}
	})
	return names
}

// node is a part of the syntax tree. Positions are 0-based characters.
type node interface {
	// write appends the normal form; level is the loosest operator that needs
	// no parentheses there.
	write(b *strings.Builder, level int)
	walk(visit func(node))
	resolve(r *resolver) (Set, error)
	// expand puts saved cohorts in the place of their names.
	expand(saved SavedCohorts) node
}

// The binding strength of the operators, loosest first.
const (
	unionLevel = iota
	minusLevel
	andLevel
	unaryLevel
)

var operators = [...]byte{unionLevel: '|', minusLevel: '-', andLevel: '&'}

type (
	binaryNode struct {
		level int
		of    []node // two or more; left to right
	}
	notNode struct {
		of  node
		pos int
	}
	flagNode struct {
		name string
		pos  int
	}
	// daysNode is NAME@dates, or a call around it.
	daysNode struct {
		call  string // "", all, atleast, exactly or first
		k     int
		kPos  int
		name  string
		pos   int
		dates dateRange
	}
	savedNode struct {
		name  string
		pos   int
		depth int // the nesting around it
		// list is, in an expanded expression, the version of the list that it is.
		list uint64
	}
)

type dateRange struct {
	from, to date
	single   bool
	pos      int
}

// date is absolute, or a number of days before as_of.
type date struct {
	relative bool
	day      Day
	ago      int
	text     string
}

func (n binaryNode) write(b *strings.Builder, level int) {
	if n.level < level {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	for i, c := range n.of {
		if i > 0 {
			b.WriteByte(' ')
			b.WriteByte(operators[n.level])
			b.WriteByte(' ')
		}
		c.write(b, n.level+1)
	}
}

func (n notNode) write(b *strings.Builder, _ int) {
	b.WriteByte('!')
	n.of.write(b, unaryLevel)
}

func (n flagNode) write(b *strings.Builder, _ int) { b.WriteString(n.name) }

func (n savedNode) write(b *strings.Builder, _ int) {
	b.WriteString("cohort(" + n.name + ")")
	if n.list != 0 {
		b.WriteString("#" + strconv.FormatUint(n.list, 36))
	}
}

func (n daysNode) write(b *strings.Builder, _ int) {
	if n.call != "" {
		b.WriteString(n.call + "(")
		defer b.WriteByte(')')
	}
	if counting(n.call) {
		b.WriteString(strconv.Itoa(n.k) + ", ")
	}
	b.WriteString(n.name + "@" + n.dates.from.text)
	if !n.dates.single {
		b.WriteString(".." + n.dates.to.text)
	}
}

func counting(call string) bool { return call == "atleast" || call == "exactly" }

func (n binaryNode) walk(visit func(node)) {
	visit(n)
	for _, c := range n.of {
		c.walk(visit)
	}
}

func (n notNode) walk(visit func(node)) {
	visit(n)
	n.of.walk(visit)
}

func (n flagNode) walk(visit func(node))  { visit(n) }
func (n daysNode) walk(visit func(node))  { visit(n) }
func (n savedNode) walk(visit func(node)) { visit(n) }

// Expand returns the expression with those of the saved cohorts in the place of
// their names: what it means at this moment. It must be one that Resolve takes. A list
// keeps its name, with a # and its version, which no expression can be asked with.
func (e Expr) Expand(saved SavedCohorts) Expr {
	return Expr{root: e.root.expand(saved)}
}

func (n binaryNode) expand(saved SavedCohorts) node {
	of := make([]node, len(n.of))
	for i, c := range n.of {
		of[i] = c.expand(saved)
	}
	return binaryNode{n.level, of}
}

func (n notNode) expand(saved SavedCohorts) node { return notNode{n.of.expand(saved), n.pos} }

func (n flagNode) expand(SavedCohorts) node { return n }
func (n daysNode) expand(SavedCohorts) node { return n }

func (n savedNode) expand(saved SavedCohorts) node {
	if c := saved[n.name]; c.IsList() {
		return savedNode{name: n.name, list: c.List}
	}
	e, err := ParseExpr(saved[n.name].Expr)
	if err != nil {
		return n
	}
	return e.root.expand(saved)
}

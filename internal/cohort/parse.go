package cohort

import (
	"slices"
	"strconv"
	"unicode"

	"bitboard/internal/fault"
)

// ParseExpr reads a set expression. It checks the grammar and the limits on
// length and nesting; names and dates are checked by Expr.Resolve. An error
// is a *fault.Error with the position of the character where it goes wrong,
// or the length when the text ends too early.
func ParseExpr(text string) (Expr, error) {
	p := &parser{in: []rune(text)}
	if len(p.in) > MaxExprLength {
		return Expr{}, fault.InvalidAt("too_long", ExprField, MaxExprLength,
			"the expression has %d characters; at most %d are accepted", len(p.in), MaxExprLength).Say("wrong.too_long", "most", strconv.Itoa(MaxExprLength))
	}
	root, err := p.binary(unionLevel)
	if err != nil {
		return Expr{}, err
	}
	if p.blank(); p.pos < len(p.in) {
		return Expr{}, p.expected("an operator (| & -) or the end", "wrong.expected.operator")
	}
	return Expr{root, len(p.in), p.deepest}, nil
}

// parser is a recursive-descent parser straight over the characters, because
// what a date may hold depends on where it stands.
type parser struct {
	in      []rune
	pos     int
	depth   int
	deepest int
}

func (p *parser) blank() {
	for p.pos < len(p.in) && unicode.IsSpace(p.in[p.pos]) {
		p.pos++
	}
}

// peek skips blanks and returns the next character, or 0 at the end.
func (p *parser) peek() rune {
	p.blank()
	if p.pos == len(p.in) {
		return 0
	}
	return p.in[p.pos]
}

// take consumes the next character when it is c.
func (p *parser) take(c rune) bool {
	if p.peek() != c || p.pos == len(p.in) {
		return false
	}
	p.pos++
	return true
}

// expected is the error that something else should stand here; a page, which
// marks the place, says text.
func (p *parser) expected(what, text string, values ...string) error {
	got := "the end"
	if p.pos < len(p.in) {
		got = strconv.QuoteRune(p.in[p.pos])
	}
	return fault.InvalidAt("bad_expression", ExprField, p.pos, "expected %s at character %d, found %s", what, p.pos, got).Say(text, values...)
}

// binary reads operands of one level and the operators between them.
func (p *parser) binary(level int) (node, error) {
	if level == unaryLevel {
		return p.unary()
	}
	first, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	of := []node{first}
	for p.take(rune(operators[level])) {
		next, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		of = append(of, next)
	}
	if len(of) == 1 {
		return first, nil
	}
	return binaryNode{level, of}, nil
}

func (p *parser) unary() (node, error) {
	c := p.peek()
	if c != '!' && c != '(' {
		return p.operand()
	}
	if p.depth++; p.depth > MaxExprDepth {
		return nil, fault.InvalidAt("too_deep", ExprField, p.pos, "more than %d levels of nesting", MaxExprDepth).Say("wrong.too_deep", "most", strconv.Itoa(MaxExprDepth))
	}
	defer func() { p.depth-- }()
	p.deepest = max(p.deepest, p.depth)
	pos := p.pos
	p.pos++
	if c == '!' {
		of, err := p.unary()
		return notNode{of, pos}, err
	}
	inner, err := p.binary(unionLevel)
	if err != nil {
		return nil, err
	}
	if !p.take(')') {
		return nil, p.expected("an operator (| & -) or )", "wrong.expected.operator_or_close")
	}
	return inner, nil
}

// word reads [A-Za-z_][A-Za-z0-9_]*, so that a name in upper case is one error
// about the name and not one about a character.
func (p *parser) word() (string, int) {
	p.blank()
	start := p.pos
	for p.pos < len(p.in) && isWord(p.in[p.pos], p.pos > start) {
		p.pos++
	}
	return string(p.in[start:p.pos]), start
}

func isWord(c rune, inside bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || inside && c >= '0' && c <= '9'
}

func (p *parser) operand() (node, error) {
	name, pos := p.word()
	if name == "" {
		return nil, p.expected("a metric, a call, ! or (", "wrong.expected.operand")
	}
	if p.peek() == '(' {
		return p.call(name, pos)
	}
	if slices.Contains(reservedNames, name) {
		p.pos = pos
		return nil, p.expected("a metric; "+name+" is a keyword", "wrong.expected.keyword", "given", name)
	}
	if p.peek() == '@' {
		return p.days(daysNode{name: name, pos: pos})
	}
	return flagNode{name, pos}, nil
}

func (p *parser) call(name string, pos int) (node, error) {
	if !slices.Contains([]string{"all", "atleast", "exactly", "first", "cohort"}, name) {
		return nil, fault.InvalidAt("unknown_function", ExprField, pos,
			"there is no function %s; all, atleast, exactly, first and cohort are accepted", fault.Show(name)).Say("wrong.function", "given", fault.Show(name))
	}
	p.take('(')
	var n node
	var err error
	if name == "cohort" {
		n, err = p.saved()
	} else {
		n, err = p.callOnDays(daysNode{call: name})
	}
	if err != nil {
		return nil, err
	}
	if !p.take(')') {
		return nil, p.expected(")", "wrong.expected.close")
	}
	return n, nil
}

func (p *parser) saved() (node, error) {
	name, pos := p.word()
	if name == "" {
		return nil, p.expected("the name of a saved cohort", "wrong.expected.cohort")
	}
	return savedNode{name: name, pos: pos, depth: p.depth}, nil
}

func (p *parser) callOnDays(n daysNode) (node, error) {
	if counting(n.call) {
		var err error
		if n.k, n.kPos, err = p.number(); err != nil {
			return nil, err
		}
		if !p.take(',') {
			return nil, p.expected("a comma", "wrong.expected.comma")
		}
	}
	if n.name, n.pos = p.word(); n.name == "" {
		return nil, p.expected("a daily metric", "wrong.expected.daily")
	}
	return p.days(n)
}

// maxDigits keeps any number that is read within an int32.
const maxDigits = 9

// number reads an unsigned decimal integer.
func (p *parser) number() (value, pos int, err error) {
	p.blank()
	pos = p.pos
	for p.pos < len(p.in) && p.in[p.pos] >= '0' && p.in[p.pos] <= '9' {
		p.pos++
	}
	text := string(p.in[pos:p.pos])
	if text == "" {
		return 0, pos, p.expected("a whole number", "wrong.expected.number")
	}
	if len(text) > maxDigits {
		return 0, pos, fault.InvalidAt("bad_number", ExprField, pos, "%s is too large a number", fault.Show(text)).Say("wrong.large", "given", fault.Show(text))
	}
	value, _ = digits(text)
	return value, pos, nil
}

func (p *parser) days(n daysNode) (node, error) {
	if !p.take('@') {
		return nil, p.expected("@ and a date after the daily metric "+n.name, "wrong.expected.at", "metric", n.name)
	}
	p.blank()
	n.dates.pos = p.pos
	var err error
	if n.dates.from, err = p.date(); err != nil {
		return nil, err
	}
	if p.peek() != '.' {
		n.dates.to, n.dates.single = n.dates.from, true
		return n, nil
	}
	for range 2 {
		if p.pos == len(p.in) || p.in[p.pos] != '.' {
			return nil, p.expected("..", "wrong.expected.dots")
		}
		p.pos++
	}
	n.dates.to, err = p.date()
	return n, err
}

const dateForms = "a date (YYYY-MM-DD, today, yesterday or today-Nd)"

func (p *parser) date() (date, error) {
	word, pos := p.word()
	switch word {
	case "today":
		return p.ago(pos)
	case "yesterday":
		return date{relative: true, ago: 1, text: word}, nil
	}
	for p.pos < len(p.in) && p.inDate() {
		p.pos++
	}
	text := string(p.in[pos:p.pos])
	if text == "" {
		return date{}, p.expected(dateForms, "wrong.expected.date")
	}
	d, ok := parseDay(text)
	if !ok {
		return date{}, fault.InvalidAt("bad_date", ExprField, pos, "%s is not a date that exists; %s is accepted", fault.Show(text), dateForms).
			Say("wrong.date", "given", fault.Show(text))
	}
	return date{day: d, text: text}, nil
}

// inDate reports whether the next character belongs to a date: a digit, or a
// minus before a digit, which no operand can begin with.
func (p *parser) inDate() bool {
	isDigit := func(i int) bool { return i < len(p.in) && p.in[i] >= '0' && p.in[i] <= '9' }
	return isDigit(p.pos) || p.in[p.pos] == '-' && isDigit(p.pos+1)
}

// ago reads the -Nd that may follow "today" without a blank.
func (p *parser) ago(pos int) (date, error) {
	if p.pos == len(p.in) || !p.inDate() || p.in[p.pos] != '-' {
		return date{relative: true, text: "today"}, nil
	}
	p.pos++
	n, _, err := p.number()
	if err != nil {
		return date{}, err
	}
	if p.pos == len(p.in) || p.in[p.pos] != 'd' || p.pos+1 < len(p.in) && isWord(p.in[p.pos+1], true) {
		return date{}, p.expected("d after the number of days", "wrong.expected.days")
	}
	p.pos++
	return date{relative: true, ago: n, text: string(p.in[pos:p.pos])}, nil
}

// ParseRelativeDay reads YYYY-MM-DD, today, yesterday or today-Nd, relative to
// today. The error names the field.
func ParseRelativeDay(field, text string, today Day) (Day, error) {
	p := &parser{in: []rune(text)}
	d, err := p.date()
	if err == nil && p.pos == len(p.in) {
		var day Day
		if day, err = (&resolver{Scope: Scope{AsOf: today}}).day(d, 0); err == nil {
			return day, nil
		}
	}
	return 0, fault.Invalid("bad_date", field, "%s is not a date that exists; %s is accepted", fault.Show(text), dateForms).
		Say("wrong.date", "given", fault.Show(text))
}

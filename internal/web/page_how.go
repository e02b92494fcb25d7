package web

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"bitboard/internal/query"
	"bitboard/views"
)

// how is the page that shows how the people of an expression are counted by hand.
func (s *server) how(c echo.Context) error {
	p := s.pageParams(c)
	page := views.HowPage{Page: s.page(c, p.today)}
	people := p.expr("expr")
	if page.Problem = p.problem(); p.err != nil {
		return render(c, statusOf(p.err), views.How(page))
	}
	ctx := c.Request().Context()
	size, err := s.Query.Size(ctx, people.Set, p.opts)
	var h query.ByHand
	if err == nil {
		h, err = s.Query.ByHand(ctx, people.Set)
	}
	if err != nil {
		page.Problem, page.Error = s.problemOf(c, err)
		return render(c, statusOf(err), views.How(page))
	}
	page.Expr, page.Count, page.Segments = people.String(), size.Value.Count, int64(len(h.Segments))
	page.People = address("/cohorts", "expr", page.Expr, "as_of", p.asOfParam())
	page.Script = script(page.Expr, s.Store.CLI(), h)
	page.ComputedAt = p.computedAt()
	return render(c, http.StatusOK, views.How(page))
}

// script is a shell script that prints the count of a set, from the commands for one
// segment.
func script(expr string, cli []string, h query.ByHand) string {
	var b strings.Builder
	line := func(words ...string) { b.WriteString(strings.Join(words, " ") + "\n") }
	line("#", strings.ReplaceAll(expr, "\n", " "))
	if len(h.Commands) == 0 || len(h.Segments) == 0 {
		line("echo", "0")
		return b.String()
	}
	quoted := make([]string, len(cli))
	for i, word := range cli {
		quoted[i] = doubleQuoted(word)
	}
	line("redis() {", strings.Join(quoted, " "), `"$@"; }`)
	line("total=0")
	line("for s in", numberRuns(h.Segments)+"; do")
	for _, words := range h.Commands {
		line("  " + shellCommand(words))
	}
	line("done")
	line(`echo "$total"`)
	return b.String()
}

// shellCommand is one command; the count of a BITCOUNT is added to the total.
func shellCommand(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = doubleQuoted(word)
	}
	command := "redis " + strings.Join(quoted, " ")
	if words[0] == "BITCOUNT" {
		return "total=$((total + $(" + command + ")))"
	}
	return command + " >/dev/null"
}

// doubleQuoted is a word for a shell, in which $s stays the variable.
func doubleQuoted(word string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '.' || r == '/' || r == '_'
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(word)
	return `"` + strings.Replace(escaped, `{s\$s}`, "{s$s}", 1) + `"`
}

// leastRun is the length from which a run of numbers is written shorter.
const leastRun = 4

// numberRuns writes ascending numbers for a shell's for, long runs by seq.
func numberRuns(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		if end-i+1 >= leastRun {
			parts = append(parts, "$(seq "+strconv.Itoa(numbers[i])+" "+strconv.Itoa(numbers[end])+")")
		} else {
			for _, n := range numbers[i : end+1] {
				parts = append(parts, strconv.Itoa(n))
			}
		}
		i = end + 1
	}
	return strings.Join(parts, " ")
}

package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bitboard/internal/fault"
)

// Mistake is one thing that is wrong with the configuration.
type Mistake struct {
	// Source is the file's name, the environment variable or the flag.
	Source string
	// Line is counted from 1; 0 means the source as a whole.
	Line int
	// Message says what was given and what would be accepted.
	Message string
}

// String returns "SOURCE:LINE: message".
func (m Mistake) String() string {
	if m.Line == 0 {
		return fmt.Sprintf("%s: %s", m.Source, m.Message)
	}
	return fmt.Sprintf("%s:%d: %s", m.Source, m.Line, m.Message)
}

// Mistakes is everything that is wrong with the configuration, by source and
// line. It is a fault.ErrInvalid.
type Mistakes []Mistake

// Error returns the mistakes, one a line.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, mistake := range m {
		lines[i] = mistake.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.Is see the kind.
func (m Mistakes) Unwrap() error { return fault.ErrInvalid }

// origin is one place that settings come from, with the mistakes found there.
type origin struct {
	name     string
	mistakes Mistakes
}

func (o *origin) wrong(line int, format string, args ...any) {
	o.mistakes = append(o.mistakes, Mistake{o.name, line, fmt.Sprintf(format, args...)})
}

// gather joins the mistakes of all origins; nil when there are none.
func gather(origins []*origin) error {
	var all Mistakes
	for _, o := range origins {
		slices.SortStableFunc(o.mistakes, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
		all = append(all, o.mistakes...)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

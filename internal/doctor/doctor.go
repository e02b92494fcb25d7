// Package doctor examines a store and says, a line at a time, what is sound
// and what is wrong with what to do about it. It reads in small steps, so that
// it may run beside production, and changes nothing but the catalogue, which
// it brings up to date as the background scan does.
package doctor

import (
	"context"
	"fmt"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
)

// Grade is how a finding is meant.
type Grade string

// The grades.
const (
	// OK is something that is as it should be.
	OK Grade = "ok"
	// Hint is nothing wrong, but worth a thought.
	Hint Grade = "hint"
	// Wrong is something to be put right.
	Wrong Grade = "wrong"
)

// Finding is one line of the doctor's.
type Finding struct {
	Grade Grade
	// Check names what was looked at, in a word or two.
	Check string
	// Text says what was found, and what to do about it when it is wrong.
	Text string
}

// String returns the finding as a line without its end.
func (f Finding) String() string { return fmt.Sprintf("%-5s  %s: %s", f.Grade, f.Check, f.Text) }

// Config says what to examine.
type Config struct {
	Store     *store.Store
	Workspace cohort.Workspace
	// MaxOffset is the highest offset that a user may have.
	MaxOffset uint32
	// Dense is true when an ID is its own offset.
	Dense bool
	// Now is the time at which days and temporary keys are judged.
	Now time.Time
	// Report takes each finding as it is made.
	Report func(Finding)
}

// examination is one run of all checks.
type examination struct {
	Config
	keys *census
}

// Examine runs every check and reports at least one finding of each. An error
// is the store's: what could not be examined.
func Examine(ctx context.Context, c Config) error {
	e := &examination{Config: c}
	checks := []func(context.Context) error{
		e.servers, e.layout, e.syncs, e.forgetting, e.survey, e.catalogue, e.lists, e.days, e.others, e.known, e.dictionary, e.sizes,
	}
	for _, check := range checks {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (e *examination) ok(check, format string, args ...any) {
	e.Report(Finding{OK, check, fmt.Sprintf(format, args...)})
}

func (e *examination) hint(check, format string, args ...any) {
	e.Report(Finding{Hint, check, fmt.Sprintf(format, args...)})
}

func (e *examination) wrong(check, format string, args ...any) {
	e.Report(Finding{Wrong, check, fmt.Sprintf(format, args...)})
}

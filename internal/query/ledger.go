package query

import (
	"sync"
	"time"
)

// Ledger adds up where the counts of several answers come from. It is safe for
// concurrent use.
type Ledger struct {
	mu               sync.Mutex
	computed, cached int
	oldest           time.Time
}

// note enters an answer. A nil ledger takes nothing down.
func (l *Ledger) note(computed, cached int, at time.Time) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.computed += computed
	l.cached += cached
	if l.oldest.IsZero() || at.Before(l.oldest) {
		l.oldest = at
	}
}

// Cells returns how many counts were computed, and how many were kept from before.
func (l *Ledger) Cells() (computed, cached int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.computed, l.cached
}

// Oldest returns when the oldest count was computed; ok is false when there was none.
func (l *Ledger) Oldest() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oldest, !l.oldest.IsZero()
}

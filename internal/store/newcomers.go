package store

import "sync"

const (
	// newcomerSample is the fewest IDs from which something is concluded.
	newcomerSample = 1000
	// newcomerShare is how many IDs there are for one that was not new, at least,
	// while newcomers are expected, and how many new ones for a wasted offset.
	newcomerShare = 50
)

// newcomers tells whether IDs are likely to be new, as those of a first import
// are. They are then given offsets without being looked up before, which saves
// half of the commands; an offset is wasted on each that is not new.
type newcomers struct {
	mu            sync.Mutex
	likely        bool
	added, wasted int
}

// note takes in how many offsets were given to new IDs, and how many wasted.
func (n *newcomers) note(added, wasted int) {
	n.judge(added, wasted)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.added += added
	n.wasted += wasted
}

// judge concludes from how many IDs were new, and how many were not.
func (n *newcomers) judge(added, others int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if added+others >= newcomerSample {
		n.likely = newcomerShare*others <= added
	}
}

// expected reports whether the next IDs should be taken as new.
func (n *newcomers) expected() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.likely && newcomerShare*n.wasted <= n.added
}

package cohort

import (
	"strconv"
	"time"

	"bitboard/internal/fault"
)

// MaxRecentMinutes is how far back heartbeats are kept.
const MaxRecentMinutes = 15

// Presence is who is there at an instant.
type Presence struct {
	// Online is how many users are there by what they said: it stays until
	// taken back.
	Online int64
	// Recent is how many had a heartbeat in the last minutes.
	Recent int64
	// Segments is both by segment, ascending.
	Segments []PresenceSegment
}

// PresenceSegment is who is there of one segment's users.
type PresenceSegment struct {
	Segment        int
	Online, Recent int64
}

// ParseRecent reads how far back heartbeats count, e.g. 5m: whole minutes, 1 to
// MaxRecentMinutes. Empty is 5.
func ParseRecent(field, s string) (minutes int, err error) {
	if s == "" {
		return defaultRecent, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d%time.Minute != 0 || d < time.Minute || d > MaxRecentMinutes*time.Minute {
		return 0, fault.Invalid("bad_value", field, "%s is not a time that heartbeats are kept; give 1m to %dm in whole minutes", fault.Show(s), MaxRecentMinutes).
			Say("wrong.recent", "given", fault.Show(s), "most", strconv.Itoa(MaxRecentMinutes))
	}
	return int(d / time.Minute), nil
}

// defaultRecent is the minutes of recent when none are given.
const defaultRecent = 5

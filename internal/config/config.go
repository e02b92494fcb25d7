// Package config reads the configuration: built-in defaults, one YAML file,
// environment variables and command-line flags, each stronger than the one
// before. Every mistake is found and reported at once, with its line.
package config

import (
	"fmt"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/store/pattern"
)

// Config is the whole configuration, checked.
type Config struct {
	// Workspace holds the time zone, the calendar and the metrics.
	Workspace cohort.Workspace
	// Existing says where the bitmaps lie that other programs keep, by metric.
	Existing map[string]Existing
	// Known is the key of the bitmap of all users, zero when no other program keeps one.
	Known pattern.Pattern
	// Events maps an event's name to the metrics that it marks; "*" stands for
	// any name that is neither here nor a metric's.
	Events map[string][]string
	// DenseIDs says that a user's ID is the decimal text of the offset;
	// otherwise a dictionary hands out offsets.
	DenseIDs bool
	// Redis is the store's URL, or Embedded.
	Redis string
	// DataDir is the folder of the embedded store.
	DataDir string
	// Prefix begins every key.
	Prefix string
	// SegmentBits is how many offsets share a bitmap, a multiple of 64.
	SegmentBits int
	// MaxOffset is the highest offset that a user may have.
	MaxOffset uint32
	// Listen is the server's host:port.
	Listen string
	// AllowRemote lets the server listen on other addresses than loopback. It has no
	// sign-in, so whatever hands requests on to it must check who comes.
	AllowRemote bool
	Engine      Engine
	Cache       Cache
}

// Existing is a metric that another program keeps.
type Existing struct {
	Key pattern.Pattern
	// SegmentBits is how many offsets share a key; 0 for keys of whole bitmaps.
	SegmentBits int64
}

// Embedded is the value of Redis for a private server in DataDir.
const Embedded = "embedded"

// Engine says how answers are computed and how much of Redis they may take.
type Engine struct {
	// Mode is auto, bitop or fold.
	Mode string
	// MaxBitopBytes bounds the operands of a single command.
	MaxBitopBytes int64
	// MaxRedisShare is the share of Redis's time that a long job may take, in (0, 1].
	MaxRedisShare float64
	// Burst is the Redis time that a job may take before MaxRedisShare holds.
	Burst time.Duration
	// Offpeak is the time of day in which jobs may take all of Redis.
	Offpeak Window
	// JobCostLimit is the number of bytes above which a job waits for Offpeak.
	JobCostLimit int64
	// TempTTL is how long a temporary key lives without renewal.
	TempTTL time.Duration
}

// Window is a time of day in the workspace's zone, in minutes after midnight.
// It crosses midnight when To is before From.
type Window struct{ From, To int }

// String returns the window as the configuration has it, e.g. 01:00-06:00, or
// nothing when there is none.
func (w Window) String() string {
	if w.From == w.To {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", w.From/minutes, w.From%minutes, w.To/minutes, w.To%minutes)
}

const minutes = 60 // of an hour

// Holds reports whether the time of day of an instant, in its own zone, is in the
// window. Around a change of the clock it goes by what the clock shows.
func (w Window) Holds(t time.Time) bool {
	at := t.Hour()*minutes + t.Minute()
	if w.From <= w.To {
		return w.From <= at && at < w.To
	}
	return at >= w.From || at < w.To
}

// Cache says how long counts live and when others' days are looked at again.
type Cache struct {
	// TTLOpen is how long an answer about a day that is not over may be kept.
	TTLOpen time.Duration
	// SettleAfter is how long after its end a day written by others is settled.
	SettleAfter time.Duration
	// CatalogueScan is the time between two scans for others' keys; 0 means never.
	CatalogueScan time.Duration
}

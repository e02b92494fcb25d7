// Package store keeps bitmaps of users in Redis: one for each day of a metric,
// one for each flag and one of all known users, cut into segments, with the
// dictionary of their IDs and a catalogue of what exists. It is the only
// package that knows Redis and its client.
package store

import (
	"context"
	"crypto/rand"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store/pattern"
)

// pipelineLimit is the most commands sent before their replies are read.
const pipelineLimit = 5000

// Config says where the data are and how they are laid out.
type Config struct {
	// URL names one server, a master behind sentinels or a cluster, in one of
	// the forms of package address.
	URL string
	// Prefix starts every key. One prefix is one universe of users.
	Prefix string
	// SegmentBits is the number of offsets in a segment, a multiple of 64.
	SegmentBits int
	// MaxOffset is the highest offset that a user may have.
	MaxOffset uint32
	// MaxBitopBytes bounds the operands of one BITOP; 0 is no bound.
	MaxBitopBytes int64
	// Dense is true when an ID is its own offset, without a dictionary.
	Dense bool
	// Zone is the IANA name of the workspace's time zone, and Location the zone.
	Zone     string
	Location *time.Location
	// TempTTL is how long a temporary key outlives the last sign of its owner.
	TempTTL time.Duration
	// Existing holds the metrics that other programs keep, and Known the key of
	// all users if another program keeps one. They are only read.
	Existing map[string]Existing
	Known    pattern.Pattern
	// Keep is how many days each daily metric is kept; one without is kept for ever.
	Keep map[string]int
}

// Store is a connection to the data of one prefix. It is safe for concurrent use.
type Store struct {
	config Config
	client redis.UniversalClient
	keys   keys
	shown  string // the address without its password
	// several says that there are other servers than one that the address names.
	several bool

	known     *idCache
	newcomers newcomers
	servers   servers
	view      view
	saved     savedView
	others    others
	watch     evictionWatch
	tombs     atomic.Pointer[tombs]
}

var prefixPattern = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)

// Open connects, checks the servers, writes the layout record or
// compares it with the configuration, and finishes the syncs that were
// committed. A layout that differs is an ErrConflict, a server that is away,
// too old or refusing us an ErrUnavailable.
func Open(ctx context.Context, c Config) (*Store, error) {
	if !prefixPattern.MatchString(c.Prefix) {
		return nil, fault.Invalid("bad_prefix", "prefix",
			"%s cannot start every key; give 1 to 64 letters, digits, or any of _ . : -", fault.Show(c.Prefix))
	}
	s := &Store{config: c, keys: keys{c.Prefix}, known: newIDCache(idCacheBytes), view: newView(), saved: newSavedView(), watch: newEvictionWatch()}
	if err := s.connect(); err != nil {
		return nil, err
	}
	s.client.AddHook(foreignHook{s})
	if err := s.start(ctx); err != nil {
		s.client.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) start(ctx context.Context) error {
	if err := s.checkServers(ctx); err != nil {
		return err
	}
	if err := s.settleLayout(ctx); err != nil {
		return err
	}
	_, err := s.Swaps(ctx)
	return err
}

// Close ends the connections. Work that is under way fails.
func (s *Store) Close() error { return s.client.Close() }

// Ping asks every server that holds keys of its own whether it answers; an
// ErrUnavailable says why not.
func (s *Store) Ping(ctx context.Context) error {
	return s.eachMaster(ctx, "ping", func(ctx context.Context, node redis.Cmdable) error { return node.Ping(ctx).Err() })
}

// SegmentBits returns the number of offsets in a segment.
func (s *Store) SegmentBits() int { return s.config.SegmentBits }

// locate returns the segment of an offset and the bit within it.
func (s *Store) locate(offset uint32) (segment int, bit int64) {
	n := int64(s.config.SegmentBits)
	return int(int64(offset) / n), int64(offset) % n
}

// exec sends what was queued and checks every reply; an absent value is no error.
func (s *Store) exec(ctx context.Context, what string, p redis.Pipeliner) error {
	cmds, err := p.Exec(ctx)
	for _, c := range cmds {
		if c.Err() != nil && c.Err() != redis.Nil {
			return s.failed(ctx, what, c.Err())
		}
	}
	if err == redis.Nil {
		return nil
	}
	return s.failed(ctx, what, err)
}

// random returns a name that nobody else has.
func random() string { return rand.Text() }

// expiry is when the bitmap goes away, or ok false when it stays.
func (s *Store) expiry(b cohort.Bitmap) (at time.Time, ok bool) {
	keep := s.config.Keep[b.Metric]
	if b.Kind != cohort.DayBitmap || keep <= 0 {
		return time.Time{}, false
	}
	return (b.Day + 1 + cohort.Day(keep)).Start(s.config.Location), true
}

package ingest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// Sign is what is said of users' presence.
type Sign uint8

// The signs.
const (
	// Heartbeat says that users are active at the moment.
	Heartbeat Sign = iota
	// Arrival says that they are there until they leave; it is a heartbeat too.
	Arrival
	// Departure says that they are not there any more.
	Departure
)

// Presence notes a sign of users at an instant, and returns for how many that
// is news: who was not there before or was, or had no heartbeat in this UTC
// minute. Whoever arrives or beats also has the metric on the day. An ID given
// twice counts once, and one that nobody knows cannot leave. A metric that does
// not exist is an ErrNotFound; one of another kind and a malformed ID are an
// ErrInvalid, more than MaxEvents IDs an ErrTooLarge, and then nothing is
// written. What is noted is in the store when Presence returns without an error.
func (s *Service) Presence(ctx context.Context, metric string, ids []string, sign Sign, now time.Time) (changed int64, err error) {
	if err := s.checkPresence(metric); err != nil {
		return 0, err
	}
	if err := s.checkIDs(ids); err != nil || len(ids) == 0 {
		return 0, err
	}
	if sign == Departure {
		return s.leave(ctx, metric, ids)
	}
	offsets, err := s.config.Store.Assign(ctx, ids)
	if err != nil {
		return 0, err
	}
	users := roaring.BitmapOf(offsets...)
	beaten, err := s.beat(ctx, metric, users, now)
	if err != nil || sign == Heartbeat {
		return beaten, err
	}
	return s.config.Store.SetPresent(ctx, metric, users, true)
}

func (s *Service) checkPresence(name string) error {
	m, ok := s.config.Workspace.Metric(name)
	switch {
	case !ok:
		return fault.NotFound("unknown_metric", "there is no metric %s", fault.Show(name))
	case m.Kind != cohort.KindPresence:
		return fault.Invalid("not_a_presence", "metric", "%s is a %s metric; give one of kind presence", fault.Show(name), m.Kind)
	}
	return nil
}

// checkIDs says what is wrong with the IDs of a request.
func (s *Service) checkIDs(ids []string) error {
	if len(ids) > MaxEvents {
		return tooLarge("%d user IDs are too many at once; send at most %d", len(ids), MaxEvents)
	}
	for i, id := range ids {
		if err := s.checkID(id); err != nil {
			return inList(i, err)
		}
	}
	return nil
}

// inList says of an ID's error which item of the list user_ids it is about.
func inList(i int, err error) error {
	f := fault.As(err)
	if f == nil {
		return err
	}
	item := *f
	item.Field, item.Message = "user_ids", fmt.Sprintf("item %d of user_ids: %s", i+1, f.Message)
	return &item
}

func (s *Service) leave(ctx context.Context, metric string, ids []string) (int64, error) {
	users, err := s.config.Store.Offsets(ctx, ids)
	if err != nil || users.IsEmpty() {
		return 0, err
	}
	return s.config.Store.SetPresent(ctx, metric, users, false)
}

// beat notes heartbeats, and the day of those who have one, but for users whose
// heartbeat in the same minute is stored.
func (s *Service) beat(ctx context.Context, metric string, users *roaring.Bitmap, now time.Time) (changed int64, err error) {
	generation, err := s.config.Store.Generation(ctx)
	if err != nil {
		return 0, err
	}
	minute := beatMinute{metric, generation, now.Truncate(time.Minute)}
	fresh := s.beats.missing(minute, users)
	if fresh.IsEmpty() {
		return 0, nil
	}
	day := cohort.DayOfMetric(metric, cohort.DayOf(now, s.config.Workspace.Zone))
	if err := s.write(ctx, map[cohort.Bitmap]*roaring.Bitmap{day: fresh}); err != nil {
		return 0, err
	}
	if changed, err = s.config.Store.Beat(ctx, metric, fresh, now); err != nil {
		return changed, err
	}
	s.beats.add(minute, fresh)
	return changed, nil
}

// beatMinute is a minute of a metric in one generation of the data.
type beatMinute struct {
	metric, generation string
	start              time.Time
}

// beatMemory remembers whose heartbeats of a minute are stored, so that the
// same user in the same minute is written once. It forgets all when a minute
// or the generation is another one.
type beatMemory struct {
	mu      sync.Mutex
	minutes map[string]beatMinute // by metric
	users   map[string]*roaring.Bitmap
}

// missing returns the users whose heartbeats are not known to be stored.
func (m *beatMemory) missing(minute beatMinute, users *roaring.Bitmap) *roaring.Bitmap {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.minutes[minute.metric] != minute {
		return users
	}
	return roaring.AndNot(users, m.users[minute.metric])
}

func (m *beatMemory) add(minute beatMinute, users *roaring.Bitmap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.minutes == nil {
		m.minutes, m.users = map[string]beatMinute{}, map[string]*roaring.Bitmap{}
	}
	if m.minutes[minute.metric] != minute {
		m.minutes[minute.metric], m.users[minute.metric] = minute, roaring.New()
	}
	m.users[minute.metric].Or(users)
}

package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// Sync replaces whole days: what is staged becomes the days' users at Commit,
// and until then nothing is changed. Flags that are staged are merged. One
// Sync at a time is open under a prefix. Its methods are for one goroutine.
// Commit or Drop must be called to end it.
type Sync struct {
	store *Store
	id    string
	ended bool
	// forgotten is the version of the forgotten when the sync began.
	forgotten int64
	release   func() // stops renewing and gives the lease back

	mu     sync.Mutex
	staged map[cohort.Bitmap]*stage
}

// stage is where a bitmap's new users are kept before the commit: in each of
// the segments under the temporary key number n.
type stage struct {
	n        int
	segments map[int]bool
}

// BeginSync opens a sync. It waits a short while for another one to end, and
// is ErrBusy when that does not; one that was committed and interrupted is
// finished first.
func (s *Store) BeginSync(ctx context.Context) (*Sync, error) {
	if err := s.writable(ctx); err != nil {
		return nil, err
	}
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	id, err := s.newJob(ctx)
	if err != nil {
		return nil, err
	}
	y := &Sync{store: s, id: id, forgotten: now.forgotten, staged: map[cohort.Bitmap]*stage{}}
	if err := s.takeLease(ctx, s.syncLease(), y.id); err != nil {
		return nil, err
	}
	y.keepAlive(context.WithoutCancel(ctx))
	if err := s.finishSyncs(ctx); err != nil {
		y.end()
		return nil, err
	}
	return y, nil
}

// keepAlive renews the lease and the temporary keys until release is called.
func (y *Sync) keepAlive(ctx context.Context) {
	renewing, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		lease := time.NewTicker(leaseTTL / 3)
		defer lease.Stop()
		temps := time.NewTicker(max(y.store.config.TempTTL/3, time.Millisecond))
		defer temps.Stop()
		for {
			// A failure to renew shows at the commit, which checks all of it.
			select {
			case <-lease.C:
				_, _ = y.store.renewLease(renewing, y.store.syncLease(), y.id)
			case <-temps.C:
				_, _ = y.expire(renewing, y.store.config.TempTTL)
			case <-renewing.Done():
				return
			}
		}
	}()
	y.release = func() {
		stop()
		<-stopped
		// A lease that cannot be given back ends by itself.
		_ = y.store.releaseLease(ctx, y.store.syncLease(), y.id)
	}
}

func (y *Sync) end() {
	y.ended = true
	y.release()
}

// Stage adds users, given by offset, to the new users of days, and of flags.
// A day that is staged with no users at all becomes empty.
func (y *Sync) Stage(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) error {
	if err := y.store.writable(ctx); err != nil {
		return err
	}
	marks, _, err := y.store.withoutForgotten(ctx, marks)
	if err != nil {
		return err
	}
	marks = withKnown(marks)
	y.note(marks)
	for segment, writes := range y.store.bySegment(marks) {
		for batch := range batches(writes) {
			if err := y.stageBatch(ctx, segment, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// note remembers where the marks will be, before they are.
func (y *Sync) note(marks map[cohort.Bitmap]*roaring.Bitmap) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for b, users := range marks {
		if y.staged[b] == nil {
			y.staged[b] = &stage{len(y.staged), map[int]bool{}}
		}
		for _, segment := range y.store.segmentsIn(users) {
			y.staged[b].segments[segment] = true
		}
	}
}

func (y *Sync) stageBatch(ctx context.Context, segment int, writes []write) error {
	s, job := y.store, random()
	p := s.client.TxPipeline()
	for i, w := range writes {
		key := y.temp(w.bitmap, segment)
		s.queueOr(ctx, p, key, s.keys.temp(segment, job, i), w)
		p.Expire(ctx, key, s.config.TempTTL)
	}
	return s.exec(ctx, "stage marks", p)
}

func (y *Sync) temp(b cohort.Bitmap, segment int) string {
	return y.store.keys.temp(segment, y.id, y.staged[b].n)
}

// temps returns all temporary keys of the sync.
func (y *Sync) temps() []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var temps []string
	for b, st := range y.staged {
		for segment := range st.segments {
			temps = append(temps, y.temp(b, segment))
		}
	}
	return temps
}

// expire gives all temporary keys a new time to live; all is false when one of
// them is gone.
func (y *Sync) expire(ctx context.Context, ttl time.Duration) (all bool, err error) {
	all = true
	for part := range slices.Chunk(y.temps(), pipelineLimit) {
		p := y.store.client.Pipeline()
		replies := make([]*redis.BoolCmd, len(part))
		for i, key := range part {
			replies[i] = p.Expire(ctx, key, ttl)
		}
		if err := y.store.exec(ctx, "renew staged marks", p); err != nil {
			return false, err
		}
		for _, r := range replies {
			all = all && r.Val()
		}
	}
	return all, nil
}

// Drop ends the sync without a change. After Commit it does nothing, so that
// it may be deferred.
func (y *Sync) Drop(ctx context.Context) error {
	if y.ended {
		return nil
	}
	defer y.end()
	for part := range slices.Chunk(y.temps(), pipelineLimit) {
		p := y.store.client.Pipeline()
		for _, key := range part {
			p.Unlink(ctx, key)
		}
		if err := y.store.exec(ctx, "drop staged marks", p); err != nil {
			return err
		}
	}
	return nil
}

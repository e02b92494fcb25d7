package store

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// savedCohort is a saved cohort as it is stored in the hash of all, under its name.
type savedCohort struct {
	Title   string    `json:"title"`
	Expr    string    `json:"expr"`
	List    uint64    `json:"list,omitempty"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// savedSnapshot is the saved cohorts of one state of the data.
type savedSnapshot struct {
	epoch   string
	version string
	all     cohort.SavedCohorts
}

// savedView holds the newest snapshot read, nil for none.
type savedView struct {
	newest *atomic.Pointer[savedSnapshot]
}

func newSavedView() savedView { return savedView{new(atomic.Pointer[savedSnapshot])} }

func (v savedView) clear() { v.newest.Store(nil) }

// SavedCohorts returns the saved cohorts, no older than the last acknowledged
// change of any process. It asks for their version, which comes with the
// catalogue's, and reads them when that is another one than before.
func (s *Store) SavedCohorts(ctx context.Context) (cohort.SavedCohorts, error) {
	snapshot, err := s.savedCohorts(ctx)
	return snapshot.all, err
}

func (s *Store) savedCohorts(ctx context.Context) (savedSnapshot, error) {
	now, err := s.now(ctx)
	if err != nil {
		return savedSnapshot{}, err
	}
	if seen := s.saved.newest.Load(); seen != nil && seen.epoch == now.epoch && seen.version == now.cohorts {
		return *seen, nil
	}
	read, err := s.readCohorts(ctx, now.epoch)
	if err == nil {
		s.saved.newest.Store(&read)
	}
	return read, err
}

// cohortsScript returns the version of the saved cohorts and all of them.
var cohortsScript = redis.NewScript(`
return {redis.call('GET', KEYS[2]) or '', redis.call('HGETALL', KEYS[1])}
`)

func (s *Store) readCohorts(ctx context.Context, epoch string) (savedSnapshot, error) {
	reply, err := cohortsScript.Run(ctx, s.client, []string{s.keys.cohorts(), s.keys.cohortsVersion()}).Slice()
	if err != nil {
		return savedSnapshot{}, s.failed(ctx, "read the saved cohorts", err)
	}
	read := savedSnapshot{epoch: epoch, all: cohort.SavedCohorts{}}
	read.version, _ = reply[0].(string)
	fields := texts(reply[1])
	for i := 0; i+1 < len(fields); i += 2 {
		var c savedCohort
		if err := json.Unmarshal([]byte(fields[i+1]), &c); err != nil {
			return savedSnapshot{}, damagedKey(s.keys.cohorts(), "saved cohorts")
		}
		read.all[fields[i]] = cohort.Saved{Name: fields[i], Title: c.Title, Expr: c.Expr, List: c.List, Created: c.Created, Updated: c.Updated}
	}
	return read, nil
}

// changeTries is how often a change of the saved cohorts is tried while others
// change them.
const changeTries = 20

// ChangeCohort changes the saved cohort of a name to what change returns, or
// removes it when that is nil. Change is handed all saved cohorts, and again
// when another process has changed any of them meanwhile: what it checks holds
// when the change is made. Its error ends the change and is returned. The bitmaps of a
// list that is not the cohort any more are removed.
func (s *Store) ChangeCohort(ctx context.Context, name string, change func(all cohort.SavedCohorts) (*cohort.Saved, error)) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	for range changeTries {
		before, err := s.savedCohorts(ctx)
		if err != nil {
			return err
		}
		after, err := change(before.all)
		if err != nil {
			return err
		}
		done, err := s.putCohort(ctx, before.version, random(), name, after)
		if err != nil {
			return err
		}
		if done {
			s.dropReplaced(ctx, before.all[name], after)
			return nil
		}
	}
	return &fault.Error{Kind: fault.ErrBusy, Code: "cohorts_busy", Position: fault.NoPosition,
		Message: "the saved cohorts are being changed by others; try again in a moment"}
}

// putCohortScript changes one cohort when the version is still the one that was
// seen. A client that had no reply repeats it, and finds its own version.
var putCohortScript = redis.NewScript(`
local version = redis.call('GET', KEYS[2]) or ''
if version == ARGV[2] then return 1 end
if version ~= ARGV[1] then return 0 end
if ARGV[4] == '' then redis.call('HDEL', KEYS[1], ARGV[3]) else redis.call('HSET', KEYS[1], ARGV[3], ARGV[4]) end
redis.call('SET', KEYS[2], ARGV[2])
return 1
`)

// putCohort stores one cohort, or removes it when it is nil, under the next
// version; done is false when the version is not the one seen by now. Versions are
// random, so that none comes back after a failover that lost one.
func (s *Store) putCohort(ctx context.Context, seen, next, name string, c *cohort.Saved) (done bool, err error) {
	var value []byte
	if c != nil {
		if value, err = json.Marshal(savedCohort{c.Title, c.Expr, c.List, c.Created, c.Updated}); err != nil {
			return false, err
		}
	}
	names := []string{s.keys.cohorts(), s.keys.cohortsVersion()}
	done, err = putCohortScript.Run(ctx, s.client, names, seen, next, name, value).Bool()
	return done, s.failed(ctx, "change the saved cohorts", err)
}

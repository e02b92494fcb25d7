package store

import (
	"context"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"
)

// servers remembers the masters that were connected to.
type servers struct {
	mu   sync.Mutex
	seen map[string]bool
}

// add reports whether the server was never seen before.
func (v *servers) add(server string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen[server] {
		return false
	}
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	v.seen[server] = true
	return true
}

func (v *servers) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.seen)
}

// connected runs on every new connection. A master that was never seen may
// have been restored from an older copy, or been a replica that lacks the last
// writes, so that what is remembered here about IDs and the catalogue is
// forgotten. A master's replication ID is a new one each time it becomes one.
// Replicas hand out nothing: a cluster's client asks them for the nodes only.
func (s *Store) connected(ctx context.Context, c *redis.Conn) error {
	info, err := c.Info(ctx).Result()
	if err != nil {
		return err
	}
	master := infoValue(info, "role") != "slave"
	if master && s.servers.add(infoValue(info, "run_id")+" "+infoValue(info, "master_replid")) {
		s.forget()
	}
	return nil
}

// Generation names the state of the data from which offsets are handed out. It
// changes when a server is emptied, restarted or replaced: what it kept may be
// older then, and offsets that it gave out before may be another user's.
func (s *Store) Generation(ctx context.Context) (string, error) {
	now, err := s.now(ctx)
	if err != nil {
		return "", err
	}
	return now.epoch + " " + strconv.Itoa(s.servers.count()), nil
}

// forget drops everything remembered about the data.
func (s *Store) forget() {
	s.known.clear()
	s.view.clear()
	s.saved.clear()
	s.others.found.Store(nil)
	s.watch.forget()
}

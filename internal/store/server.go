package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// noEviction is the policy under which a server never removes keys to make room.
const noEviction = "noeviction"

// Server is what one server that holds keys of its own says about itself.
type Server struct {
	// Address names the server, without a password.
	Address string
	// RunID is another one each time the server starts.
	RunID string
	// Version is that of Redis.
	Version string
	// Policy is the maxmemory-policy; a server without one never evicts.
	Policy string
	// EvictedKeys is how many keys it has evicted since it started.
	EvictedKeys int64
	// UsedMemory is in bytes, and so is MaxMemory, where 0 is no limit.
	UsedMemory, MaxMemory int64
	// AppendOnly says that each write is kept in a file.
	AppendOnly bool
}

// Servers asks every server that holds keys of its own, ordered by address.
func (s *Store) Servers(ctx context.Context) ([]Server, error) {
	var mu sync.Mutex
	var all []Server
	err := s.eachMaster(ctx, "ask the servers about themselves", func(ctx context.Context, node redis.Cmdable) error {
		info, err := node.Info(ctx).Result()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, serverOf(s.addressOf(node), info))
		return nil
	})
	slices.SortFunc(all, func(a, b Server) int { return strings.Compare(a.Address, b.Address) })
	return all, err
}

// addressOf names one of the servers of a cluster, or the only server.
func (s *Store) addressOf(node redis.Cmdable) string {
	if c, ok := node.(*redis.Client); ok && s.clustered() {
		return c.Options().Addr
	}
	return s.shown
}

// serverOf reads the answer of INFO; a field that is not there is zero.
func serverOf(address, info string) Server {
	number := func(field string) int64 {
		n, _ := strconv.ParseInt(infoValue(info, field), 10, 64)
		return n
	}
	server := Server{
		Address: address, RunID: infoValue(info, "run_id"), Version: infoValue(info, "redis_version"), Policy: infoValue(info, "maxmemory_policy"),
		EvictedKeys: number("evicted_keys"), UsedMemory: number("used_memory"), MaxMemory: number("maxmemory"),
		AppendOnly: number("aof_enabled") == 1,
	}
	if server.Policy == "" {
		server.Policy = noEviction
	}
	return server
}

package store

import (
	"context"
	"crypto/tls"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"bitboard/internal/fault"
	"bitboard/internal/store/address"
)

const (
	dialTimeout     = 2 * time.Second
	maxRetries      = 2
	answerTimeout   = 4 * time.Second
	readBufferBytes = 256 << 10
)

// quiet keeps the client from logging by itself: what goes wrong is returned.
var quiet = sync.OnceFunc(logging.Disable)

// connect makes the client; nothing is sent yet. A command whose reply is lost
// is sent again, so everything that is sent must bear being done twice: at
// worst offsets stay unused, or bits already written are not counted as new.
func (s *Store) connect() error {
	quiet()
	at, err := address.Parse(s.config.URL)
	if err != nil {
		return fault.Invalid("bad_redis_url", "redis", "the address of the store cannot be used: %v", err)
	}
	s.shown, s.several = at.String(), at.Kind != address.Single
	s.client = newClient(at, s.connected)
	s.client.AddHook(patience{})
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		// Its hooks do not hold where one node is asked directly.
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(patience{}) })
	}
	return nil
}

// newClient makes the client for the kind of store that the address names. It
// never guesses the kind from the number of servers.
func newClient(at address.Address, onConnect func(context.Context, *redis.Conn) error) redis.UniversalClient {
	o := options(at)
	o.OnConnect = onConnect
	switch at.Kind {
	case address.Cluster:
		o.MaxRetries = 0 // it sends again by itself, to whichever node it should be
		return redis.NewClusterClient(o.Cluster())
	case address.Sentinel:
		return redis.NewFailoverClient(o.Failover())
	}
	single := o.Simple()
	if at.Socket != "" {
		single.Network, single.Addr = "unix", at.Socket
	}
	return redis.NewClient(single)
}

// options returns what all kinds of clients have in common.
func options(at address.Address) *redis.UniversalOptions {
	o := &redis.UniversalOptions{
		Addrs: at.Servers, MasterName: at.Master, DB: at.Database,
		Username: at.User, Password: at.Password, SentinelPassword: at.SentinelPassword,
		DialTimeout: dialTimeout, DialerRetries: 1, MaxRetries: maxRetries,
		ContextTimeoutEnabled:    true,
		ReadBufferSize:           readBufferBytes,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if at.TLS {
		// The name to verify is that of the server which is connected to.
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o
}

// clustered tells whether the store is a cluster.
func (s *Store) clustered() bool {
	_, ok := s.client.(*redis.ClusterClient)
	return ok
}

package store

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"bitboard/internal/fault"
)

const (
	dialTimeout     = 2 * time.Second
	maxRetries      = 2
	answerTimeout   = 4 * time.Second
	readBufferBytes = 256 << 10
	oldestServer    = "7.0"
)

// quiet keeps the client from logging by itself: what goes wrong is returned.
var quiet = sync.OnceFunc(logging.Disable)

// connect makes the client; nothing is sent yet. A command whose reply is lost
// is sent again, so everything that is sent must bear being done twice: at
// worst offsets stay unused, or bits already written are not counted as new.
func (s *Store) connect() error {
	quiet()
	options, err := redis.ParseURL(s.config.URL)
	if err != nil {
		// The parser's own text may repeat the password.
		return fault.Invalid("bad_redis_url", "redis",
			"the address of the store cannot be used; give redis://[:PASSWORD@]HOST:PORT/DB, rediss://… or unix://PATH")
	}
	options.DialTimeout = dialTimeout
	options.DialerRetries = 1
	options.MaxRetries = maxRetries
	options.ContextTimeoutEnabled = true
	options.ReadBufferSize = readBufferBytes
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	options.OnConnect = s.connected
	s.shown = withoutSecrets(s.config.URL)
	s.client = redis.NewClient(options)
	s.client.AddHook(patience{})
	return nil
}

// withoutSecrets returns the address that a message may show.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the configured address"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// servers remembers the run IDs of the servers that were connected to.
type servers struct {
	mu   sync.Mutex
	seen map[string]bool
}

// connected runs on every new connection. A server that was never seen may
// have been restored from an older copy, so that what is remembered here about
// IDs and the catalogue is forgotten.
func (s *Store) connected(ctx context.Context, c *redis.Conn) error {
	info, err := c.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	run := infoValue(info, "run_id")
	s.servers.mu.Lock()
	defer s.servers.mu.Unlock()
	if s.servers.seen[run] {
		return nil
	}
	if s.servers.seen == nil {
		s.servers.seen = map[string]bool{}
	}
	s.servers.seen[run] = true
	s.forget()
	return nil
}

// Generation names the state of the data from which offsets are handed out. It
// changes when the server is emptied, restarted or replaced: what it kept may
// be older then, and offsets that it gave out before may be another user's.
func (s *Store) Generation(ctx context.Context) (string, error) {
	now, err := s.now(ctx)
	if err != nil {
		return "", err
	}
	s.servers.mu.Lock()
	defer s.servers.mu.Unlock()
	return now.epoch + " " + strconv.Itoa(len(s.servers.seen)), nil
}

// forget drops everything remembered about the data.
func (s *Store) forget() {
	s.known.clear()
	s.view.clear()
	s.watch.forget()
}

// checkVersion refuses servers that lack what the keys and scripts rely on.
func (s *Store) checkVersion(ctx context.Context) error {
	info, err := s.client.Info(ctx, "server").Result()
	if err != nil {
		err = s.failed(ctx, "ask for the version", err)
		if answer := redis.Error(nil); ctx.Err() == nil && fault.As(err) == nil && !errors.As(err, &answer) {
			// It neither failed to answer nor answered with an error of Redis.
			return fault.Unavailable(err, "what answers at %s is not a Redis server", s.shown)
		}
		return err
	}
	version := infoValue(info, "redis_version")
	major, _, _ := strings.Cut(version, ".")
	oldest, _, _ := strings.Cut(oldestServer, ".")
	have, _ := strconv.Atoi(major)
	want, _ := strconv.Atoi(oldest)
	if have < want {
		return fault.Unavailable(nil, "the store at %s is Redis %s; %s or later is needed", s.shown, version, oldestServer)
	}
	return nil
}

// infoValue finds a field in the answer of INFO.
func infoValue(info, field string) string {
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

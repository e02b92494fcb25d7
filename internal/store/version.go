package store

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

const oldestServer = "7.0"

// checkServers refuses servers that lack what the keys and scripts rely on, or
// that are of another kind than the address says. In a cluster it meets every
// master, so that none of them seems new later.
func (s *Store) checkServers(ctx context.Context) error {
	err := s.eachMaster(ctx, "ask for the version", s.checkServer)
	if answer := redis.Error(nil); err != nil && ctx.Err() == nil && fault.As(err) == nil && !errors.As(err, &answer) {
		// It neither failed to answer nor answered with an error of Redis.
		return fault.Unavailable(err, "what answers at %s is not a Redis server", s.shown)
	}
	return err
}

func (s *Store) checkServer(ctx context.Context, node redis.Cmdable) error {
	info, err := node.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	if why := s.mistakenKind(infoValue(info, "redis_mode")); why != "" {
		return fault.Unavailable(nil, "the store at %s %s", s.shown, why)
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

// mistakenKind says what is wrong when a server in a mode answers at an address
// of another kind.
func (s *Store) mistakenKind(mode string) string {
	switch {
	case mode == "sentinel":
		return "is a sentinel; give redis+sentinel://HOST:PORT/MASTER"
	case mode == "cluster" && !s.clustered():
		return "is a node of a cluster; give redis+cluster://HOST:PORT"
	}
	return ""
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

package store

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// scriptCall is one call of a script: the key that it works on, and its ARGV.
type scriptCall struct {
	key  string
	args []any
}

// runEach calls a script several times in one pipeline and returns the
// replies. A server that does not have the script gets it, and then all calls
// again: they must bear being done twice.
func (s *Store) runEach(ctx context.Context, what string, script *redis.Script, calls []scriptCall) ([]*redis.Cmd, error) {
	replies, err := s.queueEach(ctx, script, calls)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := script.Load(ctx, s.client).Err(); err != nil {
			return nil, s.failed(ctx, what, err)
		}
		replies, err = s.queueEach(ctx, script, calls)
	}
	return replies, s.failed(ctx, what, err)
}

// queueEach sends the calls and returns the first error of any.
func (s *Store) queueEach(ctx context.Context, script *redis.Script, calls []scriptCall) ([]*redis.Cmd, error) {
	p := s.client.Pipeline()
	replies := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		replies[i] = p.EvalSha(ctx, script.Hash(), []string{c.key}, c.args...)
	}
	if _, err := p.Exec(ctx); err != nil {
		return nil, err
	}
	return replies, nil
}

package store

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// invocation is one call of a script.
type invocation struct {
	script *redis.Script
	keys   []string
	args   []any
}

// invoke calls scripts in one pipeline, those on one slot in order, and returns
// the replies. A server that does not have a script gets it, and then all calls
// again: they must bear being done twice.
func (s *Store) invoke(ctx context.Context, what string, calls ...invocation) ([]*redis.Cmd, error) {
	replies, err := s.queueInvocations(ctx, calls)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := s.load(ctx, calls); err != nil {
			return nil, s.failed(ctx, what, err)
		}
		replies, err = s.queueInvocations(ctx, calls)
	}
	return replies, s.failed(ctx, what, err)
}

// load gives the scripts of calls to the servers.
func (s *Store) load(ctx context.Context, calls []invocation) error {
	loaded := map[*redis.Script]bool{}
	for _, c := range calls {
		if !loaded[c.script] {
			if err := c.script.Load(ctx, s.client).Err(); err != nil {
				return err
			}
			loaded[c.script] = true
		}
	}
	return nil
}

// queueInvocations sends the calls and returns the first error of any.
func (s *Store) queueInvocations(ctx context.Context, calls []invocation) ([]*redis.Cmd, error) {
	p := s.client.Pipeline()
	replies := make([]*redis.Cmd, len(calls))
	for i, c := range calls {
		replies[i] = p.EvalSha(ctx, c.script.Hash(), c.keys, c.args...)
	}
	_, err := p.Exec(ctx)
	for _, r := range replies {
		if r.Err() != nil && r.Err() != redis.Nil {
			return nil, r.Err()
		}
	}
	if err == redis.Nil {
		err = nil
	}
	return replies, err
}

// scriptCall is one of several calls of a script: the key that it works on, and
// its ARGV.
type scriptCall struct {
	key  string
	args []any
}

// runEach invokes one script several times.
func (s *Store) runEach(ctx context.Context, what string, script *redis.Script, calls []scriptCall) ([]*redis.Cmd, error) {
	all := make([]invocation, len(calls))
	for i, c := range calls {
		all[i] = invocation{script, []string{c.key}, c.args}
	}
	return s.invoke(ctx, what, all...)
}

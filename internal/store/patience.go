package store

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// patience bounds what is sent at once, with every time that it is sent again,
// by answerTimeout. The client's own limits hold for each attempt and for each
// step of connecting, which add up to half a minute when a server accepts
// connections and then says nothing.
type patience struct{}

// DialHook implements redis.Hook.
func (patience) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (patience) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (patience) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		return next(ctx, cmds)
	}
}

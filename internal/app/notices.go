package app

import (
	"context"
	"time"

	"bitboard/internal/web"
)

// noticeTimeout is how long a page waits for what the store says about itself.
const noticeTimeout = 200 * time.Millisecond

// notices returns what every page says about the store. A store that does not
// answer in time has none: the page says so itself.
func notices(d *data) func(context.Context) []web.Notice {
	if d.demo {
		return demoNotice
	}
	if d.inMemory {
		return inMemoryNotice
	}
	return func(ctx context.Context) []web.Notice {
		ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
		defer cancel()
		policy, err := d.EvictionPolicy(ctx)
		if err != nil || policy == "" {
			return nil
		}
		return []web.Notice{{Kind: "error", Title: "eviction.title", Message: "eviction.message", Values: []string{"policy", policy}}}
	}
}

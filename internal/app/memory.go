package app

import (
	"context"
	"errors"
	"time"

	"bitboard/internal/config"
	"bitboard/internal/store/embedded"
	"bitboard/internal/store/memory"
	"bitboard/internal/web"
)

// openServed opens the store for a server, which goes on in memory when there
// is no program to keep the data. For any other command that would be of no
// use: what it writes would be gone when it ends, and it would find nothing.
func openServed(ctx context.Context, c config.Config, o ServeOptions) (*data, error) {
	if o.Demo {
		return openDemo(ctx, c, time.Now())
	}
	d, err := openData(ctx, c)
	if !errors.Is(err, embedded.ErrNoProgram) {
		return d, err
	}
	o.Log.WarnContext(ctx, "serving from memory: what is written is gone when this program ends; install Redis 7 or later, or give --redis",
		"reason", embedded.ErrNoProgram)
	return openInMemory(ctx, c)
}

// openInMemory opens a new store in this process's memory.
func openInMemory(ctx context.Context, c config.Config) (*data, error) {
	address, stop, err := memory.Start()
	if err != nil {
		return nil, err
	}
	d := &data{inMemory: true, stop: func(context.Context) error { stop(); return nil }}
	if err := d.open(ctx, storeConfig(c, address)); err != nil {
		return nil, errors.Join(err, d.end(ctx))
	}
	return d, nil
}

// inMemoryNotice is what every page says when nothing is kept.
func inMemoryNotice(context.Context) []web.Notice {
	return []web.Notice{{Kind: "warning", Title: "in_memory.title", Message: "in_memory.message"}}
}

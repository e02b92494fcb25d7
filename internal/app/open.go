package app

import (
	"context"
	"errors"
	"time"

	"bitboard/internal/config"
	"bitboard/internal/fault"
	"bitboard/internal/ingest"
	"bitboard/internal/store"
	"bitboard/internal/store/address"
	"bitboard/internal/store/embedded"
)

const (
	// openTimeout bounds the first contact with the store.
	openTimeout = 5 * time.Second
	// stopTimeout is what a private server gets to end in order.
	stopTimeout = 4 * time.Second
)

// data is an open store, with the private server under it if there is one.
type data struct {
	*store.Store
	stop func(context.Context) error
	// inMemory is true when the data go away with this process.
	inMemory bool
	// demo is true when they are made up.
	demo bool
}

// openData opens the store that the configuration names.
func openData(ctx context.Context, c config.Config) (*data, error) {
	d := &data{stop: func(context.Context) error { return nil }}
	url := c.Redis
	if c.Redis == config.Embedded {
		var err error
		if url, d.stop, err = embedded.Start(ctx, c.DataDir); err != nil {
			return nil, ofSettings(err)
		}
	}
	if err := d.open(ctx, storeConfig(c, url)); err != nil {
		return nil, errors.Join(err, d.end(ctx))
	}
	return d, nil
}

func (d *data) open(ctx context.Context, c store.Config) (err error) {
	short, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	d.Store, err = store.Open(short, c)
	if err != nil && errors.Is(short.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return fault.Unavailable(err, "the store at %s did not answer within %s", address.Show(c.URL), openTimeout)
	}
	return ofSettings(err)
}

// Close closes the store and ends the private server.
func (d *data) Close(ctx context.Context) error {
	return errors.Join(d.Store.Close(), d.end(ctx))
}

// end ends the private server also when ctx has ended, which is the usual reason to end.
func (d *data) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return d.stop(ctx)
}

// ofSettings marks an error about a setting as wrong usage.
func ofSettings(err error) error {
	if errors.Is(err, fault.ErrInvalid) {
		return wrongUsage(err)
	}
	return err
}

func storeConfig(c config.Config, url string) store.Config {
	keep := map[string]int{}
	for _, m := range c.Workspace.Metrics {
		if m.Keep > 0 {
			keep[m.Name] = m.Keep
		}
	}
	existing := map[string]store.Existing{}
	for metric, e := range c.Existing {
		existing[metric] = store.Existing(e)
	}
	return store.Config{
		URL: url, Prefix: c.Prefix,
		SegmentBits: c.SegmentBits, MaxOffset: c.MaxOffset, Dense: c.DenseIDs,
		Zone: c.Workspace.Zone.String(), Location: c.Workspace.Zone,
		TempTTL: c.Engine.TempTTL, Keep: keep, Existing: existing, Known: c.Known, MaxBitopBytes: c.Engine.MaxBitopBytes,
	}
}

// intake is what takes in marks under a configuration.
func intake(c config.Config, d *data) (*ingest.Service, error) {
	return ingest.New(ingest.Config{
		Store: d.Store, Workspace: c.Workspace, Events: c.Events, Dense: c.DenseIDs, MaxOffset: c.MaxOffset,
	})
}

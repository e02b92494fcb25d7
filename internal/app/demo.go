package app

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/config"
	"bitboard/internal/demo"
	"bitboard/internal/fault"
	"bitboard/internal/web"
)

// openDemo opens a new store in memory that holds the activity of a product
// which does not exist.
func openDemo(ctx context.Context, c config.Config, now time.Time) (*data, error) {
	d, err := openInMemory(ctx, c)
	if err != nil {
		return nil, err
	}
	d.demo = true
	today := cohort.DayOf(now, c.Workspace.Zone)
	start, end := today.Start(c.Workspace.Zone), (today + 1).Start(c.Workspace.Zone)
	share := now.Sub(start).Seconds() / end.Sub(start).Seconds()
	if _, err := d.Merge(ctx, demo.Marks(today, max(share, 0.01))); err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

// checkDemo reports what a demonstration cannot be served with.
func checkDemo(c config.Config) error {
	if c.Redis != config.Embedded {
		return wrongUsage(fault.Invalid("not_with_demo", "redis", "--demo serves sample data from memory; leave --redis away"))
	}
	if entries, err := os.ReadDir(c.DataDir); err == nil && len(entries) > 0 {
		return wrongUsage(fault.Invalid("not_with_demo", "data_dir",
			"--demo serves sample data from memory and would hide the data in %s; leave --demo away to serve them, or give another --data-dir", c.DataDir))
	}
	for _, name := range slices.Sorted(maps.Keys(demo.Metrics)) {
		if m, ok := c.Workspace.Metric(name); !ok || m.Kind != demo.Metrics[name] {
			return wrongUsage(fault.Invalid("not_with_demo", "metrics", "--demo needs the %s metric %s, which the configuration does not have", demo.Metrics[name], name))
		}
	}
	return nil
}

// demoNotice is what every page of a demonstration says.
func demoNotice(context.Context) []web.Notice {
	return []web.Notice{{Kind: "info", Title: "demo.title", Message: "demo.message"}}
}

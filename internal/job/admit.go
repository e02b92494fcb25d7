package job

import (
	"context"
	"time"
)

// Admit waits until work of a cost, in bytes, may begin, and notes the engine that
// does it.
func (r *Run) Admit(ctx context.Context, cost int64, engine string) error {
	r.mu.Lock()
	r.job.Cost += cost
	r.job.Engine = engine
	cost = r.job.Cost
	r.mu.Unlock()
	if cost < cheap {
		return nil
	}
	if err := r.awaitOffPeak(ctx, cost); err != nil {
		return err
	}
	return r.takeSlot(ctx)
}

// awaitOffPeak keeps work that costs too much out of the busy hours.
func (r *Run) awaitOffPeak(ctx context.Context, cost int64) error {
	c := r.runner.config
	if c.CostLimit == 0 || cost <= c.CostLimit {
		return nil
	}
	every := time.NewTicker(BeatEvery)
	defer every.Stop()
	defer r.enter(Running)
	for !c.OffPeak(c.Now()) {
		r.enter(Waiting)
		r.register(ctx)
		select {
		case <-r.hurry:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
		}
	}
	return nil
}

// takeSlot waits until few enough others are worked on. The slot is given back at
// the end of the run, whose questions share it.
func (r *Run) takeSlot(ctx context.Context) error {
	r.admitting.Lock()
	defer r.admitting.Unlock()
	if r.slot {
		return nil
	}
	select {
	case r.runner.slots <- struct{}{}:
	default:
		r.enter(Queued)
		defer r.enter(Running)
		select {
		case r.runner.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slot = true
	return nil
}

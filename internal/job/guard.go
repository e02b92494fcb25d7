package job

import (
	"context"
	"errors"
	"sync"
	"time"

	"bitboard/internal/fault"
)

const (
	// turnLife is how long the turn of a process that died keeps others from theirs.
	turnLife = 2 * time.Second
	// quickest is a latency, of a command that does next to nothing, that is never
	// taken for slow.
	quickest = 250 * time.Microsecond
	// slowest is by how much more a job waits when the store is slow, at most.
	slowest = 8
	// shortest is the shortest pause.
	shortest = time.Millisecond
	// weight is that of the newest latency in the mean.
	weight = 0.2
)

// meter is how long a run has kept the store busy: while at least one piece of work
// was under way there.
type meter struct {
	underWay int
	since    time.Time
	busy     time.Duration
}

func (m *meter) begin(now time.Time) {
	if m.underWay == 0 {
		m.since = now
	}
	m.underWay++
}

func (m *meter) end(now time.Time) {
	if m.underWay--; m.underWay == 0 {
		m.busy += now.Sub(m.since)
	}
}

// total is what was measured up to now.
func (m *meter) total(now time.Time) time.Duration {
	if m.underWay == 0 {
		return m.busy
	}
	return m.busy + now.Sub(m.since)
}

// pulse is how quick the store answers a command that does next to nothing.
type pulse struct {
	mu          sync.Mutex
	mean, usual time.Duration
}

// note adds a latency. What is usual rises slowly, so that a store which is slow for
// a while is not taken for one that always is.
func (p *pulse) note(latency time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mean == 0 {
		p.mean, p.usual = latency, latency
	}
	p.mean += time.Duration(weight * float64(latency-p.mean))
	p.usual = min(p.mean, p.usual+p.usual/1000)
}

// slowness is how many times slower than usual the store is, from 1 on.
func (p *pulse) slowness() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(max(float64(p.mean)/float64(max(p.usual, quickest)), 1), slowest)
}

// Guard is what keeps jobs from being felt, and what it did.
type Guard struct {
	// Share is the part of the store's time that jobs may take now, from 0 to 1.
	Share float64
	// Burst is the time of the store that a job may take before.
	Burst time.Duration
	// Latency is how long the store takes for a command that does next to nothing,
	// lately, and Usual what is usual; both are 0 before a job was guarded.
	Latency, Usual time.Duration
	// Slowness is by what the pauses are multiplied, as the store is slow.
	Slowness float64
}

// Guard says what the guard of this process does now.
func (r *Runner) Guard() Guard {
	slow := r.pulse.slowness()
	r.pulse.mu.Lock()
	defer r.pulse.mu.Unlock()
	return Guard{r.share(), r.config.Burst, r.pulse.mean, r.pulse.usual, slow}
}

// share is the part of the store's time that jobs may take now.
func (r *Runner) share() float64 {
	if r.config.Share == 0 || r.config.OffPeak(r.config.Now()) {
		return 1
	}
	return r.config.Share
}

// Turn waits until the store may be given the next piece of work. Within the burst
// it never waits. Past it one piece is under way at a time, over all processes, and
// after each there is a pause which keeps the store free for its share of the time,
// and for longer while it is slow.
func (r *Run) Turn(ctx context.Context) (gentle bool, done func(), err error) {
	share := r.runner.share()
	begun := r.runner.config.Now()
	if share >= 1 || r.kept(begun) < r.runner.config.Burst {
		r.begin(begun)
		return false, r.finish, nil
	}
	if err := r.runner.takeTurn(ctx, r.question.Name()); err != nil {
		return true, nil, err
	}
	now := r.runner.config.Now()
	r.mu.Lock()
	r.job.Waited += now.Sub(begun)
	r.mu.Unlock()
	r.begin(now)
	return true, func() {
		r.finish()
		r.runner.endTurn(ctx, pause(r.runner.config.Now().Sub(now), share, r.runner.pulse.slowness()))
	}, nil
}

// pause is how long the store is left alone after work on it.
func pause(work time.Duration, share, slowness float64) time.Duration {
	return time.Duration(float64(work) * (1/share - 1) * slowness)
}

// kept is how long the run has kept the store busy.
func (r *Run) kept(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.meter.total(now)
}

func (r *Run) begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.meter.begin(now)
}

func (r *Run) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.meter.end(r.runner.config.Now())
	r.job.Busy = r.meter.busy
}

// takeTurn waits until no process has its turn, or pauses after it.
func (r *Runner) takeTurn(ctx context.Context, who string) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		begun := r.config.Now()
		wait, err := r.config.Store.TakeTurn(ctx, r.owner+who, turnLife)
		if errors.Is(err, fault.ErrNoWrites) {
			return nil // questions are answered all the same; this process keeps its pauses
		}
		if err != nil {
			<-r.turn
			return err
		}
		r.pulse.note(r.config.Now().Sub(begun))
		if wait == 0 {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			<-r.turn
			return ctx.Err()
		}
	}
}

// endTurn lets the next have their turn after a pause. Pauses too short for the store
// add up.
func (r *Runner) endTurn(ctx context.Context, pause time.Duration) {
	r.owed += pause
	pause = r.owed
	if pause < shortest {
		pause = 0
	}
	r.owed -= pause
	if err := r.config.Store.EndTurn(context.WithoutCancel(ctx), pause); err != nil {
		time.AfterFunc(pause, func() { <-r.turn })
		return
	}
	<-r.turn
}

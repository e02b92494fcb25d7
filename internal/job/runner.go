package job

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"bitboard/internal/fault"
)

// resultLimit is the most bytes of a result that are kept for others.
const resultLimit = 8 << 20

// Config is what a Runner is made of.
type Config struct {
	Store Store
	Now   func() time.Time
	// CostLimit is the cost, in bytes, above which work waits for the off-peak
	// hours; 0 is no limit.
	CostLimit int64
	// Share is the part of the store's time that jobs may take together outside the
	// off-peak hours, once each has taken Burst of it; 0 is no limit.
	Share float64
	Burst time.Duration
	// OffPeak reports whether an instant is in the off-peak hours.
	OffPeak func(time.Time) bool
	Log     *slog.Logger
}

// Runner runs the questions of one process. It is safe for concurrent use.
type Runner struct {
	config Config
	owner  string
	ctx    context.Context //nolint:containedctx // runs outlive the requests that begin them, and end with the runner
	slots  chan struct{}
	turn   chan struct{} // held by the run whose turn it is
	owed   time.Duration // of pauses; whoever has the turn may touch it
	pulse  pulse

	mu    sync.Mutex
	runs  map[string]*Run // under way, by question
	late  map[string]*Run // ended lately, with an asker who was told to come back
	alive sync.WaitGroup
}

// New returns a runner whose runs end with ctx.
func New(ctx context.Context, c Config) *Runner {
	return &Runner{
		config: c, owner: rand.Text(), ctx: ctx, slots: make(chan struct{}, largeAtOnce), turn: make(chan struct{}, 1),
		runs: map[string]*Run{}, late: map[string]*Run{},
	}
}

// Wait waits for all runs to end; the context of New must have ended.
func (r *Runner) Wait() { r.alive.Wait() }

// Do answers a question by doing work, or by what is under way already. After the
// patience it returns the job that the work has become instead, and asking again
// gets the rest. The work of an asker who leaves before ends with the context.
func (r *Runner) Do(ctx context.Context, q Question, patience time.Duration, work Work) (Result, *Job, error) {
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		run, joined := r.join(q, work) //nolint:contextcheck // a run ends with the runner
		select {
		case <-run.done:
		case <-end.C:
			run.register(ctx)
			if j, ok := run.hand(); ok {
				return Result{}, &j, nil
			}
			<-run.done
		case <-ctx.Done():
			run.leave()
			return Result{}, nil, ctx.Err()
		}
		run.leave()
		if !joined || r.current(ctx, run) {
			return run.result, nil, run.err
		}
		// What that run computed and is still right is kept: little is left to do.
		q.Refresh = q.Refresh && run.err != nil
	}
}

// current reports whether what another asker's run found answers this one too: when
// that one did not just leave, and nothing was written since it began. A run whose
// answer is wanted no more is given away once, or forgotten.
func (r *Runner) current(ctx context.Context, run *Run) bool {
	state, err := r.config.Store.State(ctx)
	// A store that is away is said by whoever asks it next.
	current := !errors.Is(run.err, context.Canceled) && (run.err != nil || err != nil || state == run.seen)
	r.mu.Lock()
	defer r.mu.Unlock()
	if name := run.question.Name(); r.late[name] == run && (!current || run.err != nil || run.question.Refresh) {
		delete(r.late, name)
	}
	return current
}

// join returns the run of a question, which it begins unless there is one.
func (r *Runner) join(q Question, work Work) (run *Run, joined bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run, joined = r.runs[q.Name()]
	if late, ok := r.late[q.Name()]; !joined && ok {
		run, joined = late, r.config.Now().Sub(late.job.EndedAt) < handOver
	}
	if joined {
		run.mu.Lock()
		defer run.mu.Unlock()
		run.askers++
		return run, true
	}
	return r.begin(Job{ID: rand.Text(), Question: q, State: Running, Owner: r.owner, Attempts: 1, CreatedAt: r.config.Now()}, work), false
}

// begin begins to work on a job; r.mu is held.
func (r *Runner) begin(j Job, work Work) *Run {
	ctx, quit := context.WithCancel(r.ctx)
	run := &Run{
		runner: r, question: j.Question, work: work, job: j, askers: 1, seen: r.config.Store.SeenState(),
		quit: quit, breakOff: quit, done: make(chan struct{}), hurry: make(chan struct{}),
	}
	r.runs[run.question.Name()] = run
	r.alive.Go(func() {
		defer quit()
		run.run(ctx)
	})
	r.alive.Go(func() { run.watch(ctx) })
	return run
}

// ended takes a run off the list of those under way.
func (r *Runner) ended(run *Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.config.Now()
	maps.DeleteFunc(r.late, func(_ string, late *Run) bool { return now.Sub(late.job.EndedAt) >= handOver })
	if name := run.question.Name(); r.runs[name] == run {
		delete(r.runs, name)
		if run.handed && !run.cancelled {
			r.late[name] = run
		}
	}
}

// record tells everybody how a job ended.
func (r *Runner) record(ctx context.Context, j Job, result Result) {
	var kept []byte
	var err error
	if j.State == Done && j.Question.Keep && len(result.Body) <= resultLimit {
		kept, err = json.Marshal(result)
	}
	if err = errors.Join(err, r.config.Store.EndJob(ctx, j, kept)); err != nil {
		r.config.Log.Warn("the end of a job could not be recorded", "job", j.ID, "error", err)
	}
}

// Job returns a job, of this process or another.
func (r *Runner) Job(ctx context.Context, id string) (Job, error) {
	j, ok, err := r.config.Store.Job(ctx, id)
	if own := r.own(id); own != nil && own.follows() == "" {
		held := j.Held
		j = own.Job()
		j.Held = held
		return j, nil
	}
	if err != nil {
		return Job{}, err
	}
	if !ok {
		return Job{}, fault.NotFound("unknown_job", "there is no job %s; it may have ended more than a day ago", fault.Show(id)).Say("jobs.unknown", "id", id)
	}
	return j, nil
}

// own returns a run of this process, under way or ended lately, or nil.
func (r *Runner) own(id string) *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, runs := range []map[string]*Run{r.runs, r.late} {
		for _, run := range runs {
			if run.Job().ID == id {
				return run
			}
		}
	}
	return nil
}

// Jobs returns all jobs, the newest first.
func (r *Runner) Jobs(ctx context.Context) ([]Job, error) {
	return r.config.Store.Jobs(ctx)
}

// Result returns the answer of a job that is done; ok is false when it was not kept.
func (r *Runner) Result(ctx context.Context, id string) (result Result, ok bool, err error) {
	if own := r.own(id); own != nil && own.Job().State == Done {
		<-own.done
		return own.result, true, nil
	}
	kept, err := r.config.Store.JobResult(ctx, id)
	if err != nil || kept == nil {
		return Result{}, false, err
	}
	err = json.Unmarshal(kept, &result)
	return result, err == nil, err
}

// Order makes whoever runs a job cancel it, or go on without waiting for the
// off-peak hours. It is an ErrConflict when the job has ended.
func (r *Runner) Order(ctx context.Context, id string, o Orders) error {
	j, err := r.Job(ctx, id)
	if err != nil {
		return err
	}
	if j.State.Ended() {
		return fault.Conflict("job_ended", "the job %s has ended; there is nothing left to change", id).Say("jobs.ended")
	}
	if own := r.own(id); own != nil && own.follows() == "" {
		own.obey(o)
		return nil
	}
	if o.Cancel && !j.Held {
		j.State, j.Problem, j.EndedAt = Failed, problemOf(cancelled()), r.config.Now()
		return r.config.Store.EndJob(ctx, j, nil)
	}
	return r.config.Store.OrderJob(ctx, id, o)
}

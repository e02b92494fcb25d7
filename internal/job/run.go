package job

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Work computes an answer. What it needs of the run that it is done for it finds in
// the context, with RunOf.
type Work func(ctx context.Context, refresh bool) (Result, error)

// Run is the working on a question, and the job that it becomes when it takes long.
// Its methods are safe for concurrent use.
type Run struct {
	runner   *Runner
	question Question
	work     Work
	seen     string             // the state of the data when it began
	quit     context.CancelFunc // ends it
	done     chan struct{}
	hurry    chan struct{} // closed when it need not wait for the off-peak hours

	telling   sync.Mutex // held while the store is told of the job, so that its end comes last
	admitting sync.Mutex // held while it is waited for a slot

	mu            sync.Mutex
	job           Job
	expected, did int64
	askers        int
	breakOff      context.CancelFunc // ends the present attempt
	cancelled     bool               // somebody cancelled it
	registered    bool               // it is a job
	handed        bool               // somebody was told that it goes on
	followed      string             // the job of another process that asks the same
	slot, hurried bool
	meter         meter

	result Result // once it is done
	err    error
}

type runKey struct{}

// RunOf returns the run that a context belongs to, or nil.
func RunOf(ctx context.Context) *Run {
	r, _ := ctx.Value(runKey{}).(*Run)
	return r
}

// Expect adds to the work that there is, in any unit of its own.
func (r *Run) Expect(amount int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected += int64(amount)
}

// Did adds to what is done of the work.
func (r *Run) Did(amount int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.did += int64(amount)
	// Several questions of one run add their work one after the other; what was
	// shown never falls.
	r.job.Progress = max(r.job.Progress, float64(r.did)/float64(max(r.expected, r.did, 1)))
}

// Job returns what the run is at.
func (r *Run) Job() Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.job
}

func (r *Run) enter(s State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.job.State = s
}

// run does the work, again when another process turned out to be at it.
func (r *Run) run(ctx context.Context) {
	defer close(r.done)
	refresh := r.question.Refresh
	for {
		r.result, r.err = r.attempt(ctx, refresh)
		other := r.follows()
		if other == "" || ctx.Err() != nil {
			break
		}
		computed, err := r.follow(ctx, other)
		if r.err = err; err != nil {
			break
		}
		refresh = refresh && !computed
	}
	r.end(ctx)
}

// attempt does the work once.
func (r *Run) attempt(ctx context.Context, refresh bool) (Result, error) {
	ctx, stop := context.WithCancel(context.WithValue(ctx, runKey{}, r))
	defer stop()
	r.mu.Lock()
	r.breakOff, r.followed = stop, ""
	r.mu.Unlock()
	return r.work(ctx, refresh)
}

func (r *Run) follows() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.followed
}

// follow waits until another process has computed the same, or becomes the owner of
// its job when that process is gone.
func (r *Run) follow(ctx context.Context, id string) (computed bool, err error) {
	every := time.NewTicker(BeatEvery / 2)
	defer every.Stop()
	for {
		j, ok, err := r.runner.config.Store.Job(ctx, id)
		switch {
		case err != nil:
			return false, err
		case !ok || j.State == Done:
			return true, nil
		case j.State == Failed:
			return false, j.Problem.err()
		case !j.Held:
			if j, ok, err = r.runner.take(ctx, j); ok || err != nil {
				r.adopt(j)
				return false, err
			}
		}
		r.mu.Lock()
		r.job = j
		r.mu.Unlock()
		select {
		case <-every.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// adopt makes a job that was another process's this run's.
func (r *Run) adopt(j Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.job, r.registered = j, true
}

// register makes the run a job that everybody sees. When the store takes none, it is
// one for this process alone.
func (r *Run) register(ctx context.Context) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.mu.Lock()
	j, needless := r.job, r.registered || r.followed != "" || r.job.State.Ended()
	r.mu.Unlock()
	if needless {
		return
	}
	other, started, err := r.runner.config.Store.StartJob(ctx, j)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && !started {
		r.followed, r.job = other.ID, other
		r.breakOff()
		return
	}
	r.registered = true
}

// watch makes the run a job when it takes long, and tells others what it is at.
func (r *Run) watch(ctx context.Context) {
	select {
	case <-r.done:
		return
	case <-time.After(registerAfter):
	}
	every := time.NewTicker(BeatEvery)
	defer every.Stop()
	for {
		r.register(ctx)
		r.beat(ctx)
		select {
		case <-r.done:
			return
		case <-every.C:
		}
	}
}

// beat says to everybody that the job goes on. What cannot be said now is said with
// the next one.
func (r *Run) beat(ctx context.Context) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.mu.Lock()
	j, needless := r.job, !r.registered || r.job.State.Ended()
	r.mu.Unlock()
	if needless {
		return
	}
	if orders, err := r.runner.config.Store.BeatJob(ctx, j); err == nil {
		r.obey(orders)
	}
}

// obey does what others want.
func (r *Run) obey(o Orders) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.Cancel && !r.job.State.Ended() {
		r.cancelled = true
		r.quit()
	}
	if o.Now && !r.hurried {
		r.hurried = true
		close(r.hurry)
	}
}

// leave is called when an asker no longer waits. Work that is no job yet, and that
// nobody waits for, ends.
func (r *Run) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.askers--
	if r.askers == 0 && !r.registered && !r.handed {
		r.quit()
	}
}

// hand returns the job for an asker who is told to come back; ok is false when the
// answer is there.
func (r *Run) hand() (j Job, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.job.State.Ended() {
		return r.job, false
	}
	r.askers--
	r.handed = true
	return r.job, true
}

// end notes how the work ended, and tells everybody if it was a job.
func (r *Run) end(ctx context.Context) {
	r.mu.Lock()
	if r.slot {
		<-r.runner.slots
	}
	if r.cancelled && errors.Is(r.err, context.Canceled) {
		r.err = cancelled()
	}
	r.job.EndedAt = r.runner.config.Now()
	if r.job.State, r.job.Progress = Done, 1; r.err != nil {
		r.job.State, r.job.Problem = Failed, problemOf(r.err)
	}
	r.mu.Unlock()
	r.runner.ended(r)
	r.telling.Lock()
	defer r.telling.Unlock()
	// When this process stops, another takes its jobs over.
	if r.registered && r.runner.ctx.Err() == nil {
		r.runner.record(context.WithoutCancel(ctx), r.job, r.result)
	}
}

package job

import (
	"context"
	"time"
)

// adoptEvery is how often one looks for jobs whose process is gone.
const adoptEvery = 5 * time.Second

// Adopt takes over the jobs of processes that are gone, until ctx ends. Again
// returns the work of a question that another process was asked.
func (r *Runner) Adopt(ctx context.Context, again func(Question) Work) {
	every := time.NewTicker(adoptEvery)
	defer every.Stop()
	for {
		if err := r.adopt(ctx, again); err != nil && ctx.Err() == nil {
			r.config.Log.Debug("jobs of processes that are gone could not be looked for", "error", err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// adopt takes over what is there to be taken over now.
func (r *Runner) adopt(ctx context.Context, again func(Question) Work) error {
	jobs, err := r.config.Store.Jobs(ctx)
	for _, j := range jobs {
		if err != nil {
			return err
		}
		if !j.State.Ended() && !j.Held {
			err = r.adoptOne(ctx, j, again)
		}
	}
	return err
}

func (r *Runner) adoptOne(ctx context.Context, j Job, again func(Question) Work) error {
	r.mu.Lock()
	_, asked := r.runs[j.Question.Name()]
	r.mu.Unlock()
	if asked {
		return nil // that run follows the job, and takes it over
	}
	j, taken, err := r.take(ctx, j)
	if err != nil || !taken {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, asked := r.runs[j.Question.Name()]; asked {
		return nil // in a moment nobody holds it again
	}
	run := r.begin(j, again(j.Question)) //nolint:contextcheck // a run ends with the runner
	run.mu.Lock()
	defer run.mu.Unlock()
	run.askers, run.registered, run.handed = 0, true, true
	return nil
}

// take makes this process the owner of a job whose process is gone. A job over which
// several processes died has failed.
func (r *Runner) take(ctx context.Context, j Job) (Job, bool, error) {
	taken, err := r.config.Store.TakeJob(ctx, j.ID, r.owner)
	if err != nil || !taken {
		return j, false, err
	}
	j.Owner, j.Progress, j.Cost, j.State, j.Held = r.owner, 0, 0, Running, true
	if j.Attempts++; j.Attempts > attempts {
		j.State, j.Problem, j.EndedAt = Failed, abandoned(), r.config.Now()
		return j, false, r.config.Store.EndJob(ctx, j, nil)
	}
	return j, true, nil
}

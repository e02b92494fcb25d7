package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/job"
)

const (
	// jobLife is how long a job is listed.
	jobLife = 24 * time.Hour
	// resultLife is how long its result can be fetched.
	resultLife = time.Hour
	// jobsListed is how many jobs are listed at most.
	jobsListed = 200
)

// StartJob records a job, which its owner then holds. While another that asks the
// same is under way it records nothing and returns that one.
func (s *Store) StartJob(ctx context.Context, j job.Job) (other job.Job, started bool, err error) {
	asked := s.keys.jobAsked(j.Question.Name())
	for {
		id, err := s.client.SetArgs(ctx, asked, j.ID, redis.SetArgs{Mode: "NX", Get: true, TTL: jobLife}).Result()
		if errors.Is(err, redis.Nil) || err == nil && id == j.ID {
			_, err = s.BeatJob(ctx, j)
			return j, true, err
		}
		if err != nil {
			return job.Job{}, false, s.failed(ctx, "record a job", err)
		}
		other, ok, err := s.Job(ctx, id)
		if err != nil || ok && !other.State.Ended() {
			return other, false, err
		}
		if err := releaseScript.Run(ctx, s.client, []string{asked}, id).Err(); err != nil {
			return job.Job{}, false, s.failed(ctx, "record a job", err)
		}
	}
}

// BeatJob records what a job is at, lets its owner go on holding it, and returns
// what others want of it.
func (s *Store) BeatJob(ctx context.Context, j job.Job) (job.Orders, error) {
	p := s.client.TxPipeline()
	if err := s.writeJob(ctx, p, j); err != nil {
		return job.Orders{}, err
	}
	p.Set(ctx, s.keys.jobLease(j.ID), j.Owner, leaseTTL)
	orders := p.MGet(ctx, s.keys.jobOrder(j.ID, "cancel"), s.keys.jobOrder(j.ID, "now"))
	if err := s.exec(ctx, "record a job", p); err != nil {
		return job.Orders{}, err
	}
	return job.Orders{Cancel: orders.Val()[0] != nil, Now: orders.Val()[1] != nil}, nil
}

// writeJob adds the record of a job to a transaction.
func (s *Store) writeJob(ctx context.Context, p redis.Pipeliner, j job.Job) error {
	record, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("store: record a job: %w", err)
	}
	p.Set(ctx, s.keys.job(j.ID), record, jobLife)
	p.ZAdd(ctx, s.keys.jobs(), redis.Z{Score: float64(j.CreatedAt.UnixMilli()), Member: j.ID})
	p.ZRemRangeByRank(ctx, s.keys.jobs(), 0, -jobsListed-1)
	p.Expire(ctx, s.keys.jobs(), jobLife)
	return nil
}

// EndJob records the end of a job, and its result unless that is nil. Nobody holds
// it any more.
func (s *Store) EndJob(ctx context.Context, j job.Job, result []byte) error {
	p := s.client.TxPipeline()
	if err := s.writeJob(ctx, p, j); err != nil {
		return err
	}
	if result != nil {
		p.Set(ctx, s.keys.jobResult(j.ID), result, resultLife)
	}
	p.Unlink(ctx, s.keys.jobLease(j.ID), s.keys.jobOrder(j.ID, "cancel"), s.keys.jobOrder(j.ID, "now"))
	releaseScript.Eval(ctx, p, []string{s.keys.jobAsked(j.Question.Name())}, j.ID)
	return s.exec(ctx, "record the end of a job", p)
}

// TakeJob makes a process the owner of a job whose owner is gone.
func (s *Store) TakeJob(ctx context.Context, id, owner string) (taken bool, err error) {
	taken, err = s.client.SetNX(ctx, s.keys.jobLease(id), owner, leaseTTL).Result()
	return taken, s.failed(ctx, "take over a job", err)
}

// Job returns one job; ok is false when there is none.
func (s *Store) Job(ctx context.Context, id string) (j job.Job, ok bool, err error) {
	found, err := s.readJobs(ctx, []string{id})
	if err != nil || len(found) == 0 {
		return job.Job{}, false, err
	}
	return found[0], true, nil
}

// Jobs returns all jobs, the newest first.
func (s *Store) Jobs(ctx context.Context) ([]job.Job, error) {
	ids, err := s.client.ZRevRange(ctx, s.keys.jobs(), 0, jobsListed-1).Result()
	if err != nil {
		return nil, s.failed(ctx, "list the jobs", err)
	}
	return s.readJobs(ctx, ids)
}

// readJobs returns those of some jobs that there are.
func (s *Store) readJobs(ctx context.Context, ids []string) ([]job.Job, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	names := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		names = append(names, s.keys.job(id), s.keys.jobLease(id))
	}
	values, err := s.client.MGet(ctx, names...).Result()
	if err != nil {
		return nil, s.failed(ctx, "read jobs", err)
	}
	var jobs []job.Job
	for i := range ids {
		record, ok := values[2*i].(string)
		if !ok {
			continue
		}
		var j job.Job
		if err := json.Unmarshal([]byte(record), &j); err != nil {
			return nil, damagedKey(s.keys.job(ids[i]), "job")
		}
		j.Held = values[2*i+1] != nil
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// JobResult returns the result of a job that is done; nil when it is not kept.
func (s *Store) JobResult(ctx context.Context, id string) ([]byte, error) {
	result, err := s.client.Get(ctx, s.keys.jobResult(id)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return result, s.failed(ctx, "read the result of a job", err)
}

// OrderJob tells a job's owner what is wanted.
func (s *Store) OrderJob(ctx context.Context, id string, o job.Orders) error {
	p := s.client.TxPipeline()
	if o.Cancel {
		p.Set(ctx, s.keys.jobOrder(id, "cancel"), 1, resultLife)
	}
	if o.Now {
		p.Set(ctx, s.keys.jobOrder(id, "now"), 1, resultLife)
	}
	return s.exec(ctx, "order a job", p)
}

// TakeTurn gives the turn to work on the data to one process, for its life at most;
// otherwise it returns how long to wait before asking again.
func (s *Store) TakeTurn(ctx context.Context, who string, life time.Duration) (wait time.Duration, err error) {
	p := s.client.Pipeline()
	taken := p.SetNX(ctx, s.keys.jobTurn(), who, life)
	left := p.PTTL(ctx, s.keys.jobTurn())
	if err := s.exec(ctx, "take a turn", p); err != nil || taken.Val() {
		return 0, err
	}
	return max(left.Val(), time.Millisecond), nil
}

// EndTurn gives the turn back, which nobody gets before a pause, in whole
// milliseconds, is over.
func (s *Store) EndTurn(ctx context.Context, pause time.Duration) error {
	if pause == 0 {
		return s.failed(ctx, "end a turn", s.client.Unlink(ctx, s.keys.jobTurn()).Err())
	}
	return s.failed(ctx, "end a turn", s.client.Set(ctx, s.keys.jobTurn(), "pause", pause).Err())
}

// State names the state of the data: when two are equal, no write was acknowledged
// between them.
func (s *Store) State(ctx context.Context) (string, error) {
	now, err := s.now(ctx)
	return now.name(), err
}

// SeenState is the newest State that this process knows of, without asking.
func (s *Store) SeenState() string { return s.view.newest.Load().name() }

func (m moment) name() string { return fmt.Sprint(m) }

// Package job runs questions apart from those who ask them, so that one that takes
// long goes on when its asker has gone, is seen by everybody, and can be cancelled.
// It knows no Redis and no HTTP.
package job

import (
	"context"
	"time"

	"bitboard/internal/fault"
)

// State is what a job is at.
type State string

// The states of a job.
const (
	// Queued jobs wait for others of this process to end.
	Queued State = "queued"
	// Waiting jobs cost so much that they wait for the off-peak hours.
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
)

// Ended reports whether nothing more will come of a job in this state.
func (s State) Ended() bool { return s == Done || s == Failed }

// Question is what a job answers.
type Question struct {
	// Key names it: equal keys ask the same, in the same form.
	Key string `json:"key"`
	// Path, Query and Accept are the request that asks it, as of a fixed day.
	Path   string `json:"path"`
	Query  string `json:"query"`
	Accept string `json:"accept"`
	// Refresh asks for all to be computed anew.
	Refresh bool `json:"refresh,omitempty"`
	// Keep says that the answer is to be kept for others to fetch.
	Keep bool `json:"keep,omitempty"`
}

// Name tells questions apart: one that computes all anew is another.
func (q Question) Name() string {
	if q.Refresh {
		return q.Key + " refresh"
	}
	return q.Key
}

// Job is a question that takes long, as everybody sees it.
type Job struct {
	ID       string   `json:"id"`
	Question Question `json:"question"`
	State    State    `json:"state"`
	// Progress is how much is done of the work known so far, from 0 to 1.
	Progress float64 `json:"progress"`
	// Cost is the bytes of bitmaps to be worked through.
	Cost int64 `json:"cost"`
	// Engine is what does the work; empty before that is chosen.
	Engine string `json:"engine,omitempty"`
	// Busy is how long it has kept the store busy, and Waited how long it was kept
	// from the store so that others do not feel it.
	Busy   time.Duration `json:"busy"`
	Waited time.Duration `json:"waited"`
	// Owner is the process that runs it, and Attempts how many have begun to.
	Owner     string    `json:"owner"`
	Attempts  int       `json:"attempts"`
	CreatedAt time.Time `json:"created_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Problem   *Problem  `json:"problem,omitempty"`
	// Held is false when the process that ran it is gone.
	Held bool `json:"-"`
}

// Problem is why a job failed.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Result is an answer as it is sent.
type Result struct {
	Status int                 `json:"status"`
	Header map[string][]string `json:"header"`
	Body   []byte              `json:"body"`
}

// Orders is what others want of a job.
type Orders struct{ Cancel, Now bool }

// Store is where all processes see the jobs.
type Store interface {
	// StartJob records a job, which its owner then holds. While another that asks
	// the same is under way it records nothing and returns that one.
	StartJob(ctx context.Context, j Job) (other Job, started bool, err error)
	// BeatJob records what a job is at, lets its owner go on holding it, and returns
	// what others want of it. It is to be called every BeatEvery.
	BeatJob(ctx context.Context, j Job) (Orders, error)
	// EndJob records the end of a job, and its result unless that is nil.
	EndJob(ctx context.Context, j Job, result []byte) error
	// TakeJob makes a process the owner of a job whose owner is gone.
	TakeJob(ctx context.Context, id, owner string) (taken bool, err error)
	// Job returns one job; ok is false when there is none.
	Job(ctx context.Context, id string) (j Job, ok bool, err error)
	// Jobs returns all jobs, the newest first.
	Jobs(ctx context.Context) ([]Job, error)
	// JobResult returns the result of a job that is done; nil when it is not kept.
	JobResult(ctx context.Context, id string) ([]byte, error)
	// OrderJob tells a job's owner what is wanted.
	OrderJob(ctx context.Context, id string, o Orders) error
	// TakeTurn gives the turn to work on the data to one process, for its life at
	// most; otherwise it returns how long to wait before asking again.
	TakeTurn(ctx context.Context, who string, life time.Duration) (wait time.Duration, err error)
	// EndTurn gives the turn back, which nobody gets before a pause is over.
	EndTurn(ctx context.Context, pause time.Duration) error
	// State names the state of the data: when two are equal, nothing was written
	// between. SeenState is the newest that this process knows, without asking.
	State(ctx context.Context) (string, error)
	SeenState() string
}

const (
	// BeatEvery is how often an owner says that it is there.
	BeatEvery = 500 * time.Millisecond
	// registerAfter is how long a question may take before it is a job.
	registerAfter = 300 * time.Millisecond
	// handOver is how long the answer of a job waits here for its asker to come back.
	handOver = time.Minute
	// cheap is the cost, in bytes, of work that never waits: some milliseconds.
	cheap = 16 << 20
	// largeAtOnce is how many questions that are not cheap are worked on at once.
	largeAtOnce = 4
	// attempts is how many processes may die over a job before it has failed.
	attempts = 3
)

// CodeCancelled is the code of a job that somebody cancelled.
const CodeCancelled = "cancelled"

// cancelled is the error of such a job.
func cancelled() error {
	return fault.Conflict(CodeCancelled, "the job was cancelled").Say("jobs.cancelled")
}

// abandoned is why a job has failed whose processes died.
func abandoned() *Problem {
	return &Problem{Code: "abandoned", Message: "the processes that ran the job ended before it was done; ask again"}
}

// problemOf says to everybody why a job failed.
func problemOf(err error) *Problem {
	if f := fault.As(err); f != nil {
		return &Problem{Code: f.Code, Message: f.Message}
	}
	return &Problem{Code: "failed", Message: "something went wrong; the log of the server says what"}
}

// err is the problem for those who wait for the answer.
func (p *Problem) err() error { return fault.Conflict(p.Code, "%s", p.Message) }

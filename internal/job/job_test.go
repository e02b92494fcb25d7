package job_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/job"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

const (
	// long is more than anything here takes, and brief less than a job takes to be one.
	long  = 20 * time.Second
	brief = 10 * time.Millisecond
)

// process is a runner over a store, as one server has it.
type process struct {
	*job.Runner
	t    testing.TB
	stop context.CancelFunc
}

// start starts a process that ends with the test, or is killed before.
func start(t testing.TB, s *store.Store, change ...func(*job.Config)) *process {
	t.Helper()
	if _, err := s.Catalogue(t.Context()); err != nil { // as a server does at its start
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := job.Config{Store: s, Now: time.Now, OffPeak: func(time.Time) bool { return true }, Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&c)
	}
	p := &process{job.New(ctx, c), t, stop}
	t.Cleanup(p.kill)
	return p
}

// kill ends a process without a word to others.
func (p *process) kill() {
	p.stop()
	p.Wait()
}

// work is work that goes on until it is let go.
type work struct {
	begun atomic.Int64
	fresh atomic.Int64 // how often it began anew with refresh
	gate  chan struct{}
	once  sync.Once
}

func newWork(t testing.TB) *work {
	t.Helper()
	w := &work{gate: make(chan struct{})}
	t.Cleanup(w.finish)
	return w
}

func (w *work) finish() { w.once.Do(func() { close(w.gate) }) }

func (w *work) do(ctx context.Context, refresh bool) (job.Result, error) {
	n := w.begun.Add(1)
	if refresh {
		w.fresh.Add(1)
	}
	run := job.RunOf(ctx)
	run.Expect(4)
	run.Did(1)
	select {
	case <-w.gate:
		return job.Result{Status: 200, Body: []byte{'0' + byte(n)}}, nil
	case <-ctx.Done():
		return job.Result{}, ctx.Err()
	}
}

var question = job.Question{Key: "how many", Path: "/api/v1/active", Query: "metric=active", Keep: true}

// late asks with little patience, and returns the job that the question became.
func (p *process) late(q job.Question, w *work) job.Job {
	p.t.Helper()
	_, j, err := p.Do(p.t.Context(), q, brief, w.do)
	if err != nil || j == nil {
		p.t.Fatalf("asking with little patience: job %v, error %v", j, err)
	}
	return *j
}

// answer asks with patience.
func (p *process) answer(q job.Question, w *work) string {
	p.t.Helper()
	r, j, err := p.Do(p.t.Context(), q, long, w.do)
	if err != nil || j != nil {
		p.t.Fatalf("asking with patience: job %v, error %v", j, err)
	}
	return string(r.Body)
}

// await waits until a job is as it should be.
func (p *process) await(id, what string, ok func(job.Job) bool) job.Job {
	p.t.Helper()
	end := time.Now().Add(long)
	for {
		j, err := p.Job(p.t.Context(), id)
		if err == nil && ok(j) {
			return j
		}
		if time.Now().After(end) {
			p.t.Fatalf("the job never %s: %+v, error %v", what, j, err)
		}
		time.Sleep(brief)
	}
}

func isIn(s job.State) func(job.Job) bool { return func(j job.Job) bool { return j.State == s } }

// touch writes something, so that answers from before are old.
func touch(t testing.TB, s *store.Store) {
	t.Helper()
	day := cohort.DayOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.UTC)
	if _, err := s.Merge(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{cohort.DayOfMetric("active", day): roaring.BitmapOf(7)}); err != nil {
		t.Fatal(err)
	}
}

func TestQuickQuestionIsNoJob(t *testing.T) {
	p, w := start(t, storetest.Open(t)), newWork(t)
	w.finish()
	if got := p.answer(question, w); got != "1" {
		t.Errorf("the answer is %q", got)
	}
	if jobs, err := p.Jobs(t.Context()); err != nil || len(jobs) != 0 {
		t.Errorf("there are the jobs %v, error %v", jobs, err)
	}
	if p.answer(question, w); w.begun.Load() != 2 {
		t.Errorf("two questions were computed %d times", w.begun.Load())
	}
}

func TestAskingAgainGetsTheRest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, k storetest.Kind) {
		p, w := start(t, k.Open(t)), newWork(t)
		j := p.late(question, w)
		if again := p.late(question, w); again.ID != j.ID {
			t.Errorf("asking again began the job %s beside %s", again.ID, j.ID)
		}
		got := p.await(j.ID, "said how far it is", func(j job.Job) bool { return j.Progress > 0 && j.Held })
		if got.Progress != 0.25 || got.State != job.Running {
			t.Errorf("it is %v and at %v", got.State, got.Progress)
		}
		w.finish()
		p.await(j.ID, "ended", isIn(job.Done))
		if got := p.answer(question, w); got != "1" || w.begun.Load() != 1 {
			t.Errorf("the answer is %q, computed %d times", got, w.begun.Load())
		}
		r, ok, err := p.Result(t.Context(), j.ID)
		if err != nil || !ok || string(r.Body) != "1" {
			t.Errorf("its result is %+v, %v, error %v", r, ok, err)
		}
	})
}

func TestAnAnswerFromBeforeAWriteIsAskedOnceMore(t *testing.T) {
	s := storetest.Open(t)
	p, w := start(t, s), newWork(t)
	j := p.late(question, w)
	touch(t, s)
	w.finish()
	p.await(j.ID, "ended", isIn(job.Done))
	if got := p.answer(question, w); got != "2" {
		t.Errorf("after a write the answer is that of computation %s", got)
	}
}

func TestARefreshIsComputedOnceForEachAsking(t *testing.T) {
	p, w := start(t, storetest.Open(t)), newWork(t)
	q := question
	q.Refresh = true
	j := p.late(q, w)
	w.finish()
	p.await(j.ID, "ended", isIn(job.Done))
	for range 2 {
		p.answer(q, w)
	}
	if w.fresh.Load() != 2 {
		t.Errorf("a refresh and one more were computed anew %d times", w.fresh.Load())
	}
}

func TestWorkEndsWithItsOnlyAskerUnlessItIsAJob(t *testing.T) {
	p, w := start(t, storetest.Open(t)), newWork(t)
	ctx, leave := context.WithTimeout(t.Context(), brief)
	defer leave()
	if _, _, err := p.Do(ctx, question, long, w.do); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("leaving gave %v", err)
	}
	w.finish()
	if got := p.answer(question, w); got == "1" {
		t.Error("the work of an asker who left went on")
	}
}

func TestAJobIsSharedByProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, k storetest.Kind) {
		s := k.Open(t)
		one, two, w := start(t, s), start(t, s), newWork(t)
		j := one.late(question, w)
		done := make(chan string)
		slow := newWork(t)
		go func() { done <- two.answer(question, slow) }()
		two.await(j.ID, "was seen by the other", isIn(job.Running))
		time.Sleep(2 * time.Second / 5) // longer than a question takes to be a job
		slow.finish()                   // counts would come from the cache now
		w.finish()
		if got := <-done; got != "1" && got != "2" {
			t.Errorf("the other process answers %q", got)
		}
		jobs, err := two.Jobs(t.Context())
		if err != nil || len(jobs) != 1 || jobs[0].ID != j.ID {
			t.Errorf("the jobs are %+v, error %v", jobs, err)
		}
	})
}

func TestAnyProcessCancelsAJob(t *testing.T) {
	storetest.Each(t, func(t *testing.T, k storetest.Kind) {
		s := k.Open(t)
		one, two, w := start(t, s), start(t, s), newWork(t)
		j := one.late(question, w)
		one.await(j.ID, "was seen", func(j job.Job) bool { return j.Held })
		if err := two.Order(t.Context(), j.ID, job.Orders{Cancel: true}); err != nil {
			t.Fatal(err)
		}
		got := two.await(j.ID, "was cancelled", isIn(job.Failed))
		if got.Problem == nil || got.Problem.Code != job.CodeCancelled {
			t.Errorf("it failed for %+v", got.Problem)
		}
		if err := two.Order(t.Context(), j.ID, job.Orders{Cancel: true}); !errors.Is(err, fault.ErrConflict) {
			t.Errorf("cancelling it again gives %v", err)
		}
		if again := one.late(question, w); again.ID == j.ID {
			t.Error("asking again gets the cancelled job")
		}
	})
}

func TestAJobOfADeadProcessIsTakenOver(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t)
	one, w := start(t, s), newWork(t)
	j := one.late(question, w)
	one.await(j.ID, "was seen", func(j job.Job) bool { return j.Held })
	one.kill()
	two, again := start(t, s), newWork(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go two.Adopt(ctx, func(q job.Question) job.Work {
		if q != question {
			t.Errorf("the question of the job is %+v", q)
		}
		return again.do
	})
	two.await(j.ID, "was taken over", func(j job.Job) bool { return j.Attempts == 2 && j.Held })
	again.finish()
	two.await(j.ID, "ended", isIn(job.Done))
	three := start(t, s)
	three.await(j.ID, "was seen to have ended", isIn(job.Done))
	if r, ok, err := three.Result(t.Context(), j.ID); err != nil || !ok || string(r.Body) != "1" {
		t.Errorf("its result is %+v, %v, error %v", r, ok, err)
	}
}

func TestAJobThatKillsItsProcessesFails(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t)
	j := job.Job{ID: "deadly", Question: question, State: job.Running, Owner: "gone", Attempts: 3, CreatedAt: time.Now()}
	if _, started, err := s.StartJob(t.Context(), j); err != nil || !started {
		t.Fatal(started, err)
	}
	p := start(t, s)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go p.Adopt(ctx, func(job.Question) job.Work {
		t.Error("it was begun once more")
		return newWork(t).do
	})
	got := p.await(j.ID, "failed", isIn(job.Failed))
	if got.Problem == nil || got.Problem.Code != "abandoned" {
		t.Errorf("it failed for %+v", got.Problem)
	}
}

func TestWhoAsksTheSameTakesOverFromADeadProcess(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t)
	one, w := start(t, s), newWork(t)
	j := one.late(question, w)
	one.await(j.ID, "was seen", func(j job.Job) bool { return j.Held })
	one.kill()
	two, again := start(t, s), newWork(t)
	two.late(question, again)
	two.await(j.ID, "was taken over", func(j job.Job) bool { return j.Attempts == 2 && j.Held })
	again.finish()
	if got := two.answer(question, again); got != "1" && got != "2" {
		t.Errorf("the answer is %q", got)
	}
	two.await(j.ID, "ended", isIn(job.Done))
}

// dear is work of a cost.
func dear(cost int64) job.Work {
	return func(ctx context.Context, _ bool) (job.Result, error) {
		err := job.RunOf(ctx).Admit(ctx, cost, "fold")
		return job.Result{Status: 200, Body: []byte("dear")}, err
	}
}

func TestWhatCostsTooMuchWaits(t *testing.T) {
	const limit = 1 << 30
	var offPeak atomic.Bool
	p := start(t, storetest.Open(t), func(c *job.Config) {
		c.CostLimit, c.OffPeak = limit, func(time.Time) bool { return offPeak.Load() }
	})
	waiting := func(key string) job.Job {
		t.Helper()
		q := question
		q.Key = key
		_, j, err := p.Do(t.Context(), q, time.Second, dear(limit+1))
		if err != nil || j == nil || j.State != job.Waiting {
			t.Fatalf("what costs too much is %+v, error %v", j, err)
		}
		return *j
	}
	if _, j, err := p.Do(t.Context(), question, long, dear(limit)); err != nil || j != nil {
		t.Errorf("what costs just so much became %+v, error %v", j, err)
	}
	hurried := waiting("hurried")
	if err := p.Order(t.Context(), hurried.ID, job.Orders{Now: true}); err != nil {
		t.Fatal(err)
	}
	got := p.await(hurried.ID, "ran now", isIn(job.Done))
	if got.Cost != limit+1 || got.Engine != "fold" {
		t.Errorf("it cost %d by %s", got.Cost, got.Engine)
	}
	patient := waiting("patient")
	offPeak.Store(true)
	p.await(patient.ID, "ran in the off-peak hours", isIn(job.Done))
}

func TestLargeWorkIsQueued(t *testing.T) {
	p, w := start(t, storetest.Open(t)), newWork(t)
	large := func(ctx context.Context, refresh bool) (job.Result, error) {
		if err := job.RunOf(ctx).Admit(ctx, 1<<30, "fold"); err != nil {
			return job.Result{}, err
		}
		return w.do(ctx, refresh)
	}
	states := map[job.State]int{}
	var ids []string
	for i := range 6 {
		q := question
		q.Key = strings.Repeat("x", i)
		_, j, err := p.Do(t.Context(), q, brief, large)
		if err != nil || j == nil {
			t.Fatal(j, err)
		}
		ids = append(ids, j.ID)
	}
	for _, id := range ids {
		states[p.await(id, "began", func(j job.Job) bool { return j.State == job.Queued || j.Progress > 0 }).State]++
	}
	if states[job.Running] != 4 || states[job.Queued] != 2 {
		t.Errorf("of six large questions %v", states)
	}
	w.finish()
	for _, id := range ids {
		p.await(id, "ended", isIn(job.Done))
	}
}

func TestUnknownJob(t *testing.T) {
	p := start(t, storetest.Open(t))
	if _, err := p.Job(t.Context(), "nosuchjob"); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

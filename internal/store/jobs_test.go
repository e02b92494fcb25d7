package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/job"
	"bitboard/internal/store/storetest"
)

func oneProcessHasTheTurn(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	take := func(who string) time.Duration {
		t.Helper()
		wait, err := s.TakeTurn(t.Context(), who, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	end := func(pause time.Duration) {
		t.Helper()
		if err := s.EndTurn(t.Context(), pause); err != nil {
			t.Fatal(err)
		}
	}
	if wait := take("a"); wait != 0 {
		t.Errorf("the first waits %v", wait)
	}
	if wait := take("b"); wait <= 0 || wait > time.Minute {
		t.Errorf("while another has the turn one waits %v", wait)
	}
	end(time.Hour)
	if wait := take("b"); wait < 50*time.Minute {
		t.Errorf("in a pause of an hour one waits %v", wait)
	}
	end(0)
	if wait := take("b"); wait != 0 {
		t.Errorf("after the turn without a pause one waits %v", wait)
	}
}

func recordOfAJob(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	at := time.Date(2026, 3, 10, 12, 0, 0, int(time.Millisecond), time.UTC)
	j := job.Job{
		ID: "one", Question: job.Question{Key: "k", Path: "/p", Query: "a=b", Refresh: true, Keep: true}, State: job.Waiting,
		Progress: 0.5, Cost: 7, Engine: "fold", Busy: time.Second, Waited: time.Minute, Owner: "o", Attempts: 1, CreatedAt: at,
	}
	if _, started, err := s.StartJob(t.Context(), j); err != nil || !started {
		t.Fatal(started, err)
	}
	same := j
	same.ID, same.CreatedAt = "two", at.Add(time.Second)
	other, started, err := s.StartJob(t.Context(), same)
	if err != nil || started || other.ID != "one" {
		t.Errorf("the same question is %v, %v, error %v", other.ID, started, err)
	}
	anew := same
	anew.Question.Refresh = false
	if _, started, err := s.StartJob(t.Context(), anew); err != nil || !started {
		t.Errorf("another question did not become a job: %v", err)
	}
	j.Held, anew.Held = true, true
	check := func(want ...job.Job) {
		t.Helper()
		jobs, err := s.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, jobs); diff != "" {
			t.Errorf("jobs (-want +got):\n%s", diff)
		}
	}
	check(anew, j)
	if taken, err := s.TakeJob(t.Context(), "one", "other"); err != nil || taken {
		t.Errorf("a job that is held was taken: %v", err)
	}
	j.Held, j.State, j.Progress, j.EndedAt, j.Problem = false, job.Failed, 1, at.Add(time.Minute), &job.Problem{Code: "c", Message: "m"}
	if err := s.EndJob(t.Context(), j, []byte("result")); err != nil {
		t.Fatal(err)
	}
	check(anew, j)
	if result, err := s.JobResult(t.Context(), "one"); err != nil || string(result) != "result" {
		t.Errorf("the result is %q, error %v", result, err)
	}
	if result, err := s.JobResult(t.Context(), "two"); err != nil || result != nil {
		t.Errorf("the result of a job that goes on is %q, error %v", result, err)
	}
	again := j
	again.ID, again.State, again.CreatedAt, again.Problem, again.EndedAt = "three", job.Running, at.Add(time.Hour), nil, time.Time{}
	if _, started, err := s.StartJob(t.Context(), again); err != nil || !started {
		t.Errorf("after its end the same question did not become a job again: %v", err)
	}
}

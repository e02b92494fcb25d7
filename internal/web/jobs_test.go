package web_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/job"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
	"bitboard/internal/web"
)

// heldStore lets no bitmap be read before it is let go, like a store under load.
type heldStore struct {
	*store.Store
	gate chan struct{}
	once sync.Once
}

func (s *heldStore) letGo() { s.once.Do(func() { close(s.gate) }) }

func (s *heldStore) wait(ctx context.Context) error {
	select {
	case <-s.gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *heldStore) Run(ctx context.Context, segment int, inputs []cohort.Bitmap, p bitmap.Program) (bitmap.Result, error) {
	if err := s.wait(ctx); err != nil {
		return bitmap.Result{}, err
	}
	return s.Store.Run(ctx, segment, inputs, p)
}

func (s *heldStore) Fetch(ctx context.Context, segment int, inputs []cohort.Bitmap, from, to int, arena []byte) ([][]byte, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Store.Fetch(ctx, segment, inputs, from, to, arena)
}

// newHeldSite serves the week from a store that answers when it is let go.
func newHeldSite(t *testing.T) (*site, *heldStore) {
	t.Helper()
	held := &heldStore{Store: storetest.Open(t), gate: make(chan struct{})}
	t.Cleanup(held.letGo)
	s := newSiteOf(t, held.Store, func(c *web.Config) {
		c.Query = query.New(held, workspace, query.Config{})
	})
	s.send(week...)
	return s, held
}

// jobAnswer is an answer of the API about a job.
type jobAnswer struct {
	Job struct {
		ID       string
		State    string
		Progress float64
		Path     string
		Error    *job.Problem
	}
	Result struct {
		Points []struct{ Count int64 }
		Engine string
	}
}

const threeDays = "/api/v1/active?metric=active&from=2026-03-03&to=2026-03-05"

func (s *site) job(path string, want int) jobAnswer {
	s.t.Helper()
	a := s.get(path)
	if a.status != want {
		s.t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
	var body jobAnswer
	a.read(s.t, &body)
	return body
}

// awaitJob asks until a job is in a state.
func (s *site) awaitJob(id, state string) jobAnswer {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if a := s.job("/api/v1/jobs/"+id, http.StatusOK); a.Job.State == state {
			return a
		}
	}
	s.t.Fatalf("the job %s never was %s", id, state)
	return jobAnswer{}
}

func TestAQuestionThatIsNotWaitedForIsAJob(t *testing.T) {
	s, held := newHeldSite(t)
	a := s.get(threeDays + "&wait=0")
	if a.status != http.StatusAccepted || a.header.Get("Retry-After") == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	var late jobAnswer
	a.read(t, &late)
	if a.header.Get("Location") != "/api/v1/jobs/"+late.Job.ID {
		t.Errorf("it is at %s", a.header.Get("Location"))
	}
	if again := s.job(threeDays+"&wait=0", http.StatusAccepted); again.Job.ID != late.Job.ID {
		t.Error("asking again began another job")
	}
	listed := s.get("/api/v1/jobs")
	if !strings.Contains(listed.body, late.Job.ID) || !strings.Contains(listed.body, `"state":"running"`) {
		t.Errorf("the jobs are %s", listed.body)
	}
	held.letGo()
	done := s.awaitJob(late.Job.ID, "done")
	if p := done.Result.Points; len(p) != 3 || p[0].Count != 2 || p[1].Count != 1 || p[2].Count != 3 || done.Job.Progress != 1 {
		t.Errorf("the result is %+v at %v", done.Result, done.Job.Progress)
	}
	if a := s.get(threeDays + "&wait=0"); a.status != http.StatusOK && a.status != http.StatusAccepted {
		t.Errorf("asking once more gives %d %s", a.status, a.body)
	}
	if a := s.get(threeDays); a.status != http.StatusOK || !strings.Contains(a.body, `"count":3`) {
		t.Errorf("asking with patience gives %d %s", a.status, a.body)
	}
}

func TestTheResultOfAJobThatAskedForCSVIsText(t *testing.T) {
	s, held := newHeldSite(t)
	late := s.job(threeDays+"&wait=0&format=csv", http.StatusAccepted)
	held.letGo()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if a := s.get("/api/v1/jobs/" + late.Job.ID); strings.Contains(a.body, `"result":"date,count,complete,suspect\n2026-03-03,2,true,`) {
			return
		}
	}
	t.Errorf("the result is %s", s.get("/api/v1/jobs/"+late.Job.ID).body)
}

func TestAJobCanBeCancelled(t *testing.T) {
	s, _ := newHeldSite(t)
	late := s.job(threeDays+"&wait=0", http.StatusAccepted)
	if a := s.do(http.MethodDelete, "/api/v1/jobs/"+late.Job.ID, ""); a.status != http.StatusNoContent {
		t.Fatalf("cancelling gives %d %s", a.status, a.body)
	}
	got := s.awaitJob(late.Job.ID, "failed")
	if got.Job.Error == nil || got.Job.Error.Code != "cancelled" {
		t.Errorf("it failed for %+v", got.Job.Error)
	}
	if a := s.do(http.MethodDelete, "/api/v1/jobs/"+late.Job.ID, ""); a.status != http.StatusConflict {
		t.Errorf("cancelling again gives %d %s", a.status, a.body)
	}
	if a := s.get("/api/v1/jobs/nosuchjob"); a.status != http.StatusNotFound {
		t.Errorf("a job that is not there gives %d %s", a.status, a.body)
	}
}

func TestAPageThatTakesLongShowsHowFarItIs(t *testing.T) {
	s, held := newHeldSite(t)
	a := s.get("/retention", "Accept", html)
	if a.status != http.StatusAccepted || !strings.Contains(a.body, "<progress") || !strings.Contains(a.body, `http-equiv="refresh"`) {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	jobs := s.get("/jobs", "Accept", html)
	if !strings.Contains(jobs.body, `href="/retention?as_of=2026-03-10"`) || !strings.Contains(jobs.body, "/cancel") {
		t.Errorf("the page of jobs is %s", jobs.body)
	}
	held.letGo()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if a = s.get("/retention", "Accept", html); a.status == http.StatusOK {
			break
		}
	}
	if a.status != http.StatusOK || !strings.Contains(a.body, "<table") || strings.Contains(a.body, "http-equiv") {
		t.Errorf("in the end it is %d", a.status)
	}
}

func TestAPageThatIsCancelledLeadsToTheJobs(t *testing.T) {
	s, _ := newHeldSite(t)
	a := s.get("/engagement", "Accept", html)
	_, rest, _ := strings.Cut(a.body, `action="/jobs/`)
	id, _, _ := strings.Cut(rest, "/")
	if id == "" {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if a := s.post("/jobs/"+id+"/cancel", "", "Accept", html); a.status != http.StatusSeeOther || a.header.Get("Location") != "/jobs" {
		t.Errorf("cancelling gives %d to %s", a.status, a.header.Get("Location"))
	}
	s.awaitJob(id, "failed")
	if a := s.get("/jobs", "Accept", html); !strings.Contains(a.body, "The job was cancelled.") {
		t.Errorf("the page of jobs is %s", a.body)
	}
}

func TestAJobCanBeTakenOutOfTheQueue(t *testing.T) {
	s, held := newHeldSite(t)
	late := s.job(threeDays+"&wait=0", http.StatusAccepted)
	a := s.post("/api/v1/jobs/"+late.Job.ID+"/now", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, late.Job.ID) {
		t.Errorf("running it now gives %d %s", a.status, a.body)
	}
	if a := s.post("/jobs/"+late.Job.ID+"/now", "", "Accept", html); a.status != http.StatusSeeOther {
		t.Errorf("the page's button gives %d", a.status)
	}
	held.letGo()
	s.awaitJob(late.Job.ID, "done")
	if a := s.post("/api/v1/jobs/"+late.Job.ID+"/now", ""); a.status != http.StatusConflict {
		t.Errorf("running what has ended gives %d %s", a.status, a.body)
	}
}

func TestJobsOfAnotherServerAreTakenOverThroughTheHandler(t *testing.T) {
	s := newSite(t, week...)
	again := web.Again(s.Config.Handler)
	q := job.Question{Path: "/api/v1/active", Query: "as_of=2026-03-10&from=2026-03-03&metric=active&to=2026-03-05", Keep: true}
	r, err := again(q)(t.Context(), true)
	if err != nil || !strings.Contains(string(r.Body), `"count":3`) {
		t.Errorf("the answer is %s, error %v", r.Body, err)
	}
	q.Query = "metric=nosuch"
	if _, err := again(q)(t.Context(), false); err == nil {
		t.Error("a wrong question was answered")
	}
}

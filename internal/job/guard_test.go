package job_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"bitboard/internal/job"
	"bitboard/internal/store/storetest"
)

// labour is work of so many pieces that keep the store busy for a time each.
func labour(pieces int, each time.Duration, gentle func(bool)) job.Work {
	return func(ctx context.Context, _ bool) (job.Result, error) {
		for range pieces {
			g, done, err := job.RunOf(ctx).Turn(ctx)
			if err != nil {
				return job.Result{}, err
			}
			gentle(g)
			time.Sleep(each)
			done()
		}
		return job.Result{Status: 200, Body: []byte("done")}, nil
	}
}

func TestJobsOfAllProcessesTakeTheirShare(t *testing.T) {
	// In memory there is nobody beside the jobs, and pauses end with whole seconds.
	storetest.EachOf(t, []storetest.Kind{storetest.OnRedis, storetest.OnCluster}, func(t *testing.T, k storetest.Kind) {
		const share, pieces = 0.25, 10
		s := k.Open(t)
		begun := time.Now()
		var mu sync.Mutex
		var busy time.Duration
		var all sync.WaitGroup
		for range 2 {
			p := start(t, s, func(c *job.Config) {
				c.Share, c.OffPeak = share, func(time.Time) bool { return false }
			})
			for _, key := range []string{"one", "two"} {
				all.Go(func() {
					q := question
					q.Key = key + k.Name
					_, _, err := p.Do(t.Context(), q, long, labour(pieces, 2*time.Millisecond, func(gentle bool) {
						if !gentle {
							t.Error("past the burst a piece is not gentle")
						}
						mu.Lock()
						defer mu.Unlock()
						busy += 2 * time.Millisecond
					}))
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		// The last pauses may still go on.
		if took, least := time.Since(begun), time.Duration(float64(busy)/share)-100*time.Millisecond; took < least {
			t.Errorf("work of %v took %v, want at least %v", busy, took, least)
		}
	})
}

func TestNobodyWaitsWithinTheBurstOrOffPeak(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"within the burst": func(c *job.Config) {
			c.Share, c.Burst, c.OffPeak = 0.01, time.Hour, func(time.Time) bool { return false }
		},
		"off-peak": func(c *job.Config) { c.Share = 0.01 },
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, storetest.Open(t), change)
			_, j, err := p.Do(t.Context(), question, long, labour(20, time.Millisecond, func(gentle bool) {
				if gentle {
					t.Error("a piece is gentle")
				}
			}))
			if err != nil || j != nil {
				t.Errorf("it became %v, error %v", j, err)
			}
		})
	}
}

func TestTheBurstIsTheStoresTimeNotThatOfThePieces(t *testing.T) {
	p := start(t, storetest.Open(t), func(c *job.Config) {
		c.Share, c.Burst, c.OffPeak = 0.5, 200*time.Millisecond, func(time.Time) bool { return false }
	})
	var mu sync.Mutex
	first := 0
	side := labour(1, 30*time.Millisecond, func(gentle bool) {
		mu.Lock()
		defer mu.Unlock()
		if !gentle {
			first++
		}
	})
	_, _, err := p.Do(t.Context(), question, long, func(ctx context.Context, refresh bool) (job.Result, error) {
		for range 8 { // of four pieces side by side
			var four sync.WaitGroup
			for range 4 {
				four.Go(func() { _, _ = side(ctx, refresh) })
			}
			four.Wait()
		}
		return job.Result{Status: 200}, nil
	})
	// Pieces side by side keep the store busy once: at least four rounds fit in. A
	// slow machine may do fewer than all.
	if err != nil || first < 4 || first > 28 {
		t.Errorf("%d pieces were within the burst, error %v", first, err)
	}
}

func TestGuardSaysWhatItDoes(t *testing.T) {
	p := start(t, storetest.Open(t), func(c *job.Config) {
		c.Share, c.OffPeak = 0.5, func(time.Time) bool { return false }
	})
	if g := p.Guard(); g.Share != 0.5 || g.Latency != 0 {
		t.Errorf("before any job it says %+v", g)
	}
	_, j, err := p.Do(t.Context(), question, brief, labour(300, 2*time.Millisecond, func(bool) {}))
	if err != nil || j == nil {
		t.Fatal(j, err)
	}
	got := p.await(j.ID, "waited", func(j job.Job) bool { return j.Waited > 0 && j.Busy > 0 })
	if g := p.Guard(); g.Latency <= 0 || g.Usual <= 0 || g.Slowness < 1 {
		t.Errorf("with the job %+v it says %+v", got, g)
	}
}

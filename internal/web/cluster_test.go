package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// A master dies while questions are answered, and comes back: each answer is
// right, or says that the store is away, on both engines; then all are right.
func TestAMasterDiesWhileQuestionsAreAnswered(t *testing.T) {
	const segments = 60
	nodes := storetest.StartCluster(t)
	st := storetest.Open(t, func(c *store.Config) { c.URL, c.Dense = nodes.URL(), true })
	var rows []string
	for segment := range segments {
		for day := 1; day <= 3; day++ {
			rows = append(rows, fmt.Sprintf("%d login 2026-03-0%d", segment*4096+7, day))
		}
	}
	s := siteOver(t, st, rows...)
	var right, away atomic.Int64
	ask := func(engine string) {
		a := s.get("/api/v1/cohorts/count?expr=active@2026-03-01%20%26%20active@2026-03-02%20-%20active@2026-03-04&refresh=1&engine=" + engine)
		switch {
		case a.status == http.StatusOK && strings.Contains(a.body, fmt.Sprintf(`"count":%d,`, segments)):
			right.Add(1)
		case a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" && strings.Contains(a.body, `"store_unavailable"`):
			away.Add(1)
		default:
			t.Errorf("%s answers %d %s", engine, a.status, a.body)
		}
	}
	ended := make(chan struct{})
	var asking sync.WaitGroup
	for _, engine := range []string{"bitop", "fold", "auto"} {
		asking.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
					ask(engine)
				}
			}
		})
	}
	until := func(what string, n *atomic.Int64) {
		t.Helper()
		enough := n.Load() + 3
		for begin := time.Now(); n.Load() < enough; time.Sleep(5 * time.Millisecond) {
			if time.Since(begin) > time.Minute {
				t.Errorf("no more questions are %s", what)
				return
			}
		}
	}
	until("answered", &right)
	nodes.Kill(t, 1)
	until("refused", &away)
	nodes.Restart(t, 1)
	until("answered", &right)
	close(ended)
	asking.Wait()
}

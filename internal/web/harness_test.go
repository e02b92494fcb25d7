package web_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"bitboard/internal/cohort"
	"bitboard/internal/ingest"
	"bitboard/internal/job"
	"bitboard/internal/query"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
	"bitboard/internal/web"
)

// now is the instant of every test: noon on 10 March 2026.
var now = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

var workspace = cohort.Workspace{
	Zone:     time.UTC,
	Calendar: cohort.Calendar{WeekStart: time.Monday},
	Metrics: []cohort.Metric{
		{Name: "active", Kind: cohort.KindDaily, Title: "Active users"}, {Name: "signed_in", Kind: cohort.KindDaily, Title: "Sign-ins", Keep: 30},
		{Name: "activated", Kind: cohort.KindFlag, Title: "Activated"}, {Name: "exposed", Kind: cohort.KindFlag, Title: "Saw the new feature"},
		{Name: "online", Kind: cohort.KindPresence, Title: "Online"},
	},
}

var events = map[string][]string{"login": {"active", "signed_in"}, "activate": {"activated"}, "expose": {"exposed"}}

// site is the whole edge over a real store.
type site struct {
	*httptest.Server
	t     testing.TB
	store *store.Store
	audit *auditTrail
}

// auditTrail keeps what the edge reports.
type auditTrail struct {
	mu       sync.Mutex
	accesses []web.Access
}

func (a *auditTrail) Record(_ context.Context, access web.Access) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.accesses = append(a.accesses, access)
	return nil
}

// newSite serves rows of "user event day" from a store of its own.
func newSite(t testing.TB, rows ...string) *site {
	t.Helper()
	return siteOver(t, storetest.Open(t), rows...)
}

func siteOver(t testing.TB, st *store.Store, rows ...string) *site {
	t.Helper()
	return siteWith(t, st, nil, rows...)
}

// siteWith serves pages that carry notices.
func siteWith(t testing.TB, st *store.Store, notices []web.Notice, rows ...string) *site {
	t.Helper()
	s := newSiteOf(t, st, func(c *web.Config) { c.Notices = func(context.Context) []web.Notice { return notices } })
	s.send(rows...)
	return s
}

// siteStopping serves until it is told that the server stops.
func siteStopping(t testing.TB, stopping <-chan struct{}) *site {
	t.Helper()
	return newSiteOf(t, storetest.Open(t), func(c *web.Config) { c.Stopping = stopping })
}

func newSiteOf(t testing.TB, st *store.Store, change func(*web.Config)) *site {
	t.Helper()
	in, err := ingest.New(ingest.Config{Store: st, Workspace: workspace, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, store: st, audit: &auditTrail{}}
	c := web.Config{
		Query: query.New(st, workspace, query.Config{}), Ingest: in, Store: st, Version: "test",
		Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler), Audit: s.audit,
		Notices: func(context.Context) []web.Notice { return nil },
	}
	ctx, stop := context.WithCancel(context.Background())
	c.Jobs = job.New(ctx, job.Config{Store: st, Now: time.Now, OffPeak: func(time.Time) bool { return true }, Log: c.Log})
	t.Cleanup(func() {
		stop()
		c.Jobs.Wait()
	})
	change(&c)
	s.Server = httptest.NewServer(web.New(c))
	t.Cleanup(s.Close)
	return s
}

// send posts rows of "user event day".
func (s *site) send(rows ...string) {
	s.t.Helper()
	if len(rows) == 0 {
		return
	}
	var items []map[string]string
	for _, r := range rows {
		f := strings.Fields(r)
		items = append(items, map[string]string{"user_id": f[0], "event": f[1], "day": f[2]})
	}
	body, err := json.Marshal(items)
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.post("/api/v1/events", string(body))
	if a.status != http.StatusOK {
		s.t.Fatalf("sending events: %d %s", a.status, a.body)
	}
}

// answer is a response read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func (s *site) get(path string, header ...string) answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, "", header...)
}

func (s *site) post(path, body string, header ...string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, path, body, header...)
}

func (s *site) do(method, path, body string, header ...string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

// read decodes a JSON answer.
func (a answer) read(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

const html = "text/html"

// week is three users over a week: a every day, b on odd days, c on the 5th.
var week = []string{
	"a login 2026-03-02", "a login 2026-03-03", "a login 2026-03-04", "a login 2026-03-05", "a login 2026-03-06", "a login 2026-03-07",
	"a login 2026-03-08", "a login 2026-03-09", "b login 2026-03-03", "b login 2026-03-05", "b login 2026-03-07", "b login 2026-03-09",
	"c login 2026-03-05", "a activate 2026-03-02", "c activate 2026-03-05", "a expose 2026-03-03",
}

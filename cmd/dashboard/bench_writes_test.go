package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"bitboard/internal/store/storetest"
)

const (
	writers     = 4
	writeUsers  = 200_000 // known before
	eventsAtOne = 1000
	marksAtOne  = 5000
)

// BenchmarkWrites measures what comes in over HTTP, of known users with IDs of
// their own, by some writers at once: events in batches of 1,000, and signs of
// presence in batches of 5,000. The figures are medians of five rounds, in turn.
func BenchmarkWrites(b *testing.B) {
	url, _ := storetest.Start(b)
	importUsers(b, url)
	d := startDashboard(b, fmt.Sprintf("redis: %s\nprefix: writes\n", url))
	day := 0
	events := &side{name: "events", prepare: func(*testing.B) { day++ }, run: func() {
		d.inParallel(b, "/api/v1/events", eventsAtOne, func(body *bytes.Buffer, user int) {
			fmt.Fprintf(body, `{"user_id":"user-%07d","event":"active","day":"2026-01-%02d"}`+"\n", user, day%28+1)
		}, "", "")
	}}
	mark := func(name, sign string) *side {
		return &side{name: name, run: func() {
			d.inParallel(b, "/api/v1/presence/online", marksAtOne, func(body *bytes.Buffer, user int) {
				if body.Bytes()[body.Len()-1] != '[' {
					body.WriteByte(',')
				}
				fmt.Fprintf(body, `"user-%07d"`, user)
			}, `{"user_ids":[`, "],"+sign+"}")
		}}
	}
	arrivals, departures, beats := mark("arrivals", `"online":true`), mark("departures", `"online":false`), mark("beats", `"beat":true`)
	for b.Loop() {
		inTurn(b, []*side{events, arrivals, departures, beats})
	}
	for _, s := range []*side{arrivals, departures, beats} {
		b.ReportMetric(writeUsers/s.median().Seconds()/1e3, s.name+"-k/s")
	}
	b.ReportMetric(writeUsers/events.median().Seconds()/1e3, "events-k/s")
	b.ReportMetric(d.peakMiB(b), "writes-MiB")
}

// importUsers makes users known.
func importUsers(b *testing.B, url string) {
	b.Helper()
	var rows strings.Builder
	rows.WriteString("user_id,event,day\n")
	for i := range writeUsers {
		fmt.Fprintf(&rows, "user-%07d,active,2025-12-31\n", i)
	}
	program := exec.CommandContext(b.Context(), os.Args[0], "import", "--redis", url, "-")
	program.Env = append(os.Environ(), asProgram+"=1", "BITBOARD_PREFIX=writes")
	program.Stdin = strings.NewReader(rows.String())
	if said, err := program.CombinedOutput(); err != nil {
		b.Fatalf("import: %v\n%s", err, said)
	}
}

// inParallel sends all users in requests of some at once.
func (d benchDashboard) inParallel(b *testing.B, path string, atOnce int, add func(*bytes.Buffer, int), before, after string) {
	b.Helper()
	var sending sync.WaitGroup
	for w := range writers {
		sending.Go(func() {
			for first := w * atOnce; first < writeUsers; first += writers * atOnce {
				body := bytes.NewBufferString(before)
				for user := first; user < min(first+atOnce, writeUsers); user++ {
					add(body, user)
				}
				body.WriteString(after)
				answer, err := http.Post(d.url+path, "application/json", body)
				if err != nil {
					b.Error(err)
					return
				}
				said, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				if answer.StatusCode != http.StatusOK {
					b.Errorf("%s is answered with %s: %.200s", path, answer.Status, said)
				}
			}
		})
	}
	sending.Wait()
}

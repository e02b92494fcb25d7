package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// probeEvery is how often the foreign client reads a bit.
	probeEvery = time.Millisecond
	// slowMicroseconds is from when on the server notes a command as slow.
	slowMicroseconds = "1000"
)

// BenchmarkGuard measures what a foreign client, which reads a bit every millisecond
// while another writes some, notices of a retention table over 100 million users:
// while nothing is asked, while the table is made with commands one by one, and
// while the dashboard makes it within its share, by either engine.
func BenchmarkGuard(b *testing.B) {
	away := time.Now().UTC().Add(12 * time.Hour) // the off-peak hours, of another time of day
	e := newEngineBench(b, fmt.Sprintf("{job_cost_limit: 100GiB, offpeak: \"%s-%s\"}", away.Format("15:04"), away.Add(time.Minute).Format("15:04")))
	table := fmt.Sprintf("/api/v1/retention?start=active&cohorts=any&periods=30&from=%s&to=%s&as_of=%[2]s&refresh=1&wait=120&engine=",
		benchDay(benchDays-tableDays).Format("2006-01-02"), benchDay(benchDays-1).Format("2006-01-02"))
	sides := []struct {
		name string
		run  func()
	}{
		{"idle", func() { time.Sleep(5 * time.Second) }},
		{"naive", func() { e.oneByOne(b) }},
		{"fold", func() { e.ask(b, table+"fold") }},
		{"bitop", func() { e.ask(b, table+"bitop") }},
	}
	for b.Loop() {
		for _, s := range sides {
			e.set(b, "slowlog-log-slower-than", slowMicroseconds)
			if err := e.naive.Do(b.Context(), "slowlog", "reset").Err(); err != nil {
				b.Fatal(err)
			}
			begin := time.Now()
			waits := e.probe(b, s.run)
			b.ReportMetric(time.Since(begin).Seconds(), s.name+"-s")
			b.ReportMetric(quantile(waits, 0.99), s.name+"-p99-ms")
			b.ReportMetric(quantile(waits, 0.999), s.name+"-p99.9-ms")
			b.ReportMetric(float64(e.slow(b)), s.name+"-slow")
		}
	}
}

func (e *engineBench) set(b *testing.B, name, value string) {
	b.Helper()
	if err := e.naive.ConfigSet(b.Context(), name, value).Err(); err != nil {
		b.Fatal(err)
	}
}

// probe reads a bit every millisecond, and lets another write, while work is done; it
// returns how long each reading took from when it was due.
func (e *engineBench) probe(b *testing.B, work func()) (waits []time.Duration) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var clients sync.WaitGroup
	clients.Go(func() {
		every := time.NewTicker(probeEvery)
		defer every.Stop()
		for {
			select {
			case due := <-every.C:
				if err := e.clients[1].GetBit(ctx, "foreign", 12345).Err(); err == nil {
					waits = append(waits, time.Since(due))
				}
			case <-ctx.Done():
				return
			}
		}
	})
	clients.Go(func() {
		for i := int64(0); ctx.Err() == nil; i++ {
			_ = e.clients[2].SetBit(ctx, "foreign", i%1_000_000, 1).Err() // until it is told to end
			time.Sleep(probeEvery)
		}
	})
	work()
	stop()
	clients.Wait()
	return waits
}

// quantile is in milliseconds.
func quantile(of []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Microseconds()) / 1000
}

// slow counts the slow commands on the data of the dashboard, or on whole keys.
func (e *engineBench) slow(b *testing.B) (n int) {
	b.Helper()
	log, err := e.naive.SlowLogGet(b.Context(), -1).Result()
	if err != nil {
		b.Fatal(err)
	}
	for _, entry := range log {
		if line := strings.Join(entry.Args, " "); strings.Contains(line, benchPrefix+":{") || strings.Contains(line, "whole:") {
			n++
			if n <= 3 {
				b.Logf("slow: %v %.200s", entry.Duration, line)
			}
		}
	}
	return n
}

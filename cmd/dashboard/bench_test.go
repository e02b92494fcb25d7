package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/store/storetest"
)

const (
	benchUsers       = 100_000_000
	benchSegmentBits = 1 << 20
	benchSegments    = (benchUsers + benchSegmentBits - 1) / benchSegmentBits
	benchDays        = 60 // the last 31 are those of the table
	tableDays        = 31
	benchRounds      = 5
	benchPrefix      = "bench"
)

// benchDay is the name in keys of a day, counted from 0.
func benchDay(d int) time.Time { return time.Date(2026, 1, 1+d, 0, 0, 0, 0, time.UTC) }

func dayKey(segment, day int) string {
	return fmt.Sprintf("%s:{s%d}:day:active:%s", benchPrefix, segment, benchDay(day).Format("20060102"))
}

// engineBench is a server with many users, and the dashboard before it.
type engineBench struct {
	clients []*redis.Client // with one, two and three connections at most
	naive   *redis.Client   // it sends each command by itself
	benchDashboard
}

// BenchmarkEngine measures questions about 100 million users, of whom a quarter
// is active on a day, through HTTP, on a Redis behind a Unix socket. The sides
// of each ratio are measured in turn; the figures are medians of five rounds.
func BenchmarkEngine(b *testing.B) {
	e := newEngineBench(b, "{max_redis_share: 1.0}")
	table := fmt.Sprintf("/api/v1/retention?start=active&cohorts=any&periods=30&from=%s&to=%s&as_of=%[2]s",
		benchDay(benchDays-tableDays).Format(time.DateOnly), benchDay(benchDays-1).Format(time.DateOnly))
	windows := strings.Replace(strings.Replace(table, "retention?start=", "active?window=30&metric=", 1), "&cohorts=any&periods=30", "", 1)
	sides := []*side{
		{name: "table", prepare: e.forgetCounts, run: func() { e.ask(b, table) }},
		{name: "kept", run: func() { e.ask(b, table) }},
		{name: "windows", prepare: e.forgetCounts, run: func() { e.ask(b, windows) }},
		{name: "naive", run: func() { e.oneByOne(b) }},
	}
	straying := &side{name: "straying", prepare: e.forgetCounts, run: func() { e.ask(b, table) }}
	for i := range e.clients {
		sides = append(sides,
			&side{name: "get31-" + strconv.Itoa(i+1), run: func() { e.readAll(b, i, benchDays-tableDays) }},
			&side{name: "get60-" + strconv.Itoa(i+1), run: func() { e.readAll(b, i, 0) }})
	}
	for b.Loop() {
		inTurn(b, sides)
		e.stray(b)
		inTurn(b, []*side{straying})
	}
	took := map[string]float64{}
	for _, s := range sides {
		took[s.name] = s.median().Seconds()
		b.ReportMetric(1000*took[s.name], s.name+"-ms")
	}
	get31 := min(took["get31-1"], took["get31-2"], took["get31-3"])
	get60 := min(took["get60-1"], took["get60-2"], took["get60-3"])
	b.ReportMetric(took["table"]/get31, "table/get")
	b.ReportMetric(took["table"]/took["naive"], "table/naive")
	b.ReportMetric(took["windows"]/get60, "windows/get")
	b.ReportMetric(straying.median().Seconds()/took["table"], "stray/without")
	b.ReportMetric(e.peakMiB(b), "dashboard-MiB")
}

// side is one of the things that are compared.
type side struct {
	name    string
	prepare func(b *testing.B) // not measured; may be nil
	run     func()
	times   []time.Duration
}

// inTurn runs the sides one after the other, several times.
func inTurn(b *testing.B, sides []*side) {
	b.Helper()
	for range benchRounds {
		for _, s := range sides {
			if s.prepare != nil {
				s.prepare(b)
			}
			begin := time.Now()
			s.run()
			s.times = append(s.times, time.Since(begin))
		}
	}
}

func (s *side) median() time.Duration {
	sorted := slices.Sorted(slices.Values(s.times))
	return sorted[len(sorted)/2]
}

// newEngineBench fills a server and starts a dashboard with an engine configured so.
func newEngineBench(b *testing.B, engine string) *engineBench {
	b.Helper()
	url, _ := storetest.Start(b)
	e := &engineBench{}
	for n := range 3 {
		options, err := redis.ParseURL(url)
		if err != nil {
			b.Fatal(err)
		}
		options.PoolSize, options.ReadTimeout = n+1, time.Minute
		client := redis.NewClient(options)
		b.Cleanup(func() { client.Close() })
		e.clients = append(e.clients, client)
	}
	e.naive = e.clients[0]
	e.fill(b)
	e.serve(b, url, engine)
	return e
}

// fill writes the days: a key a segment for the dashboard, and those of the
// table as one key a day for the commands one by one.
func (e *engineBench) fill(b *testing.B) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, benchSegmentBits/8)
	for day := range benchDays {
		p := e.naive.Pipeline()
		for segment := range benchSegments {
			quarter(random, bytes)
			p.Set(b.Context(), dayKey(segment, day), bytes, 0)
			if day >= benchDays-tableDays {
				p.SetRange(b.Context(), wholeKey(day), int64(segment*len(bytes)), string(bytes))
			}
			if _, err := p.Exec(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// quarter fills bytes with bits of which one in four is set.
func quarter(random *rand.Rand, bytes []byte) {
	for i := 0; i < len(bytes); i += 8 {
		binary.LittleEndian.PutUint64(bytes[i:], random.Uint64()&random.Uint64())
	}
}

func wholeKey(day int) string { return "whole:" + strconv.Itoa(day) }

// serve starts the dashboard and waits until it has found the days.
func (e *engineBench) serve(b *testing.B, redisURL, engine string) {
	b.Helper()
	e.benchDashboard = startDashboard(b, fmt.Sprintf("redis: %s\nprefix: %s\nids: dense\nengine: %s\n", redisURL, benchPrefix, engine))
	e.awaitDay(b, benchDays-1)
}

// forgetCounts removes the counts that the dashboard keeps.
func (e *engineBench) forgetCounts(b *testing.B) {
	b.Helper()
	rows := e.naive.Scan(b.Context(), 0, benchPrefix+":{c*", 1000).Iterator()
	for rows.Next(b.Context()) {
		if err := e.naive.Unlink(b.Context(), rows.Val()).Err(); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}

// stray adds one user at a very high offset.
func (e *engineBench) stray(b *testing.B) {
	b.Helper()
	row := `{"user_id":"3400000000","event":"active","day":"` + benchDay(benchDays-1).Format(time.DateOnly) + `"}`
	answer, err := http.Post(e.url+"/api/v1/events", "application/json", strings.NewReader(row))
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		b.Fatalf("an event is answered with %s", answer.Status)
	}
}

// readAll reads the days from one on as they are: what any answer that is
// computed outside the server costs at least.
func (e *engineBench) readAll(b *testing.B, client, from int) {
	b.Helper()
	connections := client + 1
	var reading sync.WaitGroup
	for c := range connections {
		reading.Go(func() {
			for segment := c; segment < benchSegments; segment += connections {
				p := e.clients[client].Pipeline()
				for day := from; day < benchDays; day++ {
					p.Get(b.Context(), dayKey(segment, day))
				}
				if _, err := p.Exec(b.Context()); err != nil {
					b.Error(err)
				}
			}
		})
	}
	reading.Wait()
}

// oneByOne computes the table as one would by hand: whole keys, a round trip a command.
func (e *engineBench) oneByOne(b *testing.B) {
	b.Helper()
	ctx, r := b.Context(), e.naive
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	for cohort := benchDays - tableDays; cohort < benchDays; cohort++ {
		for day := cohort + 1; day < benchDays; day++ {
			check(r.BitOpAnd(ctx, "tmp", wholeKey(cohort), wholeKey(day)).Err())
			check(r.BitCount(ctx, "tmp", nil).Err())
			check(r.Unlink(ctx, "tmp").Err())
		}
	}
}

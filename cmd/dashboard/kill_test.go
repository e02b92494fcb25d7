package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/app"
	"bitboard/internal/store/storetest"
)

const (
	// killsVariable is the environment variable that says how many imports are
	// killed in all.
	killsVariable = "DASHBOARD_TEST_KILLS"
	fewKills      = 24
	// killsAtOnce bounds the rounds side by side. Most of their time is waiting
	// for the lease of what was killed.
	killsAtOnce = 8
	firstDay    = 1
	lastDay     = 4
)

// killing is what is killed, and over which store.
type killing struct {
	name     string
	embedded bool
	// victim returns the process to kill while the import of a round runs.
	victim func(ctx context.Context, r *round, importing *exec.Cmd) (*os.Process, error)
}

var killings = []killing{
	{"the dashboard on a shared Redis", false, theDashboard},
	{"the dashboard with its private Redis", true, theDashboard},
	{"the private Redis", true, thePrivateRedis},
}

// TestKilledImports kills imports at random moments, and looks at what the next
// command finds: everything that was acknowledged, each day whole, and a rerun
// that finishes. An import that ended before its kill does not count as one.
func TestKilledImports(t *testing.T) {
	kills := fewKills
	if text := os.Getenv(killsVariable); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	shared := storetest.Redis(t)
	var running sync.WaitGroup
	slots := make(chan struct{}, killsAtOnce)
	for i, k := range killings {
		for j, mode := range []string{"merge", "replace"} {
			part := len(killings)*2 - 1
			p := &prey{killing: k, mode: mode, shared: shared, left: (kills + part - i*2 - j) / (part + 1), latest: 400 * time.Millisecond}
			for range killsAtOnce {
				running.Go(func() {
					for p.take(t) {
						slots <- struct{}{}
						struck, err := p.strike(t)
						<-slots
						if err != nil {
							t.Error(err)
						}
						p.learn(struck)
					}
				})
			}
		}
	}
	running.Wait()
}

// prey is the imports of one kind: what of them is killed, and when.
type prey struct {
	killing
	mode, shared string

	mu     sync.Mutex
	left   int // kills that are still to be made
	round  int
	latest time.Duration // of the kills; it follows how long imports take
}

// take claims one kill.
func (p *prey) take(t *testing.T) bool {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 || t.Failed() {
		return false
	}
	p.left--
	p.round++
	return true
}

// learn notes whether a kill struck; one that came too late is made again.
func (p *prey) learn(struck bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if struck {
		p.latest = p.latest * 9 / 8
		return
	}
	p.left++
	p.latest = p.latest * 3 / 4
}

// history is who was active on which day.
type history map[int]map[string]bool

// users are n users of a round, beginning with number from, each on some days.
func users(random *rand.Rand, from, n, firstDay, lastDay int) history {
	h := history{}
	for day := firstDay; day <= lastDay; day++ {
		h[day] = map[string]bool{}
		for u := from; u < from+n; u++ {
			if random.IntN(3) > 0 {
				h[day]["user-"+strconv.Itoa(u)] = true
			}
		}
	}
	return h
}

// csv is the history as a log.
func (h history) csv() string {
	var b strings.Builder
	b.WriteString("user_id,event,day\n")
	for day, ids := range h {
		for id := range ids {
			fmt.Fprintf(&b, "%s,login,2026-03-%02d\n", id, day)
		}
	}
	return b.String()
}

// and is both histories together.
func (h history) and(more history) history {
	all := history{}
	for _, one := range []history{h, more} {
		for day, ids := range one {
			if all[day] == nil {
				all[day] = map[string]bool{}
			}
			for id := range ids {
				all[day][id] = true
			}
		}
	}
	return all
}

// replacedBy is the history with the days of another in their place.
func (h history) replacedBy(other history) history {
	all := maps.Clone(h)
	maps.Copy(all, other)
	return all
}

// round is one import that is killed.
type round struct {
	name, mode  string
	killing     killing
	dir         string
	url, prefix string // of the store
	random      *rand.Rand
	delay       time.Duration
	before      history // was acknowledged
	after       history // when the import is done
	partly      func(now history) error
}

// strike makes a round, and says whether its kill came before the end of the import.
func (p *prey) strike(t *testing.T) (struck bool, err error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kill") // short, for the path of a socket
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	r := p.newRound(dir)
	if err := r.prepare(p.shared); err != nil {
		return false, err
	}
	if struck, err = r.run(t.Context()); err != nil {
		return struck, fmt.Errorf("%s: %w", r.name, err)
	}
	return struck, nil
}

func (p *prey) newRound(dir string) *round {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	p.mu.Lock()
	defer p.mu.Unlock()
	return &round{
		name: fmt.Sprintf("killing %s during a %s, round %d, seed %d", p.name, p.mode, p.round, seed),
		mode: p.mode, killing: p.killing, dir: dir, random: random,
		delay: time.Duration(random.Int64N(int64(p.latest))),
	}
}

// prepare writes the round's files.
func (r *round) prepare(shared string) error {
	r.before = users(r.random, 0, 2_000, firstDay, lastDay-1)
	imported := users(r.random, 1_000, 8_000, firstDay+1, lastDay)
	if r.mode == "merge" {
		r.after, r.partly = r.before.and(imported), r.between
	} else {
		r.after, r.partly = r.before.replacedBy(imported), r.either
	}
	r.url, r.prefix = shared, storetest.Prefix()
	if r.killing.embedded {
		r.url = "embedded"
	}
	config := fmt.Sprintf("redis: %s\ndata_dir: %s\nprefix: %s\nsegment_bits: 256\n", r.url, r.path("data"), r.prefix)
	return errors.Join(
		os.WriteFile(r.path("before.csv"), []byte(r.before.csv()), 0o600),
		os.WriteFile(r.path("import.csv"), []byte(imported.csv()), 0o600),
		os.WriteFile(r.path("config.yaml"), []byte(config), 0o600))
}

func (r *round) path(name string) string { return filepath.Join(r.dir, name) }

// run imports, kills, and looks; struck is false when the import had ended before.
func (r *round) run(ctx context.Context) (struck bool, err error) {
	if _, err := r.command(ctx, "import", r.path("before.csv")); err != nil {
		return false, err
	}
	done, err := r.kill(ctx)
	if err != nil {
		return !done, err
	}
	return !done, r.check(ctx, done)
}

// command runs a command of the product here, to its end.
func (r *round) command(ctx context.Context, args ...string) (stdout string, err error) {
	var out, errs bytes.Buffer
	if code := app.Main(ctx, append(args, "--config", r.path("config.yaml")), strings.NewReader(""), &out, &errs); code != 0 {
		return "", fmt.Errorf("%v ends with %d: %s", args, code, &errs)
	}
	return out.String(), nil
}

// kill runs the import and kills its victim; done tells that the import was
// acknowledged all the same.
func (r *round) kill(ctx context.Context) (done bool, err error) {
	importing := exec.CommandContext(ctx, os.Args[0], "import", "--mode", r.mode, "--config", r.path("config.yaml"), r.path("import.csv"))
	importing.Env = append(os.Environ(), asProgram+"=1")
	var out bytes.Buffer
	importing.Stdout, importing.Stderr = &out, &out
	if err := importing.Start(); err != nil {
		return false, err
	}
	victim, err := r.killing.victim(ctx, r, importing)
	if err == nil {
		time.Sleep(r.delay)
		_ = victim.Kill() // it may have ended
	}
	ended := importing.Wait()
	if done = ended == nil; done != strings.HasPrefix(out.String(), "rows=") {
		return done, fmt.Errorf("the import ends with %w and says %q", ended, &out)
	}
	return done, nil
}

func theDashboard(_ context.Context, _ *round, importing *exec.Cmd) (*os.Process, error) {
	return importing.Process, nil
}

// thePrivateRedis waits for the server that the import starts.
func thePrivateRedis(ctx context.Context, r *round, _ *exec.Cmd) (*os.Process, error) {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: filepath.Join(r.dir, "data", "redis.sock"), MaxRetries: -1})
	defer client.Close()
	for range 200 {
		info, err := client.Info(ctx, "server").Result()
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		_, rest, _ := strings.Cut(info, "process_id:")
		text, _, _ := strings.Cut(rest, "\r")
		pid, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		return os.FindProcess(pid)
	}
	return nil, fmt.Errorf("the import starts no server")
}

// check looks at what is there now, imports again, and looks again.
func (r *round) check(ctx context.Context, done bool) error {
	if err := r.checkTemps(ctx); err != nil {
		return err
	}
	now, err := r.stored(ctx)
	if err != nil {
		return err
	}
	if done {
		if diff := cmp.Diff(r.after, now); diff != "" {
			return fmt.Errorf("the import was acknowledged, but (-want +got):\n%s", shortened(diff))
		}
		return nil
	}
	if err := r.partly(now); err != nil {
		return err
	}
	if _, err := r.command(ctx, "import", "--mode", r.mode, r.path("import.csv")); err != nil {
		return fmt.Errorf("the rerun: %w", err)
	}
	if now, err = r.stored(ctx); err != nil {
		return err
	}
	if diff := cmp.Diff(r.after, now); diff != "" {
		return fmt.Errorf("after the rerun (-want +got):\n%s", shortened(diff))
	}
	return r.checkTemps(ctx)
}

// checkTemps fails on a temporary key that would stay.
func (r *round) checkTemps(ctx context.Context) error {
	if r.killing.embedded {
		return nil // its server has ended with the import
	}
	options, err := redis.ParseURL(r.url)
	if err != nil {
		return err
	}
	client := redis.NewClient(options)
	defer client.Close()
	keys := client.Scan(ctx, 0, r.prefix+":*:tmp:*", 1000).Iterator()
	for keys.Next(ctx) {
		if ttl, err := client.PTTL(ctx, keys.Val()).Result(); err != nil || ttl == -1 {
			return fmt.Errorf("temporary key %s has no TTL, %w", keys.Val(), err)
		}
	}
	return keys.Err()
}

// stored is what the product has, day by day.
func (r *round) stored(ctx context.Context) (history, error) {
	h := history{}
	for day := firstDay; day <= lastDay; day++ {
		both := fmt.Sprintf("active@2026-03-%02d", day)
		list, err := r.command(ctx, "export", both)
		if err != nil {
			return nil, err
		}
		ids := map[string]bool{}
		for line := range strings.Lines(strings.TrimPrefix(list, "user_id\n")) {
			ids[strings.TrimSpace(line)] = true
		}
		if len(ids) > 0 {
			h[day] = ids
		}
	}
	return h, nil
}

// between checks a merge that was cut short: nothing is gone, nothing is there
// that should not be.
func (r *round) between(now history) error {
	for day, ids := range now {
		for id := range ids {
			if !r.after[day][id] {
				return fmt.Errorf("%s should not be on day %d", id, day)
			}
		}
	}
	for day, ids := range r.before {
		for id := range ids {
			if !now[day][id] {
				return fmt.Errorf("%s was acknowledged and is gone from day %d", id, day)
			}
		}
	}
	return nil
}

// either checks a replacement that was cut short: all of it happened or nothing.
func (r *round) either(now history) error {
	old := cmp.Diff(r.before, now)
	if old == "" {
		return nil
	}
	if whole := cmp.Diff(r.after, now); whole != "" {
		return fmt.Errorf("neither the old days (-want +got):\n%s\nnor the new ones (-want +got):\n%s", shortened(old), shortened(whole))
	}
	return nil
}

// shortened is the beginning of a long text.
func shortened(text string) string { return text[:min(len(text), 1_500)] }

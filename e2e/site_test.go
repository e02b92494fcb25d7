package e2e

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bitboard/internal/app"
	"bitboard/internal/config"
	"bitboard/internal/store/storetest"
)

// today is the day that the journeys take as today.
var today = time.Date(2026, time.March, 10, 0, 0, 0, 0, time.UTC)

// firstAgo is how many days before today the log begins.
const firstAgo = 90

func day(ago int) string { return today.AddDate(0, 0, -ago).Format("2006-01-02") }

// activity is a log with what is right about it, worked out user by user.
type activity struct {
	rows      strings.Builder
	active    map[string]map[string]bool // day, user
	activated map[string]bool
	exposed   map[string]bool
}

// newActivity is 90 days, some of them in the year before, of 40 users who
// come every 1 to 5 days and now and then miss one.
func newActivity() *activity {
	a := &activity{active: map[string]map[string]bool{}, activated: map[string]bool{}, exposed: map[string]bool{}}
	a.rows.WriteString("user_id,event,day\n")
	for u := range 40 {
		user := fmt.Sprintf("u-%03d", u)
		for ago := firstAgo; ago >= 0; ago-- {
			if (ago+u)%(u%5+1) == 0 && (ago+u)%17 != 0 {
				a.add(user, "login", day(ago))
			}
		}
		if u%2 == 0 {
			a.add(user, "activate", day(30))
			a.activated[user] = true
		}
		if u%3 == 0 {
			a.add(user, "expose", day(20))
			a.exposed[user] = true
		}
	}
	return a
}

func (a *activity) add(user, event, day string) {
	fmt.Fprintf(&a.rows, "%s,%s,%s\n", user, event, day)
	if event != "login" {
		return
	}
	if a.active[day] == nil {
		a.active[day] = map[string]bool{}
	}
	a.active[day][user] = true
}

// within returns the users active on one of the days from..to before today.
func (a *activity) within(from, to int) []string {
	users := map[string]bool{}
	for ago := from; ago >= to; ago-- {
		maps.Copy(users, a.active[day(ago)])
	}
	return slices.Sorted(maps.Keys(users))
}

// runs returns the lengths of a user's runs of consecutive days, oldest first,
// the last of which ends today if the user came today.
func (a *activity) runs(user string) []int {
	runs := []int{0}
	for ago := firstAgo; ago >= 0; ago-- {
		if a.active[day(ago)][user] {
			runs[len(runs)-1]++
		} else {
			runs = append(runs, 0)
		}
	}
	return runs
}

// daysIn returns the number of a user's days in a year.
func (a *activity) daysIn(year, user string) (n int) {
	for d, users := range a.active {
		if users[user] && strings.HasPrefix(d, year) {
			n++
		}
	}
	return n
}

// bothDays returns the users active on a day and on the day after.
func (a *activity) bothDays(ago int) []string {
	return slices.DeleteFunc(a.within(ago, ago), func(u string) bool { return !a.active[day(ago-1)][u] })
}

// without returns the log without the rows of a day.
func (a *activity) without(day string) string {
	var kept strings.Builder
	for row := range strings.Lines(a.rows.String()) {
		if !strings.HasSuffix(strings.TrimSpace(row), ","+day) {
			kept.WriteString(row)
		}
	}
	return kept.String()
}

// cameBack returns the users active on a day and on at least one of the days
// from..to after it.
func (a *activity) cameBack(ago, from, to int) []string {
	later := a.within(ago-from, ago-to)
	return slices.DeleteFunc(a.within(ago, ago), func(u string) bool { return !slices.Contains(later, u) })
}

// activatedNotExposed returns the users of the ready example.
func (a *activity) activatedNotExposed() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a.activated)), func(u string) bool { return a.exposed[u] })
}

// serve imports a log, if any, with the real command and serves it.
func serve(t *testing.T, redis, log string) (url string) {
	t.Helper()
	prefix := storetest.Prefix()
	if log != "" {
		file := filepath.Join(t.TempDir(), "activity.csv")
		must(t, os.WriteFile(file, []byte(log), 0o600))
		t.Setenv("BITBOARD_PREFIX", prefix)
		var out, errs bytes.Buffer
		if code := app.Main(t.Context(), []string{"import", "--redis", redis, file}, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("import: exit %d: %s%s", code, &out, &errs)
		}
	}
	c, err := config.Load(config.Sources{
		Env: func(string) string { return "" }, Flags: map[string]string{"redis": redis, "prefix": prefix, "listen": "127.0.0.1:0"},
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, c, app.ServeOptions{Log: slog.New(slog.DiscardHandler), Ready: func(url string) { ready <- url }})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	select {
	case url = <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("serve: %v", err)
	}
	return strings.TrimSuffix(url, "/")
}

package app

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/store/storetest"
)

// raw returns a plain client of the server at a URL, to act as another program.
func raw(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

// within waits until a check holds.
func within(t *testing.T, patience time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s does not hold", patience, what)
		}
	}
}

func TestEvictionPolicyIsSaidOnEveryPageAndWritesAreRefused(t *testing.T) {
	t.Parallel()
	url, _ := storetest.Start(t, "--maxmemory-policy", "allkeys-lru")
	page, _ := serving(t, settings(t, map[string]string{"redis": url}))
	banner := func(path string) bool {
		_, body := get(t, page+path)
		return strings.Contains(body, "The store may lose days.") && strings.Contains(body, "(maxmemory-policy allkeys-lru)")
	}
	write := func() (status int, body string) {
		answer, err := http.Post(page+"/api/v1/events", "application/json", strings.NewReader(`[{"user_id":"u1","event":"login","day":"2026-03-01"}]`))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	for _, path := range []string{"/", "/retention", "/cohorts", "/users"} {
		if !banner(path) {
			t.Errorf("%s does not say that the store may lose days", path)
		}
	}
	if status, body := write(); status != http.StatusServiceUnavailable || !strings.Contains(body, `"code":"eviction_policy"`) || !strings.Contains(body, "CONFIG SET maxmemory-policy noeviction") {
		t.Errorf("events are answered by %d %s", status, body)
	}
	setPolicy := func(policy string) {
		if err := raw(t, url).ConfigSet(t.Context(), "maxmemory-policy", policy).Err(); err != nil {
			t.Fatal(err)
		}
	}
	setPolicy("noeviction")
	within(t, 10*time.Second, "writing after the policy was put right", func() bool { status, _ := write(); return status == http.StatusOK })
	if banner("/") {
		t.Error("the banner stays after the policy was put right")
	}
	setPolicy("allkeys-lru")
	within(t, 10*time.Second, "the banner after the policy was changed again", func() bool { return banner("/") })
}

func TestImportIntoAStoreThatEvictsIsRefused(t *testing.T) {
	url, _ := storetest.Start(t, "--maxmemory-policy", "volatile-lru")
	t.Setenv("REDIS_URL", url)
	for _, mode := range []string{"merge", "replace"} {
		got := run(t, "import", "--mode", mode, file(t, "log.csv", "user_id,event,day\nu1,login,2026-03-01\n"))
		if got.code != 1 || !strings.Contains(got.stderr, "maxmemory-policy volatile-lru") || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: got %+v", mode, got)
		}
	}
}

func TestEvictedKeysAreSaidWhereverDaysAre(t *testing.T) {
	t.Parallel()
	url, _ := storetest.Start(t)
	page, _ := serving(t, settings(t, map[string]string{"redis": url}))
	answer, err := http.Post(page+"/api/v1/events", "application/json", strings.NewReader(`[{"user_id":"u1","event":"login","day":"2026-03-01"}]`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	const day = "/api/v1/active?metric=active&from=2026-03-01&to=2026-03-01&as_of=2026-03-02"
	if _, body := get(t, page+day); strings.Contains(body, "suspect") {
		t.Errorf("before: %s", body)
	}
	client := raw(t, url)
	client.SetBit(t.Context(), "other", 8<<20, 1)
	client.Expire(t.Context(), "other", time.Minute)
	for _, setting := range [][2]string{
		{"maxmemory-policy", "volatile-lru"}, {"maxmemory", "1900000"}, {"maxmemory", "0"}, {"maxmemory-policy", "noeviction"},
	} {
		if err := client.ConfigSet(t.Context(), setting[0], setting[1]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	within(t, 10*time.Second, "the suspicion", func() bool {
		_, body := get(t, page+day)
		return strings.Contains(body, `"suspect":"evicted"`) && strings.Contains(body, `"count":1`)
	})
	if _, body := get(t, page+"/?as_of=2026-03-02"); !strings.Contains(body, "perhaps evicted") {
		t.Error("the overview does not say that days are perhaps evicted")
	}
}

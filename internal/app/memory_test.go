package app

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// withoutRedisServer lets commands find no redis-server.
func withoutRedisServer(t *testing.T) (dir string) {
	t.Helper()
	t.Setenv("PATH", "")
	t.Setenv("REDIS_URL", "embedded")
	return t.TempDir()
}

func TestServeWithoutARedisServerIsInMemoryAndSaysSo(t *testing.T) {
	dir := withoutRedisServer(t)
	url, stop := serving(t, settings(t, map[string]string{"data_dir": dir}))
	for _, path := range []string{"/", "/retention", "/cohorts", "/cohorts?expr=activated", "/users", "/users?id=nobody", "/nope"} {
		for language, says := range map[string]string{
			"en":    "<strong>Nothing is kept.</strong> The data are in memory only and are gone when this program ends",
			"zh-CN": "<strong>数据不会被保存。</strong>",
		} {
			if body := page(t, url+path, language); !strings.Contains(body, says) || !strings.Contains(body, "--redis") {
				t.Errorf("%s does not say %q", path, says)
			}
		}
	}
	if status, body := get(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz answers %d %s", status, body)
	}
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

// page gets a page as a reader of a language does.
func page(t *testing.T, url, language string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Language", language)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestWritesOverHTTPWorkInMemory(t *testing.T) {
	dir := withoutRedisServer(t)
	url, _ := serving(t, settings(t, map[string]string{"data_dir": dir}))
	for _, w := range []struct{ path, body, says string }{
		{"/api/v1/events", `[{"user_id":"u1","event":"login","day":"2026-03-01"},{"user_id":"u2","event":"login","day":"2026-03-02"}]`, `"accepted":2`},
		{"/api/v1/events", `[{"user_id":"u2","event":"login","day":"2026-03-02","value":false}]`, `"accepted":1`},
		{"/api/v1/flags/activated", `{"user_ids":["u1","u2"],"value":true}`, `"changed":2`},
	} {
		answer, err := http.Post(url+w.path, "application/json", strings.NewReader(w.body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), w.says) {
			t.Errorf("%s answers %s %s, %v", w.path, answer.Status, body, err)
		}
	}
	for _, engine := range []string{"bitop", "fold"} {
		_, body := get(t, url+"/api/v1/active?metric=active&from=2026-03-01&to=2026-03-02&as_of=2026-03-03&engine="+engine)
		if !strings.Contains(body, `{"date":"2026-03-01","count":1,`) || !strings.Contains(body, `{"date":"2026-03-02","count":0,`) {
			t.Errorf("%s counts %s", engine, body)
		}
	}
	if _, body := get(t, url+"/api/v1/cohorts/members.csv?expr=activated"); body != "user_id\nu1\nu2\n" {
		t.Errorf("members.csv is %q", body)
	}
}

func TestServingFromMemoryIsLogged(t *testing.T) {
	dir := withoutRedisServer(t)
	var log bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := Serve(ctx, settings(t, map[string]string{"data_dir": dir}), ServeOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), Ready: func(string) { cancel() }})
	if err != nil || !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "serving from memory") {
		t.Errorf("Serve: %v, log %q", err, log.String())
	}
}

func TestOtherCommandsAreRefusedWithoutARedisServer(t *testing.T) {
	dir := withoutRedisServer(t)
	log := file(t, "log.csv", "user_id,event,day\nu1,login,2026-03-01\n")
	for _, args := range [][]string{{"import", log}, {"import", "--mode", "replace", log}, {"export", "activated"}} {
		got := run(t, append(args, "--data-dir", dir)...)
		const says = "; install Redis 7 or later, or give the address of one that runs with --redis\n"
		if got.code != 1 || got.stdout != "" || !strings.HasPrefix(got.stderr, "dashboard: there is no redis-server program on PATH") || !strings.HasSuffix(got.stderr, says) {
			t.Errorf("%v: got %+v", args, got)
		}
	}
}

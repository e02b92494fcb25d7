package app

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// demonstrating serves the demonstration and returns its URL.
func demonstrating(t *testing.T, flags map[string]string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	c := settings(t, flags)
	go func() {
		ended <- Serve(ctx, c, ServeOptions{Demo: true, Log: slog.New(slog.DiscardHandler), Ready: func(url string) { ready <- url }})
	}()
	select {
	case url := <-ready:
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
		return strings.TrimSuffix(url, "/")
	case err := <-ended:
		cancel()
		t.Fatalf("Serve: %v", err)
		return ""
	}
}

func TestDemo(t *testing.T) {
	dir := withoutRedisServer(t) // it needs none
	url := demonstrating(t, map[string]string{"data_dir": dir})
	for _, path := range []string{"/", "/retention", "/cohorts", "/users?id=1000"} {
		for language, says := range map[string]string{"en": "<strong>Sample data.</strong>", "zh-CN": "<strong>示例数据。</strong>"} {
			if body := page(t, url+path, language); !strings.Contains(body, says) {
				t.Errorf("%s does not say %q", path, says)
			}
		}
	}
	for path, says := range map[string]string{
		"/api/v1/cohorts/count?expr=active@today-399d..today%26activated": `"known_users":199`,
		"/api/v1/active?metric=active&from=today-30d&to=yesterday":        `"suspect":"missing"`,
		"/api/v1/active?metric=active&from=today-60d&to=today-40d":        `"suspect":"low"`,
		"/api/v1/users/1000/calendar?metric=active&from=today&to=today":   `"first_day":"20`,
	} {
		if status, body := get(t, url+path); status != http.StatusOK || !strings.Contains(body, says) {
			t.Errorf("%s answers %d without %s: %.300s", path, status, says, body)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

func TestDemoRefusesOtherData(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "appendonly.aof"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := file(t, "other.yaml", "metrics: [{name: active, kind: flag, title: A}]\nevents: {}\n")
	t.Setenv("REDIS_URL", "embedded")
	tests := []struct {
		name string
		args []string
		says string
	}{
		{"another store", []string{"--redis", "redis://127.0.0.1:1"}, "--demo serves sample data from memory; leave --redis away"},
		{"a folder with data", []string{"--data-dir", full}, "would hide the data in " + full},
		{"metrics of another kind", []string{"--config", other, "--data-dir", t.TempDir()}, "--demo needs the flag metric activated, which the configuration does not have"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, append([]string{"serve", "--demo", "--listen", "127.0.0.1:0"}, tt.args...)...)
			if got.code != 2 || !strings.Contains(got.stderr, tt.says) {
				t.Errorf("got %+v, want exit code 2 and %q", got, tt.says)
			}
		})
	}
}

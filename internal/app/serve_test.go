package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bitboard/internal/config"
	"bitboard/internal/store/storetest"
)

// settings is a configuration with a server on a free port.
func settings(t *testing.T, flags map[string]string) config.Config {
	t.Helper()
	flags["listen"] = "127.0.0.1:0"
	c, err := config.Load(config.Sources{Env: func(string) string { return "" }, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serving runs Serve until the test or stop ends it.
func serving(t *testing.T, c config.Config) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, c, ServeOptions{Log: slog.New(slog.DiscardHandler), Ready: func(url string) { ready <- url }})
	}()
	result := func() error {
		cancel()
		select {
		case err := <-ended:
			ended <- err
			return err
		case <-time.After(10 * time.Second):
			return errors.New("still serving after 10 s")
		}
	}
	t.Cleanup(func() { _ = result() })
	select {
	case url = <-ready:
	case err := <-ended:
		t.Fatalf("Serve: %v", err)
	}
	return strings.TrimSuffix(url, "/"), result
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(url)
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

func TestServeAnswersAndEndsInOrder(t *testing.T) {
	url, stop := serving(t, settings(t, map[string]string{"redis": storetest.Redis(t), "prefix": storetest.Prefix()}))
	if status, body := get(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz answers %d %s", status, body)
	}
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
		t.Error("the port is still open after Serve")
	}
}

func TestServeTakesEventsIn(t *testing.T) {
	url, _ := serving(t, settings(t, map[string]string{"redis": storetest.Redis(t), "prefix": storetest.Prefix()}))
	answer, err := http.Post(url+"/api/v1/events", "application/json", strings.NewReader(`[{"user_id":"u1","event":"login","day":"2026-03-01"}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Errorf("events answers %s", answer.Status)
	}
	if _, body := get(t, url+"/api/v1/cohorts/members.csv?expr=active@2026-03-01"); body != "user_id\nu1\n" {
		t.Errorf("members.csv is %q", body)
	}
}

func TestTheConfiguredEngineAnswers(t *testing.T) {
	c := settings(t, map[string]string{"redis": storetest.Redis(t), "prefix": storetest.Prefix()})
	c.Engine.Mode = "fold"
	url, _ := serving(t, c)
	for query, engine := range map[string]string{"": "fold", "&engine=bitop": "bitop"} {
		if _, body := get(t, url+"/api/v1/cohorts/count?expr=activated"+query); !strings.Contains(body, `"engine":"`+engine+`"`) {
			t.Errorf("with %q: %s", query, body)
		}
	}
}

func TestServeGoesOnWithoutItsStore(t *testing.T) {
	redis, stopRedis := storetest.Start(t)
	url, stop := serving(t, settings(t, map[string]string{"redis": redis}))
	stopRedis()
	if status, body := get(t, url+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("without Redis readyz answers %d %s", status, body)
	}
	if status, _ := get(t, url+"/healthz"); status != http.StatusOK {
		t.Errorf("without Redis healthz answers %d", status)
	}
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeOnATakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c := settings(t, map[string]string{"redis": storetest.Redis(t)})
	c.Listen = taken.Addr().String()
	err = Serve(t.Context(), c, ServeOptions{Log: slog.New(slog.DiscardHandler), Ready: func(string) { t.Error("ready on a taken port") }})
	if want := "cannot listen on " + c.Listen + ": address already in use"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestServeWhereTheConfigurationLetsOthersIn(t *testing.T) {
	c := settings(t, map[string]string{"redis": storetest.Redis(t), "allow_remote": "true"})
	c.Listen = "0.0.0.0:0"
	url, _ := serving(t, c)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, "http://"+net.JoinHostPort("127.0.0.1", port)+"/readyz"); status != http.StatusOK {
		t.Errorf("status %d: %s", status, body)
	}
}

func TestCommandsShareTheEmbeddedStoreOfAFolder(t *testing.T) {
	dir := t.TempDir()
	url, _ := serving(t, settings(t, map[string]string{"data_dir": dir}))
	t.Setenv("REDIS_URL", "embedded")
	got := run(t, "export", "--data-dir", dir, "activated")
	if got.code != 0 || got.stdout != "user_id\n" {
		t.Errorf("export beside the server: %+v", got)
	}
	if status, body := get(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("after the export readyz answers %d %s", status, body)
	}
}

// save saves a cohort over the API of a server.
func save(t *testing.T, url, name, expr string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/api/v1/cohorts/"+name, strings.NewReader(`{"expr":"`+expr+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusCreated {
		t.Fatalf("saving %s is answered with %d", name, answer.StatusCode)
	}
}

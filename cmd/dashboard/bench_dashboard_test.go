package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// benchDashboard is a running program.
type benchDashboard struct {
	url string
	pid int
}

// startDashboard serves with a configuration until the benchmark ends.
func startDashboard(b *testing.B, text string) benchDashboard {
	b.Helper()
	config := filepath.Join(b.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	program := exec.CommandContext(ctx, os.Args[0], "serve", "--listen", "127.0.0.1:0", "--config", config)
	program.Env = append(os.Environ(), asProgram+"=1")
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cancel()
		_ = program.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return benchDashboard{strings.TrimSuffix(strings.TrimSpace(line), "/"), program.Process.Pid}
}

// awaitDay waits until the dashboard has found the days up to one.
func (d benchDashboard) awaitDay(b *testing.B, last int) {
	b.Helper()
	for !strings.Contains(d.ask(b, "/api/v1/metrics"), `"last_day":"`+benchDay(last).Format(time.DateOnly)) {
		time.Sleep(100 * time.Millisecond)
	}
}

// ask gets an answer of the dashboard.
func (d benchDashboard) ask(b *testing.B, path string) string {
	b.Helper()
	answer, err := http.Get(d.url + path)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v, %.300s", path, answer.Status, err, body)
	}
	return string(body)
}

// plain asks for answers as they are: packing a list takes far more time than
// making it.
var plain = &http.Client{Transport: &http.Transport{DisableCompression: true}}

// list reads a list of users to its end, and returns how many there are said to be.
func (d benchDashboard) list(b *testing.B, path string) (users int64) {
	b.Helper()
	answer, err := plain.Get(d.url + path)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", path, answer.Status, err)
	}
	if users, err = strconv.ParseInt(answer.Header.Get("X-Bitboard-Count"), 10, 64); err != nil {
		b.Fatal(err)
	}
	return users
}

// peakMiB is the most memory that the dashboard had at a time.
func (d benchDashboard) peakMiB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kib) / 1024
}

package bitboard_test

import (
	"bufio"
	"debug/elf"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"bitboard/internal/store/storetest"
)

// composed is the part of compose.yaml that is read here.
type composed struct {
	Services map[string]struct {
		Image       string
		Command     []string
		Environment map[string]string
		Ports       []string
		Volumes     []string
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
	}
	Volumes map[string]any
}

func compose(t *testing.T) composed {
	t.Helper()
	var c composed
	if err := yaml.Unmarshal([]byte(read(t, "compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// theImage is the program as the Dockerfile builds it.
var theImage struct {
	sync.Once
	path, said string
	err        error
}

func image(t *testing.T) string {
	t.Helper()
	build := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*) -o /dashboard (\./cmd/dashboard)$`).FindStringSubmatch(read(t, "Dockerfile"))
	if build == nil {
		t.Fatal("the Dockerfile builds no /dashboard")
	}
	theImage.Do(func() {
		dir, err := os.MkdirTemp("", "image")
		if err != nil {
			theImage.err = err
			return
		}
		theImage.path = filepath.Join(dir, "dashboard")
		out, err := exec.Command("sh", "-c", build[1]+` -o "$0" `+build[2], theImage.path).CombinedOutput()
		theImage.said, theImage.err = string(out), err
	})
	if theImage.err != nil {
		t.Fatalf("%s: %v: %s", build[0], theImage.err, theImage.said)
	}
	return theImage.path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if theImage.path != "" {
		_ = os.RemoveAll(filepath.Dir(theImage.path))
	}
	os.Exit(code)
}

func TestTheImageIsStaticAndRunByNobody(t *testing.T) {
	f, err := elf.Open(image(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the program needs %v, %v; the image has no library", libraries, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs a loader; the image has none")
		}
	}
	lines := strings.Split(read(t, "Dockerfile"), "\n")
	last := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "FROM ") && strings.Contains(l, "distroless/static") })
	if last < 0 || !slices.Contains(lines[last:], "USER nonroot:nonroot") {
		t.Error("the image is not that without a shell, or its program runs as root")
	}
}

func TestTheComposedServicesAreSafe(t *testing.T) {
	c := compose(t)
	dashboard, redis := c.Services["dashboard"], c.Services["redis"]
	for _, port := range dashboard.Ports {
		if !strings.HasPrefix(port, "127.0.0.1:") {
			t.Errorf("port %s is open to others, and there is no sign-in", port)
		}
	}
	if len(redis.Ports) > 0 {
		t.Errorf("Redis is published as %v", redis.Ports)
	}
	if !dashboard.ReadOnly || !slices.Contains(dashboard.CapDrop, "ALL") {
		t.Error("the dashboard may write to its image, or has capabilities")
	}
	at := slices.Index(redis.Command, "--dir")
	if at < 0 {
		t.Fatal("Redis is given no folder")
	}
	kept := slices.IndexFunc(redis.Volumes, func(v string) bool { return strings.HasSuffix(v, ":"+redis.Command[at+1]) })
	if kept < 0 {
		t.Fatalf("Redis keeps its data in %s, which is no volume of %v", redis.Command[at+1], redis.Volumes)
	}
	name, _, _ := strings.Cut(redis.Volumes[kept], ":")
	if _, declared := c.Volumes[name]; !declared {
		t.Errorf("the volume %s is not declared", name)
	}
}

// The program and Redis as compose.yaml starts them, but for what only Docker
// has: names of hosts and the folders of an image.
func TestTheComposedServicesServe(t *testing.T) {
	c := compose(t)
	command := slices.Clone(c.Services["redis"].Command[1:])
	command[slices.Index(command, "--dir")+1] = t.TempDir()
	url, _ := storetest.Start(t, command...)

	environment := []string{"PATH=/nowhere", "HOME=/nowhere"}
	for name, value := range c.Services["dashboard"].Environment {
		switch name {
		case "REDIS_URL":
			value = url
		case "BITBOARD_TIMEZONE":
			value = "Asia/Shanghai"
		case "BITBOARD_LISTEN":
			value = strings.Replace(value, ":8080", ":0", 1)
		}
		environment = append(environment, name+"="+value)
	}
	run := func(arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), image(t), arguments...)
		cmd.Env, cmd.Dir = environment, "/"
		return cmd
	}

	serve := run("serve")
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	serve.Stderr = &logged
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceValue(func() error {
		if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		return serve.Wait()
	})
	defer func() { _ = stop() }()
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("serve: %v: %s", err, logged.String())
	}

	load := run("import", "-")
	load.Stdin = strings.NewReader("user_id,event,timestamp\nu1,login," + time.Now().UTC().Format(time.RFC3339) + "\n")
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("import: %v: %s", err, out)
	}
	port := regexp.MustCompile(`:\d+`).FindString(strings.TrimPrefix(said, "http://"))
	for _, path := range []string{"/healthz", "/readyz", "/"} {
		answer, err := http.Get("http://127.0.0.1" + port + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", path, answer.StatusCode)
		}
	}
	out, err := run("doctor").CombinedOutput()
	if err != nil {
		t.Errorf("doctor: %v: %s", err, out)
	}
	if found := regexp.MustCompile(`(?m)^\s*(wrong|hint)\s.*$`).FindString(string(out)); found != "" {
		t.Errorf("doctor says of the composed Redis: %s", found)
	}
	if err := stop(); err != nil {
		t.Errorf("serve, told to end: %v: %s", err, logged.String())
	}
}

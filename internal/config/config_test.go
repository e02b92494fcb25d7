package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
)

// noEnv is an environment without variables.
func noEnv(string) string { return "" }

// writeFile puts text into a fresh configuration file and returns its path.
func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bitboard.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, s Sources) Config {
	t.Helper()
	if s.Env == nil {
		s.Env = noEnv
	}
	c, err := Load(s)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

// zoneNames replaces a zone, which go-cmp cannot look into, by its name.
var zoneNames = cmp.Transformer("zone", func(z *time.Location) string { return z.String() })

func TestDefaultsHoldWithoutAFile(t *testing.T) {
	want := Config{
		Workspace: cohort.Workspace{
			Zone:     time.UTC,
			Calendar: cohort.Calendar{WeekStart: time.Monday},
			Metrics: []cohort.Metric{
				{Name: "active", Kind: cohort.KindDaily, Title: "Active users"},
				{Name: "signed_in", Kind: cohort.KindDaily, Title: "Sign-ins"},
				{Name: "activated", Kind: cohort.KindFlag, Title: "Activated"},
				{Name: "activated_on", Kind: cohort.KindDaily, Title: "Activations by day"},
				{Name: "exposed", Kind: cohort.KindFlag, Title: "Saw the new feature"},
				{Name: "online", Kind: cohort.KindPresence, Title: "Online"},
			},
		},
		Events: map[string][]string{
			"login":    {"active", "signed_in"},
			"activate": {"activated", "activated_on"},
			"expose":   {"exposed"},
		},
		Redis:       Embedded,
		DataDir:     "./data",
		Prefix:      "bb",
		SegmentBits: 1 << 20,
		MaxOffset:   3435973836,
		Listen:      "127.0.0.1:8080",
		Engine: Engine{
			Mode:          "auto",
			MaxBitopBytes: 1 << 20,
			MaxRedisShare: 0.25,
			Burst:         time.Second,
			Offpeak:       Window{From: 60, To: 360},
			JobCostLimit:  4 << 30,
			TempTTL:       15 * time.Minute,
		},
		Cache: Cache{TTLOpen: time.Minute, SettleAfter: 2 * time.Hour, CatalogueScan: 5 * time.Minute},
	}
	for name, text := range map[string]string{"no file": "", "empty file": "", "only comments": "# nothing\n", "empty sections": "engine:\ncache:\n"} {
		t.Run(name, func(t *testing.T) {
			s := Sources{}
			if name != "no file" {
				s.File = writeFile(t, text)
			}
			if diff := cmp.Diff(want, load(t, s), zoneNames); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	got := load(t, Sources{File: writeFile(t, `
timezone: Asia/Kathmandu
week_start: sunday
ids: dense
redis: redis://:secret@cache:6379/2
data_dir: /var/lib/bitboard
prefix: app:bb
segment_bits: 64
max_offset: 4294967295
listen: "[::1]:0"
metrics:
  - {name: commit, kind: daily, keep: 90}
  - name: here
    kind: presence
    title: Here now
events:
  push: [commit, here]
  "*": [commit]
engine: {mode: fold, max_bitop_bytes: 64 KB, max_redis_share: 1, burst: 0s, offpeak: "23:30-04:00", job_cost_limit: 100, temp_ttl: 1h30m}
cache: {ttl_open: 1s, settle_after: 0s, catalogue_scan: 0}
`)})
	zone, err := time.LoadLocation("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Workspace: cohort.Workspace{
			Zone:     zone,
			Calendar: cohort.Calendar{WeekStart: time.Sunday},
			Metrics: []cohort.Metric{
				{Name: "commit", Kind: cohort.KindDaily, Title: "commit", Keep: 90},
				{Name: "here", Kind: cohort.KindPresence, Title: "Here now"},
			},
		},
		Events:      map[string][]string{"push": {"commit", "here"}, AnyEvent: {"commit"}},
		DenseIDs:    true,
		Redis:       "redis://:secret@cache:6379/2",
		DataDir:     "/var/lib/bitboard",
		Prefix:      "app:bb",
		SegmentBits: 64,
		MaxOffset:   4294967295,
		Listen:      "[::1]:0",
		Engine: Engine{
			Mode:          "fold",
			MaxBitopBytes: 64000,
			MaxRedisShare: 1,
			Offpeak:       Window{From: 23*60 + 30, To: 240},
			JobCostLimit:  100,
			TempTTL:       90 * time.Minute,
		},
		Cache: Cache{TTLOpen: time.Second},
	}
	if diff := cmp.Diff(want, got, zoneNames); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestEventsWithOtherMetrics(t *testing.T) {
	const metrics = "metrics: [{name: active, kind: daily}, {name: expose, kind: daily}, {name: exposed, kind: flag}]\n"
	tests := []struct {
		name, text string
		want       map[string][]string
	}{
		{"default lines hold as far as they fit", metrics, map[string][]string{"login": {"active"}}},
		{"given lines replace the default ones", metrics + "events: {open: [active]}\n", map[string][]string{"open": {"active"}}},
		{"no lines at all", metrics + "events: {}\n", map[string][]string{}},
		{"no lines with the default metrics", "events: {}\n", map[string][]string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := load(t, Sources{File: writeFile(t, test.text)}).Events
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrongerSourcesWin(t *testing.T) {
	file := writeFile(t, "redis: redis://file:1\nlisten: 127.0.0.1:1\nprefix: file\nengine: {mode: fold}\n")
	env := map[string]string{
		"REDIS_URL":            "redis://env:1",
		"BITBOARD_LISTEN":      "127.0.0.1:2",
		"BITBOARD_ENGINE_MODE": "bitop",
		"BITBOARD_DATA_DIR":    "",
		"BITBOARD_METRICS":     "[{name: seen, kind: daily}]",
		"BITBOARD_EVENTS":      "{look: [seen]}",
	}
	c := load(t, Sources{File: file, Env: func(name string) string { return env[name] }, Flags: map[string]string{"redis": "redis://flag:1"}})
	got := []string{c.Redis, c.Listen, c.Engine.Mode, c.Prefix, c.DataDir, c.Workspace.Metrics[0].Name, c.Events["look"][0]}
	want := []string{"redis://flag:1", "127.0.0.1:2", "bitop", "file", "./data", "seen", "seen"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestMistakesOfEverySourceAreReported(t *testing.T) {
	file := writeFile(t, "timezone: Mars/Phobos\n")
	env := map[string]string{"BITBOARD_SEGMENT_BITS": "100", "BITBOARD_METRICS": "[{name: a, kind: daily}, {name: a, kind: flag}]"}
	_, err := Load(Sources{File: file, Env: func(name string) string { return env[name] }, Flags: map[string]string{"data_dir": ""}})
	if !errors.Is(err, fault.ErrInvalid) {
		t.Fatalf("error %v is not a fault.ErrInvalid", err)
	}
	want := file + `:1: timezone: "Mars/Phobos" is not a time zone that exists; give an IANA name such as UTC or Europe/Berlin
BITBOARD_SEGMENT_BITS: segment_bits: "100" is not a positive multiple of 64 up to 4294967296
BITBOARD_METRICS:1: metric a is given twice, first on line 1
--data-dir: data_dir: "" is not a folder; give a path such as ./data`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

func TestKeysDescribeEveryKey(t *testing.T) {
	all := map[string]Key{}
	for _, k := range Keys() {
		all[k.Path] = k
	}
	want := map[string]Key{
		"redis":                  {"redis", "REDIS_URL", "embedded", false},
		"engine.max_redis_share": {"engine.max_redis_share", "BITBOARD_ENGINE_MAX_REDIS_SHARE", "0.25", false},
		"metrics":                {"metrics", "BITBOARD_METRICS", "", true},
	}
	for path, k := range want {
		if diff := cmp.Diff(k, all[path]); diff != "" {
			t.Errorf("key %s (-want +got):\n%s", path, diff)
		}
	}
	if len(all) != len(keys) {
		t.Errorf("%d keys described, want %d", len(all), len(keys))
	}
}

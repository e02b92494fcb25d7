package app

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/store/storetest"
)

// patient is a store on a Redis of its own, with three days up to yesterday.
type patient struct {
	*redis.Client
	t      *testing.T
	url    string
	config string
	days   []string // YYYYMMDD; the last is yesterday
}

const patientConfig = `segment_bits: 4096
max_offset: 100000
metrics:
  - {name: active, kind: daily, title: Active}
  - {name: opened, kind: daily, title: Opened, keep: 30}
  - {name: exposed, kind: flag, title: Exposed}
events:
  login: [active, opened]
  expose: [exposed]
`

func newPatient(t *testing.T, arguments ...string) *patient {
	t.Helper()
	url, _ := storetest.Start(t, append([]string{"--appendonly", "yes"}, arguments...)...)
	p := &patient{Client: raw(t, url), t: t, url: url, config: file(t, "patient.yaml", patientConfig)}
	today := cohort.DayOf(time.Now(), time.UTC)
	rows := "user_id,event,day\n"
	for back := cohort.Day(3); back > 0; back-- {
		p.days = append(p.days, (today - back).Compact())
		for user := range 20 {
			rows += fmt.Sprintf("u%d,login,%s\n", user, today-back)
		}
	}
	rows += fmt.Sprintf("u1,expose,%s\n", today-1)
	if got := run(t, "import", "--config", p.config, "--redis", url, file(t, "log.csv", rows)); got.code != 0 {
		t.Fatalf("the import: %+v", got)
	}
	return p
}

func (p *patient) examine() result {
	p.t.Helper()
	return run(p.t, "doctor", "--config", p.config, "--redis", p.url)
}

// do sends commands as another program would.
func (p *patient) do(commands ...string) {
	p.t.Helper()
	for _, c := range commands {
		var words []any
		for w := range strings.FieldsSeq(c) {
			words = append(words, w)
		}
		if err := p.Do(p.t.Context(), words...).Err(); err != nil {
			p.t.Fatalf("%s: %v", c, err)
		}
	}
}

// day is the key of a metric's day, by its place in days.
func (p *patient) day(metric string, n int) string {
	return "bb:{s0}:day:" + metric + ":" + p.days[n]
}

func TestDoctorOfASoundStore(t *testing.T) {
	p := newPatient(t)
	for range 2 { // it leaves nothing behind that it finds fault with
		got := p.examine()
		if got.code != 0 || got.stderr != "" {
			t.Errorf("got %+v", got)
		}
		for line := range strings.Lines(got.stdout) {
			if !strings.HasPrefix(line, "ok     ") {
				t.Errorf("line %q", line)
			}
		}
		for _, check := range []string{
			"server: Redis 7.", "eviction: no", "memory: ", "persistence: ", "layout: schema 1, ids dictionary, segment_bits 4096, timezone UTC, as configured",
			"replace: none", "forgetting: nobody", "types: ", "lengths: ", "expiry: ", "temporary keys: ", "catalogue: lists 8 bitmaps", "days: none", "known users: ",
			"dictionary: offsets up to 19 handed out, and each of 20 known users looked at has an ID", "density: 20 known users on 20 offsets (100 %)", "size: ", "biggest keys: bb:{",
		} {
			if !strings.Contains(got.stdout, "ok     "+check) {
				t.Errorf("no line %q in\n%s", check, got.stdout)
			}
		}
	}
}

func TestDoctorOfAnEmptyStore(t *testing.T) {
	url, _ := storetest.Start(t, "--appendonly", "yes")
	if got := run(t, "doctor", "--redis", url); got.code != 0 || strings.Contains(got.stdout, "wrong") || got.stderr != "" {
		t.Errorf("got %+v", got)
	}
}

func TestDoctorFinds(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(p *patient)
		says  []string // patterns of lines
	}{
		{"a foreign type", func(p *patient) {
			p.do("DEL "+p.day("active", 1), "HSET "+p.day("active", 1)+" a b", "DEL bb:{meta}:next_offset", "SADD bb:{meta}:next_offset x")
		}, []string{`wrong  types: .*bb:\{s0\}:day:active:\d+ is a hash where a string belongs.*rename or delete it`, `wrong  store: the key bb:\{meta\}:next_offset in the store is a set`}},
		{"known users of a foreign type", func(p *patient) { p.do("DEL bb:{s0}:known", "HSET bb:{s0}:known a b") },
			[]string{`wrong  types: bb:\{s0\}:known is a hash where a string belongs`, `hint   known users: not compared in 1 segment whose known key is of another type`}},
		{"a bitmap that is too long", func(p *patient) { p.do("SETBIT " + p.day("active", 1) + " 5000 1") },
			[]string{`wrong  lengths: 1 bitmap longer than a segment of 4096 bits.*active:\d+ of 626 bytes.*write it again`}},
		{"a segment above max_offset", func(p *patient) { p.do("SETBIT bb:{s25}:flag:exposed 1 1") },
			[]string{`wrong  lengths: 1 bitmap in a segment above max_offset 100000.*bb:\{s25\}:flag:exposed; raise max_offset`}},
		{"bitmaps of other programs", func(p *patient) { p.do("SETBIT bb:{s0}:flag:activated 1 1") },
			[]string{`ok     catalogue: 1 bitmap that other programs wrote, listed now: flag activated in segment 0`}},
		{"a bitmap that is gone", func(p *patient) { p.do("DEL " + p.day("active", 1)) },
			[]string{`wrong  catalogue: 1 bitmap listed and no longer there, evicted or deleted: active on [\d-]+ in segment 0.*import those days again`, `hint   days: active has no data on 1 day: [\d-]+; import`}},
		{"a missing segment", func(p *patient) {
			p.do("SETBIT bb:{s1}:known 1 1", "SETBIT bb:{s1}:day:active:"+p.days[0]+" 1 1", "SETBIT bb:{s1}:day:active:"+p.days[2]+" 1 1", "SET bb:{meta}:next_offset 5000")
		}, []string{`wrong  days: active lacks a segment on 1 day .*: [\d-]+; import`, `wrong  dictionary: 1 known user of \d+ looked at without an ID, at offset 4097`, `hint   density: `}},
		{"days without their expiry", func(p *patient) { p.do("PERSIST "+p.day("opened", 0), "EXPIRE "+p.day("opened", 1)+" 1000") },
			[]string{`wrong  expiry: 2 bitmaps of a metric with keep that will not expire when it should.*EXPIREAT bb:\{s0\}:day:opened:\d+ \d{10}`}},
		{"lasting keys that expire", func(p *patient) {
			p.do("EXPIRE "+p.day("active", 1)+" 1000", "EXPIRE bb:{s0}:known 1000", "EXPIRE bb:{meta}:catalogue 1000")
		},
			[]string{`wrong  expiry: 3 keys that should stay and will expire: .*PERSIST`}},
		{"a temporary key that stays", func(p *patient) { p.do("SET bb:{s0}:tmp:x:1 a") },
			[]string{`wrong  temporary keys: 1 key without a time to live: bb:\{s0\}:tmp:x:1; delete`}},
		{"a temporary key of a job long dead", func(p *patient) {
			p.do("SET bb:{s0}:tmp:" + strconv.FormatInt(time.Now().Add(-3*time.Hour).Unix(), 36) + "-X:1 a EX 900")
		},
			[]string{`wrong  temporary keys: 1 key older than an hour: bb:\{s0\}:tmp:\w+-X:1 of a job begun 3h0m0s ago`}},
		{"marks of nobody known", func(p *patient) {
			p.do("SETBIT bb:{s0}:flag:exposed 100 1", "SETBIT bb:{s0}:flag:exposed 101 1", "SETBIT "+p.day("active", 1)+" 100 1")
		},
			[]string{`wrong  known users: 3 marks of nobody known.*1 mark in active on [\d-]+ in segment 0, 2 marks in flag exposed in segment 0`}},
		{"offsets that would be handed out twice", func(p *patient) { p.do("SET bb:{meta}:next_offset 5") },
			[]string{`wrong  dictionary: the next new user would get offset 5, but offsets up to 19 are .*SET the next_offset key to 20`}},
		{"a dictionary that lost its IDs", func(p *patient) { p.do("DEL bb:{i0}:r") },
			[]string{`wrong  dictionary: 20 known users of 20 looked at without an ID, at offset 0, 1, 2, 3, 4 and 15 more`}},
		{"days half replaced", func(p *patient) { p.do("SADD bb:{meta}:half_replaced day:active:" + p.days[1]) },
			[]string{`wrong  replace: 1 day may be half replaced.*active on [\d-]+; import again with --mode replace`}},
		{"a user half forgotten", func(p *patient) { p.do("SADD bb:{meta}:forgetting 7") },
			[]string{`wrong  forgetting: 1 offset of users .*run the same dashboard forget again`}},
		{"offsets far apart", func(p *patient) { p.do("SET bb:{meta}:next_offset 50000") },
			[]string{`hint   density: 20 known users on 50,000 offsets \(0.04 %\)`}},
		{"no append-only file", func(p *patient) { p.do("CONFIG SET appendonly no") },
			[]string{`hint   persistence: .*CONFIG SET appendonly yes`}},
		{"an eviction policy", func(p *patient) { p.do("CONFIG SET maxmemory-policy allkeys-lru") },
			[]string{`wrong  eviction: .*maxmemory-policy allkeys-lru .*CONFIG SET maxmemory-policy noeviction`}},
		{"evicted keys", func(p *patient) {
			p.do("SETBIT other 8388600 1", "EXPIRE other 100", "CONFIG SET maxmemory-samples 20", "CONFIG SET maxmemory-policy volatile-ttl", "CONFIG SET maxmemory 2300000", "CONFIG SET maxmemory 0", "CONFIG SET maxmemory-policy noeviction")
		}, []string{`wrong  eviction: .*has removed \d+ keys? since it started`}},
		{"memory that is nearly full", func(p *patient) { p.do("CONFIG SET maxmemory 1000000") },
			[]string{`wrong  memory: .* uses .* of 977 KiB \(maxmemory\)`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			test.spoil(p)
			got := p.examine()
			code := 0
			for _, pattern := range test.says {
				if strings.HasPrefix(pattern, "wrong") {
					code = 1
				}
				if !regexp.MustCompile("(?m)^" + pattern).MatchString(got.stdout) {
					t.Errorf("no line %s in\n%s", pattern, got.stdout)
				}
			}
			if got.code != code || got.stderr != "" {
				t.Errorf("exit code %d, want %d; stderr %q\n%s", got.code, code, got.stderr, got.stdout)
			}
			if n := strings.Count(got.stdout, "wrong  ") + strings.Count(got.stdout, "hint   "); code == 0 && n > 1 || code == 1 && n != len(test.says) {
				t.Errorf("%d lines that are not ok, want those of the test only:\n%s", n, got.stdout)
			}
		})
	}
}

func TestDoctorWithoutAStore(t *testing.T) {
	p := newPatient(t)
	other := file(t, "other.yaml", strings.Replace(patientConfig, "4096", "8192", 1))
	tests := []struct {
		name, says string
		args       []string
	}{
		{"another layout", `wrong  layout: the data under prefix bb at .* have another layout: segment_bits "4096" is stored but "8192" is configured`, []string{"--config", other, "--redis", p.url}},
		{"nobody there", "wrong  store: the store at redis://127.0.0.1:1 does not answer: connection refused", []string{"--redis", "redis://127.0.0.1:1"}},
	}
	for _, test := range tests {
		got := run(t, append([]string{"doctor"}, test.args...)...)
		if got.code != 1 || got.stderr != "" || !regexp.MustCompile("^"+test.says+".*\n$").MatchString(got.stdout) {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := runWith(ctx, t, "", "doctor", "--redis", p.url); got.code != 1 || !strings.Contains(got.stderr, "interrupted") {
		t.Errorf("interrupted: got %+v", got)
	}
}

func TestDoctorReportsMistakesOfTheConfiguration(t *testing.T) {
	path := file(t, "bad.yaml", "timezone: Mars/Phobos\ncolour: red\n")
	got := run(t, "doctor", "--config", path, "--redis", storetest.Redis(t))
	if got.code != 2 || got.stdout != "" || strings.Count(got.stderr, "\n") != 2 || !strings.Contains(got.stderr, path+":2: ") {
		t.Errorf("got %+v", got)
	}
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
)

// mistakesOf returns the mistakes of a file with the text, which must be wrong.
func mistakesOf(t *testing.T, text string) Mistakes {
	t.Helper()
	_, err := Load(Sources{File: writeFile(t, text), Env: noEnv})
	var m Mistakes
	if !errors.As(err, &m) {
		t.Fatalf("Load: error is %v, want Mistakes", err)
	}
	return m
}

func TestEachMistakeAloneWithItsLine(t *testing.T) {
	const active = "metrics:\n  - {name: active, kind: daily}\n"
	tests := []struct {
		name, text string
		line       int
		says       []string
	}{
		{"unknown key", "prefix: bb\ncolour: red\n", 2, []string{`unknown key "colour"`, "known are timezone"}},
		{"misspelt key", "timezon: UTC\n", 1, []string{`"timezon"`, "did you mean timezone?"}},
		{"unknown key of a section", "engine:\n  mode: auto\n  brust: 1s\n", 3, []string{`"brust" under engine`, "did you mean burst?"}},
		{"unknown key of a metric", active + "  - {name: x, kind: flag, titel: X}\n", 3, []string{`"titel" of a metric`, "did you mean title?"}},
		{"key twice", "prefix: a\nlisten: 127.0.0.1:1\nprefix: b\n", 3, []string{`key "prefix" is given twice, first on line 1`}},
		{"key of a section twice", "cache: {ttl_open: 1s,\n  ttl_open: 2s}\n", 2, []string{`"ttl_open" is given twice, first on line 1`}},
		{"key that is no name", "? [a]\n: b\n", 1, []string{"a key must be a name; got a list"}},
		{"list for a value", "prefix: [bb]\n", 1, []string{"prefix must be a single value; got a list"}},
		{"nothing for a value", "prefix:\n", 1, []string{"prefix must be a single value; got nothing"}},
		{"value for a section", "engine: fast\n", 1, []string{`engine must be a mapping of keys to values; got "fast"`}},
		{"value for a list", "metrics: active\n", 1, []string{`metrics must be a list; got "active"`}},
		{"value for a metric", "metrics:\n  - active\n", 2, []string{`a metric must be a mapping of keys to values; got "active"`}},
		{"list for the whole", "- a\n- b\n", 1, []string{"the configuration must be a mapping of keys to values; got a list"}},
		{"no metrics", "metrics: []\n", 1, []string{"metrics is an empty list"}},
		{"metric twice", active + "  - {name: active, kind: flag}\n", 3, []string{"metric active is given twice, first on line 2"}},
		{"metric without a name", "metrics:\n  - {kind: daily}\n", 2, []string{"a metric needs a name"}},
		{"metric without a kind", "metrics:\n  - {name: a}\n", 2, []string{"a metric needs a kind"}},
		{"metric name in upper case", "metrics:\n  - {name: Active, kind: daily}\n", 2, []string{`metric name "Active" is not valid`}},
		{"metric name reserved", "metrics:\n  - {name: today, kind: daily}\n", 2, []string{`metric name "today" is not valid`, "no word of the expressions"}},
		{"unknown kind", "metrics:\n  - {name: a, kind: dayly}\n", 2, []string{`unknown kind "dayly"`, "did you mean daily?"}},
		{"negative keep", "metrics:\n  - {name: a, kind: daily, keep: -1}\n", 2, []string{`"-1" is not a number of days`}},
		{"keep that is no number", "metrics:\n  - name: a\n    kind: daily\n    keep: long\n", 4, []string{`"long" is not a number of days`}},
		{"keep of a flag", "metrics:\n  - {name: a, kind: flag, keep: 3}\n", 2, []string{"a flag has no days to keep"}},
		{"event with an unknown metric", active + "events:\n  login: [active,\n    actve]\n", 5, []string{`event "login" names the unknown metric "actve"; did you mean active?`}},
		{"event with a metric twice", active + "events:\n  login: [active, active]\n", 4, []string{`event "login" names metric "active" twice`}},
		{"event without metrics", active + "events:\n  login: []\n", 4, []string{`event "login" marks no metric`}},
		{"event without a list", active + "events:\n  login: active\n", 4, []string{`event "login" must be a list; got "active"`}},
		{"event without a name", active + "events:\n  \"\": [active]\n", 4, []string{"an event needs a name"}},
		{"event twice", active + "events:\n  login: [active]\n  login: [active]\n", 5, []string{`key "login" is given twice, first on line 4`}},
		{"events with nothing", "events:\n", 1, []string{"write {} when no event is mapped"}},
		{"unknown zone", "\ntimezone: Mars/Phobos\n", 2, []string{`"Mars/Phobos" is not a time zone that exists`}},
		{"the machine's zone", "timezone: Local\n", 1, []string{`"Local" is not a time zone`}},
		{"empty zone", "timezone: \"\"\n", 1, []string{`"" is not a time zone`}},
		{"allow_remote", "allow_remote: yes\n", 1, []string{`allow_remote: "yes" is not accepted; give one of false, true`}},
		{"week start", "week_start: tuesday\n", 1, []string{`week_start: "tuesday" is not accepted; give one of monday, sunday`}},
		{"ids", "ids: hashed\n", 1, []string{`"hashed" is not accepted; give one of dictionary, dense`}},
		{"segment bits no multiple of 64", "segment_bits: 100\n", 1, []string{`"100" is not a positive multiple of 64`}},
		{"segment bits zero", "segment_bits: 0\n", 1, []string{`"0" is not a positive multiple of 64`}},
		{"segment bits too many", "segment_bits: 4294967360\n", 1, []string{"up to 4294967296"}},
		{"max offset too high", "max_offset: 4294967296\n", 1, []string{"from 0 to 4294967295"}},
		{"max offset negative", "max_offset: -1\n", 1, []string{"from 0 to 4294967295"}},
		{"prefix empty", "prefix: \"\"\n", 1, []string{`"" is not a key prefix`}},
		{"prefix with braces", "prefix: \"{bb}\"\n", 1, []string{"is not a key prefix"}},
		{"prefix with a blank", "prefix: \"b b\"\n", 1, []string{"is not a key prefix"}},
		{"prefix with a glob", "prefix: \"b*\"\n", 1, []string{"is not a key prefix"}},
		{"listen without a port", "listen: localhost\n", 1, []string{`"localhost" is not HOST:PORT`}},
		{"listen with a bad port", "listen: localhost:99999\n", 1, []string{"a port from 0 to 65535"}},
		{"redis scheme", "redis: http://u:secret@h\n", 1, []string{"unknown scheme", "redis+cluster", "embedded"}},
		{"redis without a scheme", "redis: localhost:6379\n", 1, []string{"not a URL", "redis://HOST:PORT", "embedded"}},
		{"redis without a host", "redis: redis://\n", 1, []string{"a host is missing"}},
		{"redis with a bad host", "redis: redis://u:secret@h:port\n", 1, []string{"a host is missing or malformed; give redis://"}},
		{"sentinels without a master", "redis: redis+sentinel://:secret@h:1\n", 1, []string{"the name of the master is missing; give redis+sentinel://"}},
		{"cluster with a database", "redis: redis+cluster://:secret@h:1/2\n", 1, []string{"a cluster has no databases"}},
		{"mode", "engine: {mode: quick}\n", 1, []string{`engine.mode: "quick" is not accepted; give one of auto, bitop, fold`}},
		{"size", "engine: {max_bitop_bytes: big}\n", 1, []string{`engine.max_bitop_bytes: "big" is not a size`}},
		{"size of zero", "engine: {job_cost_limit: 0}\n", 1, []string{"engine.job_cost_limit", "above 0"}},
		{"share of zero", "engine: {max_redis_share: 0}\n", 1, []string{"a number above 0 and up to 1"}},
		{"share above one", "engine: {max_redis_share: 1.01}\n", 1, []string{"a number above 0 and up to 1"}},
		{"share that is no number", "engine: {max_redis_share: .nan}\n", 1, []string{"is not a share"}},
		{"duration without a unit", "engine: {burst: 5}\n", 1, []string{`engine.burst: "5" is not a duration`}},
		{"negative duration", "cache: {settle_after: -2h}\n", 1, []string{`cache.settle_after: "-2h" is not a duration`}},
		{"temp_ttl of zero", "engine: {temp_ttl: 0s}\n", 1, []string{"at least 1s"}},
		{"window of one time", "engine: {offpeak: \"01:00\"}\n", 1, []string{`engine.offpeak: "01:00" is not a time of day from and to`}},
		{"window past midnight", "engine: {offpeak: \"01:00-24:00\"}\n", 1, []string{"is not a time of day from and to"}},
		{"window without length", "engine: {offpeak: \"01:00-01:00\"}\n", 1, []string{"the same minute"}},
		{"syntax", "prefix: bb\nmetrics: [\n", 2, []string{"not valid YAML"}},
		{"second document", "prefix: bb\n---\nprefix: cc\n", 2, []string{"a second YAML document starts here"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantMistake(t, test.text, test.line, test.says) })
	}
}

// wantMistake wants a file with the text to have one mistake, and no other.
func wantMistake(t *testing.T, text string, line int, says []string) {
	t.Helper()
	m := mistakesOf(t, text)
	if len(m) != 1 {
		t.Fatalf("%d mistakes, want 1:\n%v", len(m), m)
	}
	if m[0].Line != line {
		t.Errorf("line %d, want %d: %v", m[0].Line, line, m)
	}
	for _, s := range says {
		if !strings.Contains(m[0].Message, s) {
			t.Errorf("message %q does not say %q", m[0].Message, s)
		}
	}
	if strings.Contains(m[0].Message, "secret") {
		t.Errorf("message %q repeats a password", m[0].Message)
	}
}

func TestAllMistakesTogetherByLine(t *testing.T) {
	text := `timezone: Mars/Phobos
events:
  login: [gone]
colour: red
metrics:
  - {name: active, kind: daily}
  - {kind: dail, name: 7up, keep: no, size: 1}
  - {name: active, kind: flag}
engine: {mode: quick,
  burst: 5}
`
	file := writeFile(t, text)
	_, err := Load(Sources{File: file, Env: noEnv})
	want := []string{
		`1: timezone: "Mars/Phobos" is not a time zone that exists; give an IANA name such as UTC or Europe/Berlin`,
		`3: event "login" names the unknown metric "gone"; known are active`,
		`4: unknown key "colour"; known are timezone, week_start, ids, redis, data_dir, prefix, segment_bits, max_offset, listen, allow_remote, metrics, known, events, engine, cache`,
		`7: unknown kind "dail" of a metric; did you mean daily?`,
		`7: metric name "7up" is not valid; give lower-case letters, digits and _, beginning with a letter, and no word of the expressions such as all, first or today`,
		`7: keep: "no" is not a number of days from 0 (for ever) to 36600`,
		`7: unknown key "size" of a metric; known are name, kind, title, keep, key, segment_bits, writable`,
		`8: metric active is given twice, first on line 6`,
		`9: engine.mode: "quick" is not accepted; give one of auto, bitop, fold`,
		`10: engine.burst: "5" is not a duration of at least 0s; give for example 90s, 15m or 2h`,
	}
	got := strings.Split(strings.ReplaceAll(err.Error(), file+":", ""), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ name, path, says string }{
		{"missing", filepath.Join(dir, "missing.yaml"), "cannot read the configuration: no such file or directory"},
		{"folder", dir, "cannot read the configuration: is a directory"},
		{"binary", write("binary", []byte{0x7f, 'E', 'L', 'F', 0, 1, 2}), "is not a text file; give a YAML file in UTF-8"},
		{"control characters", write("control", []byte("prefix: \x01\n")), "not valid YAML: control characters are not allowed"},
		{"huge", write("huge", slices.Repeat([]byte("# comment\n"), 200_000)), "is larger than 1 MiB; give a YAML file with the configuration"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(Sources{File: test.path, Env: noEnv})
			if want := test.path + ": " + test.says; err == nil || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(defaultsYAML)
	f.Add([]byte("metrics: [&a {name: a, kind: daily}, *a]\nevents: &e {x: *e}\n"))
	f.Add([]byte("? {}\n: <<\n--- !!binary a\n"))
	f.Add([]byte("engine: {offpeak: 99:99-0:0, max_bitop_bytes: 9e99EB, burst: 1e9h}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := &builder{}
		b.document(b.origin("defaults"), defaultsYAML)
		b.document(b.origin("file"), text)
		b.finish()
		if gather(b.origins) != nil {
			return
		}
		c := b.cfg
		if c.Workspace.Zone == nil || c.SegmentBits%64 != 0 || len(c.Workspace.Metrics) == 0 || c.Prefix == "" {
			t.Errorf("accepted an unusable configuration: %+v", c)
		}
		for _, m := range c.Workspace.Metrics {
			if !cohort.ValidName(m.Name) {
				t.Errorf("accepted the metric name %q", m.Name)
			}
		}
		for name, metrics := range c.Events {
			for _, m := range metrics {
				if _, known := c.Workspace.Metric(m); !known {
					t.Errorf("accepted event %q with the unknown metric %q", name, m)
				}
			}
		}
	})
}

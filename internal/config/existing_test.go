package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/store/pattern"
)

func TestBitmapsOfOtherPrograms(t *testing.T) {
	text := `ids: dense
metrics:
  - {name: dau,     kind: daily, key: "dau:{date:2006-01-02}"}
  - {name: online,  kind: daily, key: "online:segment:{segment}:{date:20060102}", segment_bits: 1000000}
  - {name: todo,    kind: daily, key: "trackist_active_{date:2006-1-2}"}
  - {name: sign,    kind: daily, key: "sign:{user}:{date:200601}"}
  - {name: exposed, kind: flag,  key: "feature:exposed", writable: false}
  - {name: active,  kind: daily}
known: "registered"
`
	c := load(t, Sources{File: writeFile(t, text)})
	key := func(text string) pattern.Pattern {
		p, err := pattern.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := map[string]Existing{
		"dau":     {Key: key("dau:{date:2006-01-02}")},
		"online":  {Key: key("online:segment:{segment}:{date:20060102}"), SegmentBits: 1_000_000},
		"todo":    {Key: key("trackist_active_{date:2006-1-2}")},
		"sign":    {Key: key("sign:{user}:{date:200601}")},
		"exposed": {Key: key("feature:exposed")},
	}
	if diff := cmp.Diff(want, c.Existing); diff != "" {
		t.Errorf("existing bitmaps (-want +got):\n%s", diff)
	}
	if c.Known.String() != "registered" || !c.Workspace.KnownKey {
		t.Errorf("known is %v, %v", c.Known, c.Workspace.KnownKey)
	}
	sources := map[string]cohort.Source{
		"dau": cohort.ExistingBitmaps, "online": cohort.ExistingBitmaps, "todo": cohort.ExistingBitmaps,
		"sign": cohort.UserMonths, "exposed": cohort.ExistingBitmaps, "active": cohort.OwnBitmaps,
	}
	for _, m := range c.Workspace.Metrics {
		if m.Source != sources[m.Name] {
			t.Errorf("the source of %s is %d", m.Name, m.Source)
		}
	}
	// The default events hold as far as their metrics take marks.
	if diff := cmp.Diff(map[string][]string{"login": {"active"}}, c.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestKnownKeyFromTheEnvironment(t *testing.T) {
	c := load(t, Sources{Env: func(name string) string {
		return map[string]string{"BITBOARD_KNOWN": "all:{{users}}"}[name]
	}})
	if got := c.Known.Key(0, 0); got != "all:{users}" {
		t.Errorf("the key of all users is %q", got)
	}
}

func TestMistakesAboutBitmapsOfOtherPrograms(t *testing.T) {
	const (
		dau   = "metrics:\n  - {name: dau, kind: daily, key: \"dau:{date:2006-01-02}\"}\n"
		start = "metrics:\n  - name: x\n    kind: daily\n    "
		flag  = "metrics:\n  - name: x\n    kind: flag\n    "
	)
	tests := []struct {
		name, text string
		line       int
		says       []string
	}{
		{"unknown placeholder", start + `key: "x:{day}"`, 4, []string{`key: unknown placeholder "{day}"`, "{date:LAYOUT}, {segment} or {user}"}},
		{"layout without a day", start + `key: "x:{date:200601}"`, 4, []string{"key: the layout", "has no day"}},
		{"user with a day", start + `key: "x:{user}:{date:20060102}"`, 4, []string{"holds a month"}},
		{"user of a flag", flag + `key: "x:{user}:{date:200601}"`, 4, []string{"{user} is for a daily metric"}},
		{"user without a date", start + `key: "x:{user}"`, 4, []string{"a daily metric has a bitmap for each day"}},
		{"date of a flag", flag + `key: "x:{date:20060102}"`, 4, []string{"a flag has one bitmap and no {date}"}},
		{"daily without a date", start + `key: "x"`, 4, []string{"a daily metric has a bitmap for each day"}},
		{"presence", "metrics:\n  - name: x\n    kind: presence\n    key: \"x\"\n", 3, []string{"a presence metric has no key of its own"}},
		{"keep", start + "key: \"x:{date:20060102}\"\n    keep: 3\n", 5, []string{"never made to expire"}},
		{"segment without its size", start + `key: "x:{segment}:{date:20060102}"`, 4, []string{"{segment} needs segment_bits"}},
		{"size without a segment", start + "key: \"x:{date:20060102}\"\n    segment_bits: 800\n", 5, []string{"has no {segment}"}},
		{"size without a key", start + "segment_bits: 800\n", 4, []string{"segment_bits: it is for a metric with a key"}},
		{"size that is no multiple of 8", start + "key: \"x:{segment}:{date:20060102}\"\n    segment_bits: 1001\n", 5, []string{`"1001" is not a positive multiple of 8`}},
		{"size too large", start + "key: \"x:{segment}:{date:20060102}\"\n    segment_bits: 4294967304\n", 5, []string{"up to 4294967296"}},
		{"writable without a key", start + "writable: false\n", 4, []string{"writable: it is for a metric with a key"}},
		{"writable", start + "key: \"x:{date:20060102}\"\n    writable: true\n", 5, []string{"this version only reads"}},
		{"writable that is neither", start + "key: \"x:{date:20060102}\"\n    writable: maybe\n", 5, []string{`writable: "maybe" is not accepted`}},
		{"keys that collide", dau + "  - {name: x, kind: daily, key: \"dau:{date:2006-1-2}\"}\n", 3, []string{"a key of metric x may be one of metric dau too, on line 2"}},
		{"one of our own keys", dau + "  - {name: x, kind: daily, key: \"bb:{{s0}}:day:active:{date:20060102}\"}\n", 3, []string{"one of Bitboard's own keys, which start with bb:{"}},
		{"known with a placeholder", dau + "known: \"all:{date:20060102}\"\n", 3, []string{"known: the key of all users has no placeholders"}},
		{"known with a lone brace", dau + "known: \"all:{\"\n", 3, []string{"known:", "has a { without a }"}},
		{"known that is one of our own", dau + "known: \"bb:{{s0}}:known\"\n", 3, []string{"known:", "one of Bitboard's own keys"}},
		{"known is a list", dau + "known: [a]\n", 3, []string{"known must be a single value"}},
		{"event that marks it", dau + "events:\n  login: [dau]\n", 4, []string{`event "login" names the metric dau, which another program keeps and which is only read`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantMistake(t, test.text, test.line, test.says) })
	}
}

package pattern

import (
	"path"
	"strings"
	"testing"
	"time"

	"bitboard/internal/cohort"
)

func day(y int, m time.Month, d int) cohort.Day { return cohort.DayOfDate(y, m, d) }

func must(t testing.TB, text string) Pattern {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKeysOfPatterns(t *testing.T) {
	tests := []struct{ pattern, key string }{
		{"dau:{date:2006-01-02}", "dau:2026-03-01"},
		{"online:segment:{segment}:{date:20060102}", "online:segment:7:20260301"},
		{"trackist_active_{date:2006-1-2}", "trackist_active_2026-3-1"},
		{"{{dau}}:{date:02.01.06}:x", "{dau}:01.03.26:x"},
		{"{date:2 January 2006}/{segment}", "1 March 2026/7"},
		{"日{date:2006年01月02日}", "日2026年03月01日"},
		{"{{{segment}}}{date:2006-002}", "{7}2026-060"},
	}
	for _, test := range tests {
		p := must(t, test.pattern)
		number := 0
		if p.HasSegment() {
			number = 7
		}
		if got := p.Key(day(2026, time.March, 1), number); got != test.key {
			t.Errorf("%s makes the key %q, want %q", test.pattern, got, test.key)
		}
		if d, n, ok := p.Match(test.key); !ok || d != day(2026, time.March, 1) || n != number {
			t.Errorf("%s reads %q as %v, segment %d, %v", test.pattern, test.key, d, n, ok)
		}
		if ok, err := path.Match(p.Glob(), test.key); err == nil && !ok && !strings.Contains(test.key, "/") {
			t.Errorf("%s scans for %q, which does not match %q", test.pattern, p.Glob(), test.key)
		}
	}
	if got := must(t, "sign:{user}:{date:200601}").UserKey("a b", day(2026, time.March, 31)); got != "sign:a b:202603" {
		t.Errorf("a user's key is %q", got)
	}
	if got := must(t, "feature:exposed").Key(0, 0); got != "feature:exposed" {
		t.Errorf("a key without placeholders is %q", got)
	}
}

func TestKeysOfOtherForms(t *testing.T) {
	tests := []struct{ pattern, key string }{
		{"dau:{date:2006-01-02}", "dau:2026-02-29"},
		{"dau:{date:2006-01-02}", "dau:2026-03-01:old"},
		{"dau:{date:2006-01-02}", "xdau:2026-03-01"},
		{"dau:{date:2006-01-02}", "dau:2026-03"},
		{"dau:{date:2006-1-2}", "dau:2026-03-01"}, // which is read, but written otherwise
		{"d:{segment}:{date:20060102}", "d:07:20260301"},
		{"d:{segment}:{date:20060102}", "d:-1:20260301"},
		{"d:{segment}:{date:20060102}", "d:99999999999999999999:20260301"},
		{"sign:{user}:{date:200601}", "sign:a:202603"},
	}
	for _, test := range tests {
		if d, n, ok := must(t, test.pattern).Match(test.key); ok {
			t.Errorf("%s reads %q as %v, segment %d", test.pattern, test.key, d, n)
		}
	}
}

func TestMistakesInPatterns(t *testing.T) {
	tests := []struct{ pattern, says string }{
		{"", "an empty key"},
		{"dau:{date}", "{date} needs a layout"},
		{"dau:{date:}", "{date} needs a layout"},
		{"dau:{day:2006}", `unknown placeholder "{day:2006}"`},
		{"dau:{segment:3}:{date:20060102}", "{segment} takes nothing after its name"},
		{"dau:{date:2006-01-02}:{date:2006-01-02}", "{date} stands twice"},
		{"dau:{date:2006-01-02", "has a { without a }"},
		{"dau:date}", "has a } without a {"},
		{"dau:{date:2006-01}", "has no day"},
		{"dau:{date:01-02}", "has no year"},
		{"dau:{date:2006-02}", "has no month"},
		{"dau:{date:2006-01-02T15}", "a time of day or a zone"},
		{"dau:{date:2006-01-02 MST}", "a time of day or a zone"},
		{"dau:{date:200612}", "cannot be read back"},
		{"dau:{date:dates}", "has no year"},
		{"sign:{user}:{date:20060102}", "a user's own bitmap holds a month"},
		{"sign:{user}:{segment}:{date:200601}", "{segment} and {user} in one pattern"},
		{"dau:{segment}{date:20060102}", "nothing between them"},
		{"dau:{segment}00{date:20060102}", "nothing between them"},
		{"dau\xff", "UTF-8"},
		{strings.Repeat("a", 1001), "at most 1000 bytes"},
	}
	for _, test := range tests {
		if _, err := Parse(test.pattern); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: %v, which does not say %q", test.pattern, err, test.says)
		}
	}
}

func TestOverlap(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"dau:{date:2006-01-02}", "dau:{date:2006-01-02}", true},
		{"dau:{date:20060102}", "dau:{date:20060201}", true},
		{"dau:{date:2006-01-02}", "dau:{date:2006-1-2}", true},
		{"dau:{date:2006-01-02}", "dau:{segment}", false},
		{"dau:{date:20060102}", "dau:{segment}", true},
		{"dau:{date:2006-01-02}", "wau:{date:2006-01-02}", false},
		{"dau:{date:2006-01-02}", "dau:{date:2006-01-02}:x", false},
		{"dau:{date:2006-01-02}", "dau:2026-03-01", true},
		{"dau:{date:2006-01-02}", "dau:2026-03", false},
		{"sign:{user}:{date:200601}", "sign:{user}:{date:2006-01}", false},
		{"sign:{user}:{date:200601}", "sign:vip:{user}:{date:200601}", true},
		{"sign:{user}:{date:200601}", "sign:{segment}:{date:20060102}", false},
		{"a:{user}:b", "a:x:{segment}:b", true},
		{"a{segment}", "a1", true},
		{"a{segment}", "a", false},
		{"x{date:2 January 2006}", "x1 March 2026", true},
		{"x{date:2 January 2006}", "x1 M 2026", false},
	}
	for _, test := range tests {
		a, b := must(t, test.a), must(t, test.b)
		if Overlap(a, b) != test.want || Overlap(b, a) != test.want {
			t.Errorf("overlap of %s and %s is %v, %v, want %v", test.a, test.b, Overlap(a, b), Overlap(b, a), test.want)
		}
	}
	own := StartingWith("bb:{")
	for text, want := range map[string]bool{"bb:{{s1}}:day:{date:20060102}": true, "bb:x": false, "{user}": true, "bb:{{": false} {
		if got := Overlap(must(t, text), own); got != want {
			t.Errorf("overlap of %s with the keys of a prefix is %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"dau:{date:2006-01-02}", "{{{segment}}}", "sign:{user}:{date:200601}", "a{date:Monday 2 Jan 2006}b", "\\*{date:2006年1月2日}"} {
		f.Add(text, 20000)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		p, err := Parse(text)
		if err != nil || p.HasUser() {
			return
		}
		d := firstTried + cohort.Day(uint(n)%700)
		key := p.Key(d, n&0xffff)
		back, number, ok := p.Match(key)
		if !ok || p.HasDate() && back != d || p.HasSegment() && number != n&0xffff {
			t.Errorf("%q makes %q of %v and %d, and reads %v, %d, %v", text, key, d, n&0xffff, back, number, ok)
		}
		if !Overlap(p, p) {
			t.Errorf("%q does not overlap with itself", text)
		}
	})
}

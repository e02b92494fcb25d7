package ingest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
)

// send takes events in and returns the rejects without their messages.
func (b bench) send(t testing.TB, body string) (int, []refusal, error) {
	t.Helper()
	accepted, rejects, err := b.Events(t.Context(), strings.NewReader(body), today)
	var refused []refusal
	for _, r := range rejects {
		if r.Message == "" {
			t.Errorf("reject %+v has no message", r)
		}
		refused = append(refused, refusal{r.Line, r.Code})
	}
	return accepted, refused, err
}

func TestEvents(t *testing.T) {
	const a, b, c = `{"user_id":"a","event":"login","day":"2026-03-01"}`, `{"user_id":8,"event":"login","timestamp":"2026-03-01T23:59:59-05:00"}`, `{"user_id":"c","event":"nope","day":"2026-03-01"}`
	tests := []struct {
		name, body string
		accepted   int
		refused    []refusal
		first      string // users of active on 1 March
		second     string // and on 2 March
	}{
		{"an array", "[" + a + "," + b + "," + c + "]", 2, []refusal{{3, "unknown_event"}}, "a", "8"},
		{"NDJSON", a + "\n\n" + c + "\r\n" + b, 2, []refusal{{3, "unknown_event"}}, "a", "8"},
		{"NDJSON with a byte order mark", "\ufeff" + a, 1, nil, "a", ""},
		{"an array within blanks", " \n[\n" + a + "\n]\n", 1, nil, "a", ""},
		{"an empty array", "[]", 0, nil, "", ""},
		{"the same twice", "[" + a + "," + a + "]", 2, nil, "a", ""},
		{"all rejected", "[" + c + ",1,null,[]]", 0, []refusal{{1, "unknown_event"}, {2, "bad_json"}, {3, "bad_json"}, {4, "bad_json"}}, "", ""},
		{"no JSON at all", "value", 0, []refusal{{1, "bad_json"}}, "", ""},
		{"an empty ID", `[{"user_id":"","event":"login","day":"2026-03-01"},{"event":"login","day":"2026-03-01"}]`, 0, []refusal{{1, "bad_user_id"}, {2, "bad_user_id"}}, "", ""},
		{"an explicit value", strings.TrimSuffix(a, "}") + `,"value":true}`, 1, nil, "a", ""},
		{"a value of another kind", strings.TrimSuffix(a, "}") + `,"value":"false"}`, 0, []refusal{{1, "bad_value"}}, "", ""},
		{"invalid UTF-8 in an array", "[" + a + ",{\"user_id\":\"\xff\",\"event\":\"login\",\"day\":\"2026-03-01\"}]", 1, []refusal{{2, "bad_utf8"}}, "a", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newBench(t)
			accepted, refused, err := s.send(t, tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if accepted != tt.accepted {
				t.Errorf("accepted %d, want %d", accepted, tt.accepted)
			}
			if diff := cmp.Diff(tt.refused, refused); diff != "" {
				t.Error(diff)
			}
			s.has(t, on("active", "2026-03-01"), tt.first)
			s.has(t, on("active", "2026-03-02"), tt.second)
		})
	}
}

func TestEventsThatAreRefusedAsAWhole(t *testing.T) {
	const one = `{"user_id":"a","event":"login","day":"2026-03-01"}`
	tests := []struct {
		name, body string
		kind       error
	}{
		{"nothing", "", fault.ErrInvalid},
		{"blanks", " \r\n", fault.ErrInvalid},
		{"a broken array", "[" + one + ",", fault.ErrInvalid},
		{"text after the array", "[" + one + "] x", fault.ErrInvalid},
		{"too many lines", strings.Repeat(one+"\n", MaxEvents+1), fault.ErrTooLarge},
		{"too many items", "[" + strings.Repeat(one+",", MaxEvents) + one + "]", fault.ErrTooLarge},
		{"too many bytes", one + strings.Repeat(" ", MaxEventBytes), fault.ErrTooLarge},
	}
	b := newBench(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			accepted, refused, err := b.send(t, tt.body)
			if !errors.Is(err, tt.kind) || accepted != 0 || refused != nil {
				t.Errorf("got %d, %v, %v", accepted, refused, err)
			}
			b.has(t, cohort.Known(), "")
		})
	}
	if accepted, _, err := b.send(t, strings.Repeat(one+"\n", MaxEvents)); err != nil || accepted != MaxEvents {
		t.Errorf("the most that is allowed: %d, %v", accepted, err)
	}
}

func TestMarksTakenBack(t *testing.T) {
	const on, off = `{"user_id":"u","event":"activate","day":"2026-03-01"}`, `{"user_id":"u","event":"activate","day":"2026-03-01","value":false}`
	tests := []struct {
		name, before, body string
		activated, known   string
	}{
		{"what was there", on, off, "", "u"},
		{"then made again", on, off + "\n" + on, "u", "u"},
		{"made and taken back", "", on + "\n" + off, "", "u"},
		{"of a user nobody knows", "", off, "", ""},
		{"twice", on, off + "\n" + off, "", "u"},
		{"of another day", on, strings.ReplaceAll(strings.ReplaceAll(off, "activate", "active"), "03-01", "03-02"), "u", "u"},
		{"of one of several metrics", on, strings.ReplaceAll(off, `"activate"`, `"active"`), "u", "u"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			if tt.before != "" {
				if _, _, err := b.send(t, tt.before); err != nil {
					t.Fatal(err)
				}
			}
			if _, refused, err := b.send(t, tt.body); err != nil || len(refused) > 0 {
				t.Fatal(err, refused)
			}
			b.has(t, cohort.Flag("activated"), tt.activated)
			b.has(t, cohort.Known(), tt.known)
		})
	}
}

func TestEventsWithDenseIDs(t *testing.T) {
	b := newBench(t, func(c *Config, sc *store.Config) { c.Dense, sc.Dense = true, true })
	accepted, refused, err := b.send(t, `[{"user_id":8,"event":"login","day":"2026-03-01"},{"user_id":"008","event":"login","day":"2026-03-01"},{"user_id":9,"event":"login","day":"2026-03-01","value":false}]`)
	if err != nil || accepted != 2 {
		t.Fatal(accepted, err)
	}
	if diff := cmp.Diff([]refusal{{2, "bad_user_id"}}, refused); diff != "" {
		t.Error(diff)
	}
	b.has(t, cohort.Known(), "8")
}

func TestFlags(t *testing.T) {
	b := newBench(t)
	steps := []struct {
		name    string
		ids     []string
		value   bool
		changed int64
		after   string
	}{
		{"set", []string{"u1", "u2"}, true, 2, "u1 u2"},
		{"set again", []string{"u1", "u2"}, true, 0, "u1 u2"},
		{"set one more", []string{"u2", "u9"}, true, 1, "u1 u2 u9"},
		{"take back", []string{"u1"}, false, 1, "u2 u9"},
		{"take back again", []string{"u1", "u1"}, false, 0, "u2 u9"},
		{"the same twice", []string{"u1", "u1"}, true, 1, "u1 u2 u9"},
		{"take back of somebody nobody knows", []string{"stranger", "u1"}, false, 1, "u2 u9"},
		{"nobody", nil, true, 0, "u2 u9"},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			changed, err := b.Flags(t.Context(), "activated", s.ids, s.value)
			if err != nil || changed != s.changed {
				t.Errorf("changed %d, %v; want %d", changed, err, s.changed)
			}
			b.has(t, cohort.Flag("activated"), s.after)
		})
	}
	b.has(t, cohort.Known(), "u1 u2 u9")
}

func TestFlagsRefused(t *testing.T) {
	b := newBench(t)
	tests := []struct {
		name, metric string
		ids          []string
		kind         error
		code, says   string
	}{
		{"no such metric", "nope", []string{"a"}, fault.ErrNotFound, "unknown_metric", `"nope"`},
		{"a daily metric", "active", []string{"a"}, fault.ErrInvalid, "not_a_flag", "daily"},
		{"a bad ID", "activated", []string{"a", "b\x00"}, fault.ErrInvalid, "bad_user_id", `"b\x00"`},
		{"too many", "activated", make([]string, MaxEvents+1), fault.ErrTooLarge, "too_large", "5001"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.Flags(t.Context(), tt.metric, tt.ids, true)
			f := fault.As(err)
			if !errors.Is(err, tt.kind) || f.Code != tt.code || !strings.Contains(f.Message, tt.says) {
				t.Errorf("got %v", err)
			}
			b.has(t, cohort.Flag("activated"), "")
		})
	}
}

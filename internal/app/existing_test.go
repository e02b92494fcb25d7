package app

import (
	"fmt"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/config"
	"bitboard/internal/store/storetest"
)

// describedMetrics are bitmaps of other programs, in each form.
const describedMetrics = `
ids: dense
metrics:
  - {name: dau,     kind: daily, key: "dau:{date:2006-01-02}"}
  - {name: online,  kind: daily, key: "online:segment:{segment}:{date:20060102}", segment_bits: 1000000}
  - {name: todo,    kind: daily, key: "trackist_active_{date:2006-1-2}"}
  - {name: sign,    kind: daily, key: "sign:{user}:{date:200601}"}
  - {name: exposed, kind: flag,  key: "feature:exposed"}
  - {name: bought,  kind: daily}
`

// others is a server with keys of other programs, and a configuration of them.
func others(t *testing.T, more string) (client *redis.Client, file string) {
	t.Helper()
	url, _ := storetest.Start(t)
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client = redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	file = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("redis: "+url+more), 0o600); err != nil {
		t.Fatal(err)
	}
	return client, file
}

func setBits(t *testing.T, client *redis.Client, key string, bits ...int64) {
	t.Helper()
	for _, bit := range bits {
		if err := client.SetBit(t.Context(), key, bit, 1).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// servingFile serves a configuration file.
func servingFile(t *testing.T, file string) string {
	t.Helper()
	c, err := config.Load(config.Sources{File: file, Env: func(string) string { return "" }, Flags: map[string]string{"listen": "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	url, _ := serving(t, c)
	return url
}

func TestBitmapsOfOtherPrograms(t *testing.T) {
	client, file := others(t, describedMetrics)
	setBits(t, client, "dau:2026-03-01", 1, 2, 3_400_000)
	setBits(t, client, "dau:2026-03-02", 2)
	setBits(t, client, "dau:2026-02-30", 9) // no day
	setBits(t, client, "online:segment:3:20260301", 400_000)
	setBits(t, client, "trackist_active_2026-3-1", 2, 5)
	setBits(t, client, "sign:u-7:202603", 0, 2, 3)
	setBits(t, client, "feature:exposed", 2)
	url := servingFile(t, file)
	for _, tt := range []struct {
		path   string
		status int
		want   string
	}{
		{"cohorts/count?expr=dau@2026-03-01", 200, `"count":3`},
		{"cohorts/count?expr=dau@2026-03-01..2026-03-02%20%26%20exposed", 200, `"count":1`},
		{"cohorts/count?expr=dau@2026-03-01%20%26%20online@2026-03-01", 200, `"count":1`},
		{"cohorts/count?expr=todo@2026-03-01%20-%20exposed", 200, `"count":1`},
		{"cohorts/members.csv?expr=dau@2026-03-01", 200, "user_id\n1\n2\n3400000\n"},
		{"retention?start=dau&from=2026-03-01&to=2026-03-01&periods=1&cohorts=first&as_of=2026-03-02", 200, `"count":1,"complete":false`},
		{"users/2/calendar?metric=dau&from=2026-03-01&to=2026-03-31&as_of=2026-03-31", 200, `"days":["2026-03-01","2026-03-02"]`},
		{"users/u-7/calendar?metric=sign&from=2026-03-01&to=2026-03-31&as_of=2026-03-31", 200, `"days":["2026-03-01","2026-03-03","2026-03-04"]`},
		{"users/u-8/calendar?metric=sign&from=2026-03-01&to=2026-03-31&as_of=2026-03-31", 404, "u-8"},
		{"cohorts/count?expr=sign@2026-03-01", 400, "calendars only"},
		{"active?metric=sign&from=2026-03-01&to=2026-03-02", 400, "calendars only"},
		{"cohorts/count?expr=!dau@2026-03-01", 400, `"position":0`},
		{"cohorts/count?expr=dau@2026-03-01&engine=bitop", 400, `"field":"engine"`},
		{"cohorts/count?expr=bought@2026-03-01&engine=bitop", 200, `"count":0`},
		{"metrics", 200, `"name":"dau","kind":"daily","title":"dau","first_day":"2026-03-01","last_day":"2026-03-02"`},
	} {
		if status, body := get(t, url+"/api/v1/"+tt.path); status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s answers %d %s, want %d %s", tt.path, status, body, tt.status, tt.want)
		}
	}
	// What other programs add is there at once: a day, a user, a flag's user.
	setBits(t, client, "dau:2026-03-03", 7, 8)
	setBits(t, client, "dau:2026-03-02", 9_999_999)
	for expr, want := range map[string]int{"dau@2026-03-03": 2, "dau@2026-03-02": 2} {
		if _, body := get(t, url+"/api/v1/cohorts/count?refresh=1&expr="+expr); !strings.Contains(body, fmt.Sprintf(`"count":%d`, want)) {
			t.Errorf("%s answers %s, want %d", expr, body, want)
		}
	}
}

func TestWritesToOtherProgramsAreRefused(t *testing.T) {
	client, path := others(t, describedMetrics)
	setBits(t, client, "dau:2026-03-01", 1, 2)
	setBits(t, client, "feature:exposed", 2)
	url := servingFile(t, path)
	for _, tt := range []struct{ path, body string }{
		{"events", `{"user_id":"5","event":"dau","day":"2026-03-01"}`}, {"flags/exposed", `{"user_ids":["5"],"value":true}`},
	} {
		answer, err := http.Post(url+"/api/v1/"+tt.path, "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode < 400 || answer.StatusCode >= 500 {
			t.Errorf("%s answers %s", tt.path, answer.Status)
		}
	}
	if got := run(t, "import", "--config", path, "--event", "x=dau", file(t, "a.csv", "user_id,event,day\n5,x,2026-03-01\n")); got.code == 0 || !strings.Contains(got.stderr, "dau") {
		t.Errorf("import: %+v", got)
	}
	if got := run(t, "import", "--config", path, file(t, "b.csv", "user_id,event,day\n2,bought,2026-03-01\n")); got.code != 0 {
		t.Errorf("import of a metric of ours: %+v", got)
	}
	if got := run(t, "export", "--config", path, "dau@2026-03-01 & bought@2026-03-01"); got.stdout != "user_id\n2\n" {
		t.Errorf("export: %+v", got)
	}
	if got := run(t, "forget", "--config", path, "2"); got.code != 0 || !strings.Contains(got.stderr, "dau, online, todo, sign, exposed") {
		t.Errorf("forget: %+v", got)
	}
	if got := run(t, "doctor", "--config", path); !strings.Contains(got.stdout, "dau has 1 day, 2026-03-01 to 2026-03-01") {
		t.Errorf("doctor: %+v", got)
	}
	if n := client.BitCount(t.Context(), "dau:2026-03-01", nil).Val(); n != 2 {
		t.Errorf("the key of another program has %d bits, want 2", n)
	}
}

func TestKnownUsersOfOtherPrograms(t *testing.T) {
	client, path := others(t, describedMetrics+"known: registered\n")
	setBits(t, client, "registered", 1, 2, 3)
	setBits(t, client, "dau:2026-03-01", 1)
	url := servingFile(t, path)
	if _, body := get(t, url+"/api/v1/cohorts/count?expr=!dau@2026-03-01"); !strings.Contains(body, `"count":2,"known_users":3`) {
		t.Errorf("complement: %s", body)
	}
	if status, body := get(t, url+"/api/v1/users/9/calendar?metric=dau&from=2026-03-01&to=2026-03-01"); status != http.StatusNotFound {
		t.Errorf("a user who is not registered: %d %s", status, body)
	}
	if err := client.RPush(t.Context(), "dau:2026-03-02", "x").Err(); err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, url+"/api/v1/cohorts/count?refresh=1&expr=dau@2026-03-02"); status != http.StatusConflict || !strings.Contains(body, "dau:2026-03-02") {
		t.Errorf("a key that is no bitmap: %d %s", status, body)
	}
}

// A key that is no bitmap is named by every question that would read it, however it was
// found, and by no other.
func TestKeysOfOtherProgramsThatAreNoBitmaps(t *testing.T) {
	client, path := others(t, describedMetrics)
	for _, key := range []string{"dau:2026-03-01", "online:segment:0:20260301", "feature:exposed"} {
		if err := client.RPush(t.Context(), key, "x").Err(); err != nil {
			t.Fatal(err)
		}
	}
	setBits(t, client, "trackist_active_2026-3-1", 2, 5)
	url := servingFile(t, path)
	for expr, key := range map[string]string{
		"dau@2026-03-01": "dau:2026-03-01", "online@2026-03-01": "online:segment:0:20260301", "exposed": "feature:exposed", "exposed|todo@2026-03-01": "feature:exposed",
	} {
		if status, body := get(t, url+"/api/v1/cohorts/count?expr="+neturl.QueryEscape(expr)); status != http.StatusConflict || !strings.Contains(body, key) {
			t.Errorf("%s answers %d %s, want a conflict that names %s", expr, status, body, key)
		}
	}
	for _, expr := range []string{"todo@2026-03-01", "todo@2026-03-01-dau@2026-03-02"} {
		if status, body := get(t, url+"/api/v1/cohorts/count?expr="+expr); status != http.StatusOK || !strings.Contains(body, `"count":2`) {
			t.Errorf("%s answers %d %s, want 2", expr, status, body)
		}
	}
}

// A segment above the highest offset holds nobody, and one of a very high number does
// not make all below it be looked at.
func TestStraySegmentsOfOtherPrograms(t *testing.T) {
	const tiny = "\nids: dense\nmetrics:\n  - {name: sg, kind: daily, key: \"sg:{segment}:{date:20060102}\", segment_bits: 64}\n"
	client, path := others(t, tiny)
	setBits(t, client, "sg:4294967295:20260301", 1)
	setBits(t, client, "sg:53000000:20260301", 1)
	setBits(t, client, "sg:0:20260301", 1, 2)
	if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	url := servingFile(t, path)
	if status, body := get(t, url+"/api/v1/cohorts/count?expr=sg@2026-03-01"); status != http.StatusOK || !strings.Contains(body, `"count":3`) {
		t.Errorf("the day answers %d %s, want 3", status, body)
	}
	stats := client.Info(t.Context(), "commandstats").Val()
	_, calls, _ := strings.Cut(stats, "cmdstat_strlen:calls=")
	calls, _, _ = strings.Cut(calls, ",")
	if n, err := strconv.Atoi(calls); err != nil || n > 1000 {
		t.Errorf("%s keys were measured for three", calls)
	}
}

// A key of 512 MiB, the largest there is, is read in pieces of a segment's bytes,
// which take microseconds, so that no other client waits for them. Times are not
// measured, since a busy machine adds to them.
func TestHugeKeysNeverBlockTheServer(t *testing.T) {
	client, path := others(t, describedMetrics)
	const last = 8*512<<20 - 1
	setBits(t, client, "dau:2026-03-01", 5, 3_000_000_000, last)
	setBits(t, client, "dau:2026-03-02", 5)
	for setting, value := range map[string]string{"slowlog-log-slower-than": "0", "slowlog-max-len": "1000000"} {
		if err := client.ConfigSet(t.Context(), setting, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Do(t.Context(), "SLOWLOG", "RESET").Err(); err != nil {
		t.Fatal(err)
	}
	url := servingFile(t, path)
	for path, want := range map[string]string{
		"cohorts/count?expr=dau@2026-03-01": `"count":2`, // the last is above max_offset
		"retention?start=dau&from=2026-03-01&to=2026-03-02&periods=1&as_of=2026-03-02&refresh=1": `"count":1`,
		"cohorts/members.csv?expr=dau@2026-03-01":                                                "user_id\n5\n3000000000\n",
		"users/3000000000/calendar?metric=dau&from=2026-03-01&to=2026-03-02&as_of=2026-03-02":    `"days":["2026-03-01"]`,
	} {
		if _, body := get(t, url+"/api/v1/"+path); !strings.Contains(body, want) {
			t.Errorf("%s answers %s, want %s", path, body, want)
		}
	}
	read := 0
	for _, command := range client.SlowLogGet(t.Context(), -1).Val() {
		name := strings.ToLower(command.Args[0])
		if len(command.Args) < 2 || !strings.HasPrefix(command.Args[1], "dau:") || name == "strlen" || name == "getbit" {
			continue
		}
		read++
		if name != "getrange" && name != "bitcount" || len(command.Args) < 4 || size(t, command.Args) > 128<<10 {
			t.Errorf("reads much at once: %v", command.Args)
		}
	}
	if read < 4096 {
		t.Errorf("the log has %d reads of the key", read)
	}
}

// size is how many bytes a command with a range works through.
func size(t *testing.T, args []string) int64 {
	t.Helper()
	from, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	to, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return to - from + 1
}

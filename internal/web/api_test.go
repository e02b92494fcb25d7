package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/fault"
)

func TestAnswers(t *testing.T) {
	s := newSite(t, week...)
	for _, tt := range []struct{ name, path, want string }{
		{"daily active users", "active?metric=active&from=2026-03-08&to=2026-03-11",
			`{"points":[{"date":"2026-03-08","count":1,"complete":true},{"date":"2026-03-09","count":2,"complete":true},{"date":"2026-03-10","count":0,"complete":false}]`},
		{"a window", "active?metric=active&from=yesterday&to=yesterday&window=7",
			`{"points":[{"date":"2026-03-09","count":3,"complete":true}]`},
		{"weeks", "active?metric=active&from=2026-03-01&to=2026-03-10&granularity=week",
			`{"points":[{"date":"2026-02-23","count":0,"complete":true},{"date":"2026-03-02","count":3,"complete":true},{"date":"2026-03-09","count":2,"complete":false}]`},
		{"a filter", "active?metric=active&from=2026-03-05&to=2026-03-05&filter=activated%20-%20exposed",
			`{"points":[{"date":"2026-03-05","count":1,"complete":true}]`},
		{"a day without data", "active?metric=active&from=2026-03-09&to=2026-03-10&as_of=2026-03-12",
			`{"points":[{"date":"2026-03-09","count":2,"complete":true},{"date":"2026-03-10","count":0,"complete":true,"suspect":"missing"}]`},
		{"next-day retention", "retention?start=active&from=2026-03-05&to=2026-03-09&periods=1&cohorts=any",
			`{"cohorts":[{"date":"2026-03-05","size":3,"cells":[{"period":0,"count":3,"complete":true},{"period":1,"count":1,"complete":true}]},` +
				`{"date":"2026-03-06","size":1,"cells":[{"period":0,"count":1,"complete":true},{"period":1,"count":1,"complete":true}]},` +
				`{"date":"2026-03-07","size":2,"cells":[{"period":0,"count":2,"complete":true},{"period":1,"count":1,"complete":true}]},` +
				`{"date":"2026-03-08","size":1,"cells":[{"period":0,"count":1,"complete":true},{"period":1,"count":1,"complete":true}]},` +
				`{"date":"2026-03-09","size":2,"cells":[{"period":0,"count":2,"complete":true},{"period":1,"count":0,"complete":false}]}],` +
				`"average":[{"period":0,"rate":1,"cohorts":5},{"period":1,"rate":0.5714285714285714,"cohorts":4}]`},
		{"brackets of an empty cohort", "retention?start=active&from=2026-03-01&to=2026-03-01&brackets=1-2,4&cohorts=any",
			`{"cohorts":[{"date":"2026-03-01","size":0,"cells":[{"bracket":"1-2","count":0,"complete":true},{"bracket":"4","count":0,"complete":true}]}],` +
				`"average":[{"bracket":"1-2","rate":null,"cohorts":0},{"bracket":"4","rate":null,"cohorts":0}]`},
		{"lifecycle", "lifecycle?metric=active&from=2026-03-05&to=2026-03-06",
			`{"points":[{"date":"2026-03-05","new":1,"returning":1,"resurrected":1,"dormant":0,"pulse":null,"complete":true},` +
				`{"date":"2026-03-06","new":0,"returning":1,"resurrected":0,"dormant":2,"pulse":0,"complete":true}]`},
		{"stickiness", "stickiness?metric=active&from=2026-03-05&to=2026-03-07",
			`{"periods":3,"points":[{"active_periods":1,"users":1,"at_least":3},{"active_periods":2,"users":1,"at_least":2},{"active_periods":3,"users":1,"at_least":1}]`},
		{"stickiness ratio", "stickiness-ratio?metric=active&from=2026-03-01&to=2026-03-02",
			`{"points":[{"date":"2026-03-01","dau":0,"mau":0,"ratio":null,"complete":true},{"date":"2026-03-02","dau":1,"mau":1,"ratio":1,"complete":true}]`},
		{"recency", "recency?metric=active&as_of=2026-03-15",
			`{"points":[{"days":"0-7","users":2},{"days":"8-14","users":1},{"days":"15-30","users":0},{"days":"31-60","users":0},{"days":"61+","users":0}]`},
		{"the size of a set", "cohorts/count?expr=activated-exposed", `{"expr":"activated - exposed","count":1,"known_users":3`},
		{"the metrics", "metrics", `{"metrics":[{"name":"active","kind":"daily","title":"Active users","first_day":"2026-03-02","last_day":"2026-03-09"},`},
		{"a calendar", "users/b/calendar?metric=active&from=2026-03-04&to=2026-03-10",
			`{"user_id":"b","metric":"active","from":"2026-03-04","to":"2026-03-10","days":["2026-03-05","2026-03-07","2026-03-09"],"suspect":{},` +
				`"total":4,"current_streak":1,"longest_streak":1,"first_day":"2026-03-03","last_day":"2026-03-09"`},
		{"a calendar without days", "users/calendar?id=c&metric=active&from=2026-03-01&to=2026-03-02&as_of=2026-03-02",
			`{"user_id":"c","metric":"active","from":"2026-03-01","to":"2026-03-02","days":[],"suspect":{},"total":0,"current_streak":0,"longest_streak":0,"first_day":null,"last_day":null`},
		{"a calendar of a metric that keeps 30 days", "users/c/calendar?metric=signed_in&from=2026-03-05&to=2026-03-05",
			`{"user_id":"c","metric":"signed_in","from":"2026-03-05","to":"2026-03-05","days":["2026-03-05"],"suspect":{},` +
				`"total":1,"current_streak":0,"longest_streak":1,"first_day":"2026-03-05","last_day":"2026-03-05","since":"2026-02-08"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, engine := range []string{"auto", "bitop", "fold"} {
				separator := "?"
				if strings.Contains(tt.path, "?") {
					separator = "&"
				}
				a := s.get("/api/v1/" + tt.path + separator + "engine=" + engine)
				if a.status != http.StatusOK || !strings.HasPrefix(a.body, tt.want) {
					t.Errorf("by %s: %d, got\n%swant\n%s", engine, a.status, a.body, tt.want)
				}
			}
		})
	}
}

func TestAnswersSayWhereTheyComeFrom(t *testing.T) {
	s := newSite(t, week...)
	for _, engine := range []string{"bitop", "fold"} {
		var got struct {
			ComputedAt string `json:"computed_at"`
			Engine     string `json:"engine"`
		}
		s.get("/api/v1/active?metric=active&from=2026-03-01&to=2026-03-02&engine="+engine).read(t, &got)
		if got.ComputedAt != "2026-03-10T12:00:00Z" || got.Engine != engine {
			t.Errorf("got %+v, want noon and %s", got, engine)
		}
	}
}

func TestRowsAsCSV(t *testing.T) {
	s := newSite(t, week...)
	for _, tt := range []struct{ path, want string }{
		{"active?metric=active&from=2026-03-09&to=2026-03-10", "date,count,complete,suspect\n2026-03-09,2,true,\n2026-03-10,0,false,\n"},
		{"retention?start=active&from=2026-03-05&to=2026-03-05&periods=1&cohorts=any",
			"date,size,period,count,rate,complete\n2026-03-05,3,0,3,1,true\n2026-03-05,3,1,1,0.3333333333333333,true\n"},
		{"lifecycle?metric=active&from=2026-03-06&to=2026-03-06", "date,new,returning,resurrected,dormant,pulse,complete\n2026-03-06,0,1,0,2,0,true\n"},
		{"stickiness?metric=active&from=2026-03-05&to=2026-03-06", "active_periods,users,at_least\n1,2,3\n2,1,1\n"},
		{"stickiness-ratio?metric=active&from=2026-03-01&to=2026-03-01", "date,dau,mau,ratio,complete\n2026-03-01,0,0,,true\n"},
		{"cohorts/count?expr=activated|exposed", "expr,count,known_users\nactivated | exposed,2,3\n"},
		{"users/c/calendar?metric=active&from=2026-03-01&to=2026-03-10", "date,suspect\n2026-03-05,\n"},
	} {
		byParameter := s.get("/api/v1/" + tt.path + "&format=csv")
		byHeader := s.get("/api/v1/"+tt.path, "Accept", "text/csv")
		if byParameter.body != tt.want || byHeader.body != tt.want || byHeader.header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("%s: got\n%s%swant\n%s", tt.path, byParameter.body, byHeader.body, tt.want)
		}
	}
}

func TestWrongRequests(t *testing.T) {
	s := newSite(t, week...)
	const days = "&from=2026-03-01&to=2026-03-03"
	for _, tt := range []struct {
		path   string
		status int
		code   string
		field  string
		at     int
	}{
		{"active?metric=nope" + days, 400, "unknown_metric", "metric", fault.NoPosition},
		{"active?metric=activated" + days, 400, "wrong_kind", "metric", fault.NoPosition},
		{"active?metric=online" + days, 400, "wrong_kind", "metric", fault.NoPosition},
		{"active?from=2026-03-01&to=2026-03-03", 400, "missing", "metric", fault.NoPosition},
		{"active?metric=active&from=2026-03-01", 400, "missing", "to", fault.NoPosition},
		{"active?metric=active&from=2026-02-30&to=2026-03-03", 400, "bad_date", "from", fault.NoPosition},
		{"active?metric=active&from=2026-03-03&to=2026-03-01", 400, "reversed_range", "to", fault.NoPosition},
		{"active?metric=active&from=0001-01-01&to=2026-03-01", 400, "range_too_long", "to", fault.NoPosition},
		{"active?metric=active&granularity=year" + days, 400, "bad_value", "granularity", fault.NoPosition},
		{"active?metric=active&window=0" + days, 400, "bad_value", "window", fault.NoPosition},
		{"active?metric=active&window=7&granularity=week" + days, 400, "bad_value", "window", fault.NoPosition},
		{"active?metric=active&as_of=soon" + days, 400, "bad_date", "as_of", fault.NoPosition},
		{"active?metric=active&wait=121" + days, 400, "bad_value", "wait", fault.NoPosition},
		{"active?metric=active&engine=sql" + days, 400, "bad_value", "engine", fault.NoPosition},
		{"active?metric=active&format=xml" + days, 400, "bad_value", "format", fault.NoPosition},
		{"active?metric=active&refresh=yes" + days, 400, "bad_value", "refresh", fault.NoPosition},
		{"active?metric=active&color=red" + days, 400, "unknown_parameter", "color", fault.NoPosition},
		{"active?metric=active&metric=signed_in" + days, 400, "repeated_parameter", "metric", fault.NoPosition},
		{"active?metric=active&filter=activated%20%26" + days, 400, "bad_expression", "filter", 11},
		{"retention?start=active&return=exposed" + days, 400, "wrong_kind", "return", fault.NoPosition},
		{"retention?start=active&cohorts=last" + days, 400, "bad_value", "cohorts", fault.NoPosition},
		{"retention?start=active&returning=later" + days, 400, "bad_value", "returning", fault.NoPosition},
		{"retention?start=active&periods=367" + days, 400, "bad_value", "periods", fault.NoPosition},
		{"retention?start=active&brackets=3-1" + days, 400, "bad_value", "brackets", fault.NoPosition},
		{"retention?start=active&brackets=1-2,2-3" + days, 400, "bad_value", "brackets", fault.NoPosition},
		{"retention?start=active&brackets=1-2&returning=every" + days, 400, "bad_value", "brackets", fault.NoPosition},
		{"retention?start=active&periods=366&from=1950-01-01&to=2026-01-01", 400, "range_too_long", "to", fault.NoPosition},
		{"cohorts/count?expr=", 400, "missing", "expr", fault.NoPosition},
		{"cohorts/count?expr=activated%20|%20nope", 400, "unknown_metric", "expr", 12},
		{"cohorts/members.csv?expr=activated%20%26", 400, "bad_expression", "expr", 11},
		{"users/a/calendar?metric=activated" + days, 400, "wrong_kind", "metric", fault.NoPosition},
		{"users/nobody/calendar?metric=active" + days, 404, "unknown_user", "", fault.NoPosition},
		{"users/calendar?metric=active" + days, 400, "missing", "id", fault.NoPosition},
		{"metrics?as_of=today&x=%zz", 400, "bad_query", "", fault.NoPosition},
		{"nope", 404, "not_found", "", fault.NoPosition},
	} {
		a := s.get("/api/v1/" + tt.path)
		var got struct {
			Error struct {
				Code, Message, Field string
				Position             *int
			}
		}
		a.read(t, &got)
		e := got.Error
		at := fault.NoPosition
		if e.Position != nil {
			at = *e.Position
		}
		if a.status != tt.status || e.Code != tt.code || e.Field != tt.field || at != tt.at || e.Message == "" {
			t.Errorf("%s: got %d %s", tt.path, a.status, a.body)
		}
	}
}

func TestMembersKeepTheirIDs(t *testing.T) {
	s := newSite(t)
	ids := []string{"plain", "=1+1", "a,b", `say "hi"`, "one\r\ntwo", " blank ", "用户", "007"}
	for _, id := range ids {
		body := `{"user_ids":[` + quote(id) + `],"value":true}`
		if a := s.post("/api/v1/flags/activated", body); a.status != http.StatusOK {
			t.Fatalf("%q: %d %s", id, a.status, a.body)
		}
	}
	for _, tt := range []struct{ query, want string }{
		{"", "user_id\nplain\n=1+1\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"one\r\ntwo\"\n\" blank \"\n用户\n007\n"},
		{"&safe=1", "user_id\nplain\n'=1+1\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"one\r\ntwo\"\n\" blank \"\n用户\n007\n"},
		{"&bom=1", "\ufeffuser_id\nplain\n=1+1\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"one\r\ntwo\"\n\" blank \"\n用户\n007\n"},
	} {
		if diff := cmp.Diff(tt.want, s.get("/api/v1/cohorts/members.csv?expr=activated"+tt.query).body); diff != "" {
			t.Errorf("members%s (-want +got):\n%s", tt.query, diff)
		}
	}
	for _, id := range ids {
		for _, path := range []string{"/api/v1/users/" + url.PathEscape(id) + "/calendar?", "/api/v1/users/calendar?id=" + url.QueryEscape(id) + "&"} {
			var got struct {
				UserID string `json:"user_id"`
			}
			s.get(path+"metric=active&from=2026-03-01&to=2026-03-02").read(t, &got)
			if got.UserID != id {
				t.Errorf("%s is about %q, want %q", path, got.UserID, id)
			}
		}
	}
	if a := s.get("/api/v1/cohorts/members.csv?expr=exposed"); a.body != "user_id\n" {
		t.Errorf("nobody is listed as %q", a.body)
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", `\r`, "\n", `\n`).Replace(s) + `"`
}

func TestWrites(t *testing.T) {
	s := newSite(t)
	for _, tt := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"some rejected", "events", `[{"user_id":"a","event":"login","day":"2026-03-01"},{"user_id":"","event":"login","day":"2026-03-01"},{"user_id":"b","event":"x","day":"2026-03-01"}]`,
			200, `{"accepted":1,"rejected":[{"line":2,`},
		{"all rejected", "events", `{"user_id":"a","event":"x","day":"2026-03-01"}`, 422, `{"accepted":0,"rejected":[{"line":1,`},
		{"taken back", "events", `{"user_id":"a","event":"login","day":"2026-03-01","value":false}`, 200, `{"accepted":1,"rejected":[]}`},
		{"no events", "events", ``, 400, `{"error":{"code":"no_events"`},
		{"a body too large", "events", "[" + strings.Repeat(" ", 5<<20) + "]", 413, `{"error":{"code":"too_large"`},
		{"a flag", "flags/activated", `{"user_ids":["a","c","a"],"value":true}`, 200, `{"changed":2}`},
		{"a flag again", "flags/activated", `{"user_ids":["a"],"value":true}`, 200, `{"changed":0}`},
		{"a flag taken back", "flags/activated", `{"user_ids":["a","nobody"],"value":false}`, 200, `{"changed":1}`},
		{"an unknown flag", "flags/nope", `{"user_ids":["a"],"value":true}`, 404, `{"error":{"code":"unknown_metric"`},
		{"no flag", "flags/active", `{"user_ids":["a"],"value":true}`, 400, `{"error":{"code":"`},
		{"no list", "flags/activated", `{"value":true}`, 400, `{"error":{"code":"missing","message":"user_ids`},
		{"no value", "flags/activated", `{"user_ids":["a"]}`, 400, `{"error":{"code":"missing","message":"value`},
		{"an unknown field", "flags/activated", `{"user_ids":["a"],"value":true,"x":1}`, 400, `{"error":{"code":"bad_json"`},
		{"no JSON", "flags/activated", `user_ids=a`, 400, `{"error":{"code":"bad_json"`},
		{"half a surrogate pair", "flags/activated", `{"user_ids":["\ud800"],"value":true}`, 400, `{"error":{"code":"bad_user_id","message":"item 1 of user_ids is `},
		{"bytes that are no text", "flags/activated", "{\"user_ids\":[\"a\",\"\xff\"],\"value\":true}", 400, `{"error":{"code":"bad_user_id","message":"item 2 of user_ids is `},
		{"a number", "flags/activated", `{"user_ids":[7],"value":true}`, 400, `{"error":{"code":"bad_user_id","message":"item 1 of user_ids is `},
		{"no ID", "flags/activated", `{"user_ids":[],"value":true}`, 200, `{"changed":0}`},
		{"no list of IDs", "flags/activated", `{"user_ids":"a","value":true}`, 400, `{"error":{"code":"bad_user_ids","message":"user_ids is `},
		{"two objects", "flags/activated", `{"user_ids":["a"],"value":true} {}`, 400, `{"error":{"code":"bad_json"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if a := s.post("/api/v1/"+tt.path, tt.body); a.status != tt.status || !strings.HasPrefix(a.body, tt.want) {
				t.Errorf("got %d %s, want %d %s…", a.status, a.body, tt.status, tt.want)
			}
		})
	}
	var size struct {
		Count      int64
		KnownUsers int64 `json:"known_users"`
	}
	s.get("/api/v1/cohorts/count?expr=activated|active@2026-03-01").read(t, &size)
	if size.Count != 1 || size.KnownUsers != 2 {
		t.Errorf("got %+v, want c alone of a and c", size)
	}
}

func TestExportsAndLookUpsAreAudited(t *testing.T) {
	s := newSite(t, week...)
	s.get("/api/v1/cohorts/count?expr=activated")
	if n := len(s.audit.accesses); n != 0 {
		t.Errorf("a count is audited %d times", n)
	}
	s.get("/api/v1/cohorts/members.csv?expr=activated-exposed")
	s.get("/api/v1/users/a/calendar?metric=active&from=2026-03-01&to=2026-03-02")
	s.get("/api/v1/users/calendar?id=c&metric=active&from=2026-03-01&to=2026-03-02")
	s.get("/cohorts?expr=exposed", "Accept", html)
	s.get("/users?id=%20b", "Accept", html)
	var got []string
	for _, a := range s.audit.accesses {
		got = append(got, string(a.Permission)+" "+a.Subject)
		if !a.At.Equal(now) || a.RemoteIP == "" || a.RequestID == "" {
			t.Errorf("an access lacks something: %+v", a)
		}
	}
	if diff := cmp.Diff([]string{"export activated - exposed", "look_up a", "look_up c", "export exposed", "look_up  b", "look_up b"}, got); diff != "" {
		t.Errorf("audited (-want +got):\n%s", diff)
	}
}

func TestTheAuditedAddressIsWhatTheProxySaw(t *testing.T) {
	s := newSite(t)
	s.get("/api/v1/cohorts/members.csv?expr=activated", "X-Forwarded-For", "198.51.100.1, 203.0.113.7", "X-Real-Ip", "198.51.100.1")
	if got := s.audit.accesses[0].RemoteIP; got != "203.0.113.7" {
		t.Errorf("audited %s, which anybody can claim; the proxy saw 203.0.113.7", got)
	}
}

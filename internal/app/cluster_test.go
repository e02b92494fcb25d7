package app

import (
	"net/http"
	"strings"
	"testing"

	"bitboard/internal/store/storetest"
)

// TestTheCommandsOnACluster goes through what a user does, on a Redis Cluster.
func TestTheCommandsOnACluster(t *testing.T) {
	cluster, prefix := storetest.Cluster(t), storetest.Prefix()
	t.Setenv("REDIS_URL", cluster)
	t.Setenv("BITBOARD_PREFIX", prefix)
	for _, step := range []struct {
		name string
		args []string
		want string
	}{
		{"import", []string{"import", file(t, "events.csv", activity)}, "rows=3 accepted=3 rejected=0 users_new=2 bits_new=6 seconds=S\n"},
		{"import again", []string{"import", "--verify", file(t, "events.csv", activity)}, "rows=3 accepted=3 rejected=0 users_new=0 bits_new=0 seconds=S\n"},
		{"replace", []string{"import", "--mode", "replace", "--verify", file(t, "day.csv", "user_id,event,day\nu3,login,2026-03-02\n")},
			"rows=1 accepted=1 rejected=0 users_new=1 bits_new=2 seconds=S\n"},
		{"export of the day replaced", []string{"export", "active@2026-03-02"}, "user_id\nu3\n"},
		{"export over days", []string{"export", "active@2026-03-01 | active@2026-03-02"}, "user_id\nu1\nu2\nu3\n"},
		{"forget", []string{"forget", "u1"}, ""},
		{"export without whom was forgotten", []string{"export", "active@2026-03-01"}, "user_id\nu2\n"},
	} {
		got := run(t, step.args...)
		if got.code != 0 || !strings.HasSuffix(summary(got), step.want) {
			t.Errorf("%s: got %+v, want %q", step.name, got, step.want)
		}
	}
	if got := run(t, "doctor"); !strings.Contains(got.stdout, "layout") {
		t.Errorf("doctor: %+v", got)
	}
	url, _ := serving(t, settings(t, map[string]string{"redis": cluster, "prefix": prefix}))
	if status, body := get(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz answers %d %s", status, body)
	}
	save(t, url, "first_day", "active@2026-03-01")
	if got := run(t, "export", "cohort(first_day)"); got.stdout != "user_id\nu2\n" {
		t.Errorf("export of a saved cohort: %+v", got)
	}
	for _, engine := range []string{"bitop", "fold"} {
		_, body := get(t, url+"/api/v1/cohorts/count?expr=active@2026-03-01&engine="+engine)
		if !strings.Contains(body, `"engine":"`+engine+`"`) || !strings.Contains(body, `"count":1`) {
			t.Errorf("%s answers %s", engine, body)
		}
	}
}

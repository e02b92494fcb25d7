package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func TestAGroupThatCannotBeReadLeavesTheOthersStanding(t *testing.T) {
	var c store.Config
	st := storetest.Open(t, func(chosen *store.Config) { c = *chosen })
	s := siteOver(t, st, week...)
	save(t, s, `{"name":"lately","title":"Came lately","expr":"active@2026-03-09"}`)
	save(t, s, `{"name":"seen","title":"Saw it","expr":"exposed"}`)
	o, err := redis.ParseURL(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	key := c.Prefix + ":{s0}:flag:exposed"
	if err := client.Del(t.Context(), key).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.HSet(t.Context(), key, "not", "a bitmap").Err(); err != nil {
		t.Fatal(err)
	}
	a := s.get("/users?id=a", "Accept", html)
	if a.status != http.StatusOK {
		t.Fatalf("the page answers %d", a.status)
	}
	for title, yes := range map[string]bool{"Activated": true, "Came lately": true, "Saw the new feature": false, "Saw it": false} {
		_, after, found := strings.Cut(a.body, ">"+title+"</a>")
		row, _, _ := strings.Cut(after, "</li>")
		if !found || strings.Contains(row, "<strong>yes</strong>") != yes || strings.Contains(row, `class="hint"`) == yes {
			t.Errorf("%s: %s", title, row)
		}
	}
}

func save(t *testing.T, s *site, body string) {
	t.Helper()
	if a := s.post("/api/v1/cohorts", body); a.status/100 != 2 {
		t.Fatalf("saving %s: %d %s", body, a.status, a.body)
	}
}

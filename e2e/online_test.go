package e2e

import (
	"net/http"
	"strings"
	"testing"

	"bitboard/internal/store/storetest"
)

func send(t *testing.T, site, body string) {
	t.Helper()
	answer, err := http.Post(site+"/api/v1/presence/online", "application/json", strings.NewReader(body))
	must(t, err)
	must(t, answer.Body.Close())
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s is answered with %s", body, answer.Status)
	}
}

// The page says who is there, and says it anew by itself where scripts run.
func TestSupportAgentSeesWhoIsOnline(t *testing.T) {
	site := serve(t, storetest.Redis(t), "")
	for _, l := range looks {
		send(t, site, `{"user_ids":["p1","p2","p3"],"online":false}`)
		b := open(t, site, l)
		b.visit("/online")
		if got := b.text(`[data-live="online"]`); got != "0" {
			t.Errorf("%s: %s are online, want nobody", l.name, got)
		}
		send(t, site, `{"user_ids":["p1","p2","p3"],"online":true}`)
		if l.noScript {
			b.click("[data-live-state] a")
		}
		must(t, b.Locator(`[data-live="online"]:text-is("3")`).WaitFor())
		if got := b.text(`[data-live="recent"]`); got != "3" {
			t.Errorf("%s: %s had a heartbeat, want 3", l.name, got)
		}
		b.check()
	}
}

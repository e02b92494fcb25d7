package store_test

import (
	"strings"
	"testing"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func TestHowRedisCLIReachesTheStore(t *testing.T) {
	url := storetest.Redis(t)
	if got := strings.Join(storetest.Open(t, func(c *store.Config) { c.URL = url }).CLI(), " "); got != "redis-cli -s "+strings.TrimPrefix(url, "unix://") {
		t.Errorf("a socket is reached by %s", got)
	}
	if got := strings.Join(storetest.OnCluster.Open(t).CLI(), " "); !strings.HasPrefix(got, "redis-cli -c -h 127.0.0.1 -p ") {
		t.Errorf("a cluster is reached by %s", got)
	}
}

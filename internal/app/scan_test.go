package app

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"bitboard/internal/store/storetest"
)

// tell sends a command to a Redis server as another program would.
func tell(t *testing.T, url, command string) {
	t.Helper()
	c, err := net.Dial("unix", strings.TrimPrefix(url, "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "%s\r\n", command); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 64)
	n, err := c.Read(answer)
	if err != nil || !strings.HasPrefix(string(answer[:n]), ":") {
		t.Fatalf("%s: %q, %v", command, answer[:n], err)
	}
}

func TestServeFindsWhatOtherProgramsWrote(t *testing.T) {
	prefix, redis := storetest.Prefix(), storetest.Redis(t)
	c := settings(t, map[string]string{"redis": redis, "prefix": prefix})
	c.Cache.CatalogueScan = 20 * time.Millisecond
	url, _ := serving(t, c)
	for _, day := range []string{"20260301", "20260302"} { // one before a scan, one after it
		tell(t, redis, "SETBIT "+prefix+":{s3}:day:active:"+day+" 5 1")
		want := `"count":1`
		path := url + "/api/v1/active?metric=active&from=" + day[:4] + "-" + day[4:6] + "-" + day[6:] + "&to=" + day[:4] + "-" + day[4:6] + "-" + day[6:]
		deadline := time.Now().Add(5 * time.Second)
		for {
			_, body := get(t, path)
			if strings.Contains(body, want) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s is not found: %s", day, body)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

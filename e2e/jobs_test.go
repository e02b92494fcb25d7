package e2e

import (
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bitboard/internal/store/storetest"
)

// slowStore is a Redis server whose every reply comes late by a delay, which may
// change.
func slowStore(t *testing.T) (url string, delay *atomic.Int64) {
	t.Helper()
	there := strings.TrimPrefix(storetest.Redis(t), "unix://")
	socket := filepath.Join(t.TempDir(), "slow.sock")
	l, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	delay = new(atomic.Int64)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", there)
			if err != nil {
				_ = client.Close()
				continue
			}
			go pass(server, client, new(atomic.Int64))
			go pass(client, server, delay)
		}
	}()
	return "unix://" + socket, delay
}

// pass copies what comes from one connection to another, late, until one is closed.
func pass(to, from net.Conn, delay *atomic.Int64) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		time.Sleep(time.Duration(delay.Load()))
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

func TestLongWorkShowsHowFarItIsAndCanBeCancelled(t *testing.T) {
	a := newActivity()
	redis, delay := slowStore(t)
	site := serve(t, redis, a.rows.String())
	for i, l := range looks {
		b := open(t, site, l)
		delay.Store(int64(100 * time.Millisecond))
		address := site + "/retention?" + asOf + "&refresh=1&periods=" + strings.Repeat("1", i%2+1)
		_, err := b.Goto(address)
		must(t, err)
		must(t, b.Locator(working+" progress").WaitFor())
		b.check()
		b.click(working + " button")
		must(t, b.WaitForURL("**/jobs"))
		for end := time.Now().Add(20 * time.Second); len(b.texts("#ended .problem")) <= i && time.Now().Before(end); {
			_, err := b.Reload()
			must(t, err)
		}
		if got := len(b.texts("#ended .problem")); got != i+1 {
			t.Errorf("%s: %d jobs were cancelled, want %d", l.name, got, i+1)
		}
		b.check()
		_, err = b.Goto(address)
		must(t, err)
		must(t, b.Locator(working+" progress").WaitFor())
		delay.Store(0)
		b.come()
		if len(b.texts("main table")) == 0 {
			t.Errorf("%s: the page did not come: %s", l.name, b.text("main"))
		}
	}
}

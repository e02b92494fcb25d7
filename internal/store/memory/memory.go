// Package memory runs a store in this process's memory, for a dashboard that
// was given no other store and finds no redis-server to keep one. It speaks
// Redis's protocol on a loopback port, so that it is used like any other store;
// its data are gone when it stops.
package memory

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// tick is how often keys grow older. Each time costs a look at every key, which
// is why it is not done with every command, as the server itself would.
const tick = time.Second

// Start starts an empty store and returns its URL. Other programs of this
// machine can reach the port, so that the URL holds a password of its own. Stop
// may be called more than once.
func Start() (address string, stop func(), err error) {
	m := miniredis.NewMiniRedis()
	password := rand.Text()
	m.RequireAuth(password)
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return "", nil, fmt.Errorf("open a port for the store in memory: %w", err)
	}
	m.Server().SetPreHook(complete(m.Server()))
	ticker, stopping := time.NewTicker(tick), make(chan struct{})
	var clock sync.WaitGroup
	clock.Go(func() { grow(m, ticker.C, stopping) })
	stop = sync.OnceFunc(func() {
		ticker.Stop()
		close(stopping)
		clock.Wait()
		m.Close()
	})
	u := url.URL{Scheme: "redis", User: url.UserPassword("", password), Host: m.Addr()}
	return u.String(), stop, nil
}

// grow takes the time that passes between ticks off every key's time to live.
func grow(m *miniredis.Miniredis, ticks <-chan time.Time, stopping <-chan struct{}) {
	var last time.Time
	for {
		select {
		case now := <-ticks:
			if !last.IsZero() {
				m.FastForward(now.Sub(last))
			}
			last = now
		case <-stopping:
			return
		}
	}
}

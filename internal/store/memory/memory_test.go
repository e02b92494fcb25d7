package memory_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"bitboard/internal/store/memory"
)

// client starts a store and returns a plain client of it.
func client(t *testing.T, change func(*redis.Options)) *redis.Client {
	t.Helper()
	address, stop, err := memory.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	o, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	change(o)
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

func asGiven(*redis.Options) {}

func TestOnlyThisProcessCanUseIt(t *testing.T) {
	for name, password := range map[string]string{"no password": "", "a wrong one": "guess"} {
		t.Run(name, func(t *testing.T) {
			c := client(t, func(o *redis.Options) { o.Username, o.Password = "", password })
			for _, command := range [][]any{{"GET", "k"}, {"BITFIELD", "k", "SET", "u1", 3, 1}} {
				if err := c.Do(t.Context(), command...).Err(); err == nil {
					t.Errorf("%v was carried out", command)
				}
			}
		})
	}
}

func TestItListensOnLoopbackUntilItStops(t *testing.T) {
	address, stop, err := memory.Start()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Errorf("the address is %s, %v", u.Redacted(), err)
	}
	stop()
	stop()
	o, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	defer c.Close()
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("it answers after stop")
	}
}

func TestSingleBits(t *testing.T) {
	c := client(t, asGiven)
	set := func(key string, args ...any) []int64 {
		t.Helper()
		before, err := c.BitField(t.Context(), key, args...).Result()
		if err != nil {
			t.Fatal(err)
		}
		return before
	}
	if got := set("k", "SET", "u1", 7, 1, "SET", "u1", 9, 1, "SET", "u1", 7, 0); !cmp.Equal(got, []int64{0, 0, 1}) {
		t.Errorf("the bits were %v, want 0 0 1", got)
	}
	if got := c.Get(t.Context(), "k").Val(); got != "\x00\x40" {
		t.Errorf("the bitmap is %q", got)
	}
	for _, args := range [][]any{{"SET", "u1", 7}, {"GET", "u1", 7, 0}, {"SET", "u8", 7, 1}, {"SET", "u1", -1, 1}, {"SET", "u1", 4294967296, 1}, {"SET", "u1", 1, 2}} {
		if err := c.BitField(t.Context(), "k", args...).Err(); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestSingleBitsTakeTheirTurnInATransaction(t *testing.T) {
	c := client(t, asGiven)
	p := c.TxPipeline()
	before := p.BitField(t.Context(), "k", "SET", "u1", 3, 1, "SET", "u1", 3, 1)
	count := p.BitCount(t.Context(), "k", nil)
	p.Del(t.Context(), "k")
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(before.Val(), []int64{0, 1}) || count.Val() != 1 {
		t.Errorf("the bits were %v and then %d, want 0 1 and 1", before.Val(), count.Val())
	}
}

func TestKeysGoAwayInTime(t *testing.T) {
	c := client(t, asGiven)
	c.Set(t.Context(), "short", "v", time.Second)
	c.Set(t.Context(), "long", "v", time.Hour)
	deadline := time.Now().Add(10 * time.Second)
	for c.Exists(t.Context(), "short").Val() == 1 {
		if time.Now().After(deadline) {
			t.Fatal("a key with a second to live is there after ten")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if left := c.TTL(t.Context(), "long").Val(); left < 59*time.Minute || left >= time.Hour {
		t.Errorf("a key with an hour to live has %s left", left)
	}
}

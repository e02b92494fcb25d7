package address

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  Address
		shown string
	}{
		{"redis://h", Address{Servers: []string{"h:6379"}}, "redis://h:6379"},
		{"redis://:pw@h:7/3", Address{Servers: []string{"h:7"}, Password: "pw", Database: 3}, "redis://h:7/3"},
		{"redis://u:p%40%2F%23@[::1]:7/", Address{Servers: []string{"[::1]:7"}, User: "u", Password: "p@/#"}, "redis://[::1]:7"},
		{"redis://u:p@q@h", Address{Servers: []string{"h:6379"}, User: "u", Password: "p@q"}, "redis://h:6379"},
		{"rediss://h:7", Address{TLS: true, Servers: []string{"h:7"}}, "rediss://h:7"},
		{"unix:///run/redis.sock", Address{Socket: "/run/redis.sock"}, "unix:///run/redis.sock"},
		{"unix://data/redis.sock", Address{Socket: "data/redis.sock"}, "unix://data/redis.sock"},
		{"unix://u:pw@/run/redis.sock", Address{Socket: "/run/redis.sock", User: "u", Password: "pw"}, "unix:///run/redis.sock"},
		{"redis+sentinel://a,b:2/main",
			Address{Kind: Sentinel, Servers: []string{"a:26379", "b:2"}, Master: "main"},
			"redis+sentinel://a:26379,b:2/main"},
		{"redis+sentinel://u:pw@a:1,b:2/main/5?sentinel_password=s%3D",
			Address{Kind: Sentinel, Servers: []string{"a:1", "b:2"}, User: "u", Password: "pw", Master: "main", Database: 5, SentinelPassword: "s="},
			"redis+sentinel://a:1,b:2/main/5"},
		{"redis+cluster://:pw@a:1,b,[::1]:3",
			Address{Kind: Cluster, Servers: []string{"a:1", "b:6379", "[::1]:3"}, Password: "pw"},
			"redis+cluster://a:1,b:6379,[::1]:3"},
		{"rediss+cluster://a/", Address{Kind: Cluster, TLS: true, Servers: []string{"a:6379"}}, "rediss+cluster://a:6379"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if shown := got.String(); shown != c.shown {
				t.Errorf("it is shown as %s, want %s", shown, c.shown)
			}
			if shown := Show(c.text); shown != c.shown {
				t.Errorf("its text is shown as %s, want %s", shown, c.shown)
			}
		})
	}
}

func TestWrongAddresses(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "not a URL"},
		{"secret", "not a URL"},
		{"secret@host:6379", "not a URL"},
		{"http://:secret@h", "unknown scheme"},
		{"redis://", "a host is missing"},
		{"redis://:secret@", "a host is missing"},
		{"redis://:secret@:6379", "a host is missing"},
		{"redis://:secret@h:port", "a host is missing or malformed"},
		{"redis://:secret@h:0", "from 1 to 65535"},
		{"redis://:secret@h:65536", "from 1 to 65535"},
		{"redis://:secret@a:1,b:2", "several are a cluster or sentinels; give redis://"},
		{"redis://:secret@h/x", "the database is not a number"},
		{"redis://:secret@h/-1", "the database is not a number"},
		{"redis://:secret@h/1/2", "the database is not a number"},
		{"redis://:sec%ret@h", "percent form"},
		{"redis://:sec#ret@h", "percent form"},
		{"redis://:sec?ret@h", "a host is missing"},
		{"redis://:secret@h?pool=secret", "a parameter after ? is not known"},
		{"redis://h?sentinel_password=secret", "a parameter after ? is not known"},
		{"unix://", "the path of the socket is missing"},
		{"unix://:secret@", "the path of the socket is missing"},
		{"redis+sentinel://:secret@a:1", "the name of the master is missing; give redis+sentinel://"},
		{"redis+sentinel://:secret@a:1,/main", "a host is missing"},
		{"redis+sentinel://:secret@a:1/main/x", "the database is not a number"},
		{"redis+cluster://:secret@a:1,,b:2", "a host is missing"},
		{"redis+cluster://:secret@a:1,b:2/1", "a cluster has no databases"},
	} {
		t.Run(c.text, func(t *testing.T) {
			got, err := Parse(c.text)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sec") {
				t.Errorf("got %+v, %v; want an error that says %q and not the password", got, err, c.says)
			}
			if shown := Show(c.text); shown != "the given address" {
				t.Errorf("it is shown as %s", shown)
			}
		})
	}
}

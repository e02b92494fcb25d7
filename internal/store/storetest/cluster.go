package storetest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
)

// masters is how many nodes a cluster has, each with a third of the slots.
const masters = 3

// slotCount is that of every Redis Cluster.
const slotCount = 16384

var cluster = lazily(startNodes)

// Cluster returns the URL of a Redis Cluster of three masters that all tests
// of the test binary share and nobody else uses. Take a prefix of your own.
func Cluster(t testing.TB) (url string) {
	t.Helper()
	return cluster(t)
}

// Nodes are the masters of a cluster of a test's own.
type Nodes struct{ servers []*server }

// StartCluster runs a cluster of its own, which keeps its data over a crash and
// notices within about a second that a master is gone.
func StartCluster(t testing.TB) *Nodes {
	t.Helper()
	n := startNodes(t, "--appendonly", "yes", "--appendfsync", "always", "--cluster-node-timeout", "500")
	t.Cleanup(func() {
		for _, s := range n.servers {
			s.stop()
		}
	})
	return n
}

func startNodes(t testing.TB, arguments ...string) *Nodes {
	t.Helper()
	n := &Nodes{}
	for i := range masters {
		e := onPort(t)
		bus := freePort(t)
		e.arguments = append(e.arguments, "--cluster-enabled", "yes", "--cluster-port", bus)
		e.arguments = append(e.arguments, arguments...)
		s := launch(t, e)
		s.must(t, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*slotCount/masters, (i+1)*slotCount/masters-1))
		s.must(t, fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
		if i > 0 {
			host, port, _ := net.SplitHostPort(s.address) // as onPort joined them
			n.servers[0].must(t, fmt.Sprintf("CLUSTER MEET %s %s %s", host, port, bus))
		}
		n.servers = append(n.servers, s)
	}
	n.awaitState(t, "cluster_state:ok")
	n.awaitState(t, fmt.Sprintf("cluster_current_epoch:%d", masters))
	return n
}

// URL returns the URL of the cluster.
func (n *Nodes) URL() string {
	var addresses []string
	for _, s := range n.servers {
		addresses = append(addresses, s.address)
	}
	return "redis+cluster://" + strings.Join(addresses, ",")
}

// Kill ends a master at once and waits until the others have noticed.
func (n *Nodes) Kill(t testing.TB, node int) {
	t.Helper()
	n.servers[node].kill(t)
	others := &Nodes{}
	for i, s := range n.servers {
		if i != node {
			others.servers = append(others.servers, s)
		}
	}
	others.awaitState(t, "cluster_state:fail")
}

// Restart starts a killed master on its files again and waits until the
// cluster serves all keys.
func (n *Nodes) Restart(t testing.TB, node int) {
	t.Helper()
	n.servers[node].stop = chain(n.servers[node].stop, launch(t, n.servers[node].endpoint).stop)
	n.awaitState(t, "cluster_state:ok")
}

func chain(first, second func()) func() {
	return func() { second(); first() }
}

func (n *Nodes) awaitState(t testing.TB, part string) {
	t.Helper()
	for _, s := range n.servers {
		if err := s.await(context.WithoutCancel(t.Context()), "CLUSTER INFO", part); err != nil {
			t.Fatal(err)
		}
	}
}

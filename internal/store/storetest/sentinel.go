package storetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// masterName is the name under which the sentinel knows the master.
const masterName = "main"

// Sentinel runs a master with a replica, and a sentinel that makes the replica
// the master when the master is gone. It returns the URL, and what kills the
// master once the replica has all its writes, and waits until that took over.
func Sentinel(t testing.TB) (url string, failover func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	master := launch(t, onPort(t), "--repl-diskless-sync-delay", "0")
	t.Cleanup(master.stop)
	host, port, _ := net.SplitHostPort(master.address) // as onPort joined them
	replica := launch(t, onPort(t), "--replicaof", host+" "+port)
	t.Cleanup(replica.stop)
	if err := replica.await(ctx, "INFO replication", "master_link_status:up"); err != nil {
		t.Fatal(err)
	}
	sentinel := launchSentinel(t, host, port)
	t.Cleanup(sentinel.stop)
	if err := sentinel.await(ctx, "INFO sentinel", "slaves=1"); err != nil {
		t.Fatal(err)
	}
	return "redis+sentinel://" + sentinel.address + "/" + masterName, func() {
		t.Helper()
		offset := field(master.must(t, "INFO replication"), "master_repl_offset")
		if err := replica.await(ctx, "INFO replication", "slave_repl_offset:"+offset); err != nil {
			t.Fatal(err)
		}
		master.kill(t)
		if err := replica.await(ctx, "INFO replication", "role:master"); err != nil {
			t.Fatal(err)
		}
	}
}

func launchSentinel(t testing.TB, host, port string) *server {
	t.Helper()
	e := settle(t, onPort(t))
	file := filepath.Join(e.dir, "sentinel.conf")
	settings := fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]s 1\nsentinel down-after-milliseconds %[1]s 300\nsentinel failover-timeout %[1]s 5000\n",
		masterName, host, port)
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	e.arguments = append([]string{file}, e.arguments...)
	return launch(t, e, "--sentinel")
}

package embedded

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bitboard/internal/fault"
)

// appendUntilKilled appends values one after the other, each once the one
// before is acknowledged, and returns how many were.
func appendUntilKilled(url, value string) (acknowledged int) {
	conn, err := net.Dial("unix", strings.TrimPrefix(url, "unix://"))
	if err != nil {
		return 0
	}
	defer conn.Close()
	replies := bufio.NewReader(conn)
	for {
		fmt.Fprintf(conn, "*3\r\n$5\r\nRPUSH\r\n$1\r\nk\r\n$%d\r\n%s\r\n", len(value), value)
		reply, err := replies.ReadString('\n')
		if err != nil || !strings.HasPrefix(reply, ":") {
			return acknowledged
		}
		acknowledged++
	}
}

func TestKilledServerLosesNothingThatItAcknowledged(t *testing.T) {
	url, _ := start(t, t.TempDir())
	value := strings.Repeat("v", 8<<10) // enough to keep the disk busy
	total := 0
	for _, pause := range []time.Duration{40 * time.Millisecond, 1300 * time.Millisecond, 700 * time.Millisecond} {
		server := serverID(t, url)
		killed := make(chan error, 1)
		time.AfterFunc(pause, func() { killed <- syscall.Kill(server, syscall.SIGKILL) })
		acknowledged := appendUntilKilled(url, value)
		if err := <-killed; err != nil || acknowledged == 0 {
			t.Fatalf("%d writes were acknowledged before the kill, %v", acknowledged, err)
		}
		eventually(t, url, "PING", "+PONG\r\n")
		var kept int
		if _, err := fmt.Sscanf(ask(t, url, "LLEN k"), ":%d", &kept); err != nil {
			t.Fatal(err)
		}
		// The write that the kill met may be there without a reply.
		if total += acknowledged; kept != total && kept != total+1 {
			t.Fatalf("after %s of writes %d are there, but %d were acknowledged", pause, kept, total)
		}
		total = kept
	}
}

func TestWhatIsAppendedIsSyncedOnce(t *testing.T) {
	dir := t.TempDir()
	d := durability{dir: dir, synced: map[string]int64{}}
	if err := d.sync(); err != nil {
		t.Errorf("before the server made its folder: %v", err)
	}
	log := filepath.Join(dir, logFolder, "appendonly.aof.1"+logSuffix)
	if err := os.Mkdir(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "one and two"} {
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := d.sync(); err != nil || d.synced[log] != int64(len(text)) {
			t.Errorf("%d of %d bytes are synced, %v", d.synced[log], len(text), err)
		}
	}
}

func TestALogThatCannotBeSyncedIsAFault(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, logFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full/none", filepath.Join(dir, logFolder, "x"+logSuffix)); err != nil {
		t.Fatal(err)
	}
	d := durability{dir: dir, synced: map[string]int64{}}
	if f := fault.As(d.sync()); f == nil || f.Kind != fault.ErrUnavailable || !strings.Contains(f.Message, dir) {
		t.Errorf("the fault is %v", f)
	}
}

func TestTheServersLogIsWhereItIsSynced(t *testing.T) {
	dir := t.TempDir()
	url, _ := start(t, dir)
	ask(t, url, "SET k kept")
	d := durability{dir: dir, synced: map[string]int64{}}
	if err := d.sync(); err != nil || len(d.synced) != 1 {
		t.Errorf("synced %v, %v", d.synced, err)
	}
}

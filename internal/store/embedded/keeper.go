package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"bitboard/internal/fault"
)

// keeper holds the folder's lock whenever it can, and runs the server while it does.
type keeper struct {
	dir, path string
	// failed receives why the server could not be run, once.
	failed chan error
	// stopping is closed to end run, which closes done at its end.
	stopping, done chan struct{}
	// kill ends a server for which there is no time to end in order.
	kill context.CancelFunc
}

// keep starts a keeper that outlives ctx.
func keep(ctx context.Context, dir, path string) *keeper {
	k := &keeper{dir: dir, path: path, failed: make(chan error, 1), stopping: make(chan struct{}), done: make(chan struct{})}
	ctx, k.kill = context.WithCancel(context.WithoutCancel(ctx))
	go k.run(ctx)
	return k
}

// run takes turns with the keepers of other processes until it is stopped.
func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	// The kernel ends the server together with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		wait := pollInterval
		lock, err := takeLock(filepath.Join(k.dir, lockName))
		if lock != nil {
			err = k.serve(ctx, lock)
			wait = restartDelay
		}
		if err != nil {
			select {
			case k.failed <- err:
			default:
			}
		}
		select {
		case <-k.stopping:
			return
		case <-time.After(wait):
		}
	}
}

// takeLock returns nil when another process holds the lock.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if err == syscall.EWOULDBLOCK {
			return nil, nil
		}
		return nil, fmt.Errorf("lock the data: %w", err)
	}
	return f, nil
}

// serve runs the server until it ends or is to stop, and gives the lock back.
func (k *keeper) serve(ctx context.Context, lock *os.File) error {
	defer lock.Close()
	var log tail
	cmd := k.command(ctx, lock, &log)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", k.path, err)
	}
	var exit error
	ended := make(chan struct{})
	go func() {
		exit = cmd.Wait()
		close(ended)
	}()
	disk := durability{dir: k.dir, synced: map[string]int64{}}
	ticker := time.NewTicker(syncInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return fault.Unavailable(exit, "the private %s on %s ended: %s", program, k.dir, log.last())
		case <-k.stopping:
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				k.kill()
			}
			<-ended
			return nil
		case <-ticker.C:
			if err := disk.sync(); err != nil {
				// What is acknowledged from now on could be lost: it starts anew.
				_ = cmd.Process.Kill() // it fails only when the server has ended
				<-ended
				return err
			}
		}
	}
}

// command is the server's command line. Appendfsync is no, with which the
// server hands each write to the kernel before it replies. With everysec it
// replies before that for up to two seconds while the disk is busy, and with
// always every reply waits for the disk.
func (k *keeper) command(ctx context.Context, lock *os.File, log io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, k.path, "--port", "0", "--unixsocket", socketName, "--unixsocketperm", "700",
		"--dir", ".", "--appendonly", "yes", "--appendfsync", "no", "--save", "", "--loglevel", "warning")
	cmd.Dir = k.dir
	cmd.Stdout, cmd.Stderr = log, log
	// With a copy of the lock the server holds it for as long as it lives, even
	// when this process is killed: two servers on one folder ruin the data.
	cmd.ExtraFiles = []*os.File{lock}
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = time.Second
	return cmd
}

// stop ends run and waits for it.
func (k *keeper) stop(ctx context.Context) error {
	defer k.kill()
	close(k.stopping)
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
	}
	k.kill()
	<-k.done
	return fmt.Errorf("the private %s on %s did not stop in time and was killed", program, k.dir)
}

// ready waits until a server answers on the socket, whoever runs it.
func (k *keeper) ready(ctx context.Context, socket string) error {
	for {
		if answers(ctx, socket) {
			return nil
		}
		select {
		case err := <-k.failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("wait for %s on %s: %w", program, k.dir, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// answers reports whether the server says that it is there and has loaded its data.
func answers(ctx context.Context, socket string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if conn.SetDeadline(deadline) != nil {
		return false
	}
	fmt.Fprint(conn, "PING\r\n")
	reply, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(reply) == "+PONG"
}

// tail keeps the end of what a server logs.
type tail struct{ text []byte }

const tailBytes = 4 << 10

// Write keeps the last bytes of all that was written. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

// last returns the last line without the process, time and level before it.
func (t *tail) last() string {
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return "it said nothing"
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if _, said, found := strings.Cut(line, " # "); found {
		return said
	}
	return line
}

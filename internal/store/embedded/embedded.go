// Package embedded runs a private redis-server on a folder that keeps all its
// data, for a dashboard that was given no other store. Several processes may
// name the same folder: one of them runs the server, the others talk to it, and
// when it ends one of the others goes on with it.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"bitboard/internal/fault"
)

const (
	program    = "redis-server"
	lockName   = "lock"
	socketName = "redis.sock"
	// pollInterval is how often a server is asked whether it answers, and how
	// often the lock is tried while another process holds it.
	pollInterval = 20 * time.Millisecond
	// restartDelay keeps a server that ends at once from being started all the time.
	restartDelay = 500 * time.Millisecond
)

// ErrNoProgram is the cause of a Start that failed because no redis-server is on PATH.
var ErrNoProgram = errors.New("no " + program + " on PATH")

// Start makes sure that a server answers on the folder, which it makes when it
// is not there, and returns its URL. Until stop is called, a server that ends
// is started again. Starting waits until the data are loaded or ctx ends.
//
// Stop ends the server if it is this process that runs it, and returns when it
// has; if ctx ends before, the server is killed, which loses nothing that was
// acknowledged.
func Start(ctx context.Context, dir string) (url string, stop func(ctx context.Context) error, err error) {
	dir, err = folder(dir)
	if err != nil {
		return "", nil, err
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", nil, fault.Unavailable(ErrNoProgram,
			"there is no %s program on PATH to keep the data in %s; install Redis 7 or later, or give the address of one that runs with --redis", program, dir)
	}
	socket, forget, err := reachable(dir)
	if err != nil {
		return "", nil, err
	}
	k := keep(ctx, dir, path)
	if err := k.ready(ctx, socket); err != nil {
		return "", nil, errors.Join(err, k.stop(ctx), forget())
	}
	return "unix://" + socket, func(ctx context.Context) error { return errors.Join(k.stop(ctx), forget()) }, nil
}

// folder makes the folder and returns its absolute path.
func folder(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(absolute, 0o700)
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = path.Err
	}
	if err != nil {
		return "", fault.Invalid("bad_data_dir", "data_dir", "the folder %s cannot be used: %v; give another one with --data-dir", dir, err)
	}
	return absolute, nil
}

// maxSocketPath is how long a socket's path may be on every system.
const maxSocketPath = 103

// reachable returns a path of the folder's socket that is short enough to
// connect to. Forget removes what was made for it.
func reachable(dir string) (socket string, forget func() error, err error) {
	socket = filepath.Join(dir, socketName)
	if len(socket) <= maxSocketPath {
		return socket, func() error { return nil }, nil
	}
	private, err := os.MkdirTemp("", "bitboard-")
	if err != nil {
		return "", nil, fmt.Errorf("make a short name for the folder %s: %w", dir, err)
	}
	link := filepath.Join(private, "data")
	if err := os.Symlink(dir, link); err != nil {
		return "", nil, errors.Join(fmt.Errorf("make a short name for the folder %s: %w", dir, err), os.RemoveAll(private))
	}
	return filepath.Join(link, socketName), func() error { return os.RemoveAll(private) }, nil
}

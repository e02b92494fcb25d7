package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bitboard/internal/fault"
)

const (
	// syncInterval is how much of the newest data a power cut may take. A server
	// that is killed loses nothing that it acknowledged: it hands each write to
	// the kernel before it replies.
	syncInterval = time.Second
	// logFolder and logSuffix say where the server appends what is written.
	logFolder = "appendonlydir"
	logSuffix = ".incr.aof"
)

// durability makes what a server wrote outlive a power cut.
type durability struct {
	dir    string
	synced map[string]int64 // the size of each file when it was last synced
}

// sync has the kernel write to the disk what the server appended since the
// last time. A server that appended nothing costs no access to the disk.
func (d *durability) sync() error {
	entries, err := os.ReadDir(filepath.Join(d.dir, logFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err == nil && strings.HasSuffix(e.Name(), logSuffix) {
			err = d.syncFile(filepath.Join(d.dir, logFolder, e.Name()))
		}
	}
	if err != nil {
		return fault.Unavailable(err, "what was written to the data in %s cannot be brought to the disk", d.dir)
	}
	return nil
}

func (d *durability) syncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the server has rewritten its log, and removed this part of it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == d.synced[path] {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	d.synced[path] = info.Size()
	return nil
}

package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"

	"bitboard/internal/fault"
)

// StandardInput is the name under which Files reads the standard input.
const StandardInput = "-"

// Source is something to read rows from.
type Source struct {
	// Name is for messages.
	Name string
	// Size is in bytes as stored, 0 when nobody knows.
	Size int64
	// Open opens it. It is called once.
	Open func() (io.ReadCloser, error)
}

// Files returns the sources of paths, of which one may be StandardInput. That
// each can be read is checked here, before anything is written: one that is
// missing is a fault.ErrNotFound that names it.
func Files(paths []string, stdin io.ReadCloser) ([]Source, error) {
	sources := make([]Source, 0, len(paths))
	for i, path := range paths {
		if path != StandardInput {
			s, err := file(path)
			if err != nil {
				return nil, err
			}
			sources = append(sources, s)
			continue
		}
		if slices.Contains(paths[:i], path) {
			return nil, fault.Invalid("double_source", "", "the standard input can be read once only")
		}
		sources = append(sources, Source{Name: "standard input", Open: func() (io.ReadCloser, error) { return stdin, nil }})
	}
	return sources, nil
}

func file(path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, unreadable(path, err)
	}
	if info.IsDir() {
		return Source{}, fault.Invalid("unreadable_file", "", "%s is a directory; give files", path)
	}
	s := Source{Name: path, Open: func() (io.ReadCloser, error) { return open(path) }}
	if !info.Mode().IsRegular() {
		return s, nil // opening a pipe to try it would use it up
	}
	f, err := open(path)
	if err != nil {
		return Source{}, err
	}
	s.Size = info.Size()
	return s, f.Close()
}

func open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return f, nil
}

// unreadable names the file and the reason in words.
func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.NotFound("missing_file", "the file %s does not exist", path)
	}
	reason := err
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		reason = e.Err
	}
	return fault.Invalid("unreadable_file", "", "the file %s cannot be read: %v", path, reason)
}

// counter counts the bytes read from a source.
type counter struct {
	io.Reader
	n *atomic.Int64
}

// Read implements io.Reader.
func (c counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// opened opens a source, which for a named pipe waits until somebody writes to
// it. When ctx ends before, the waiting is left to the end of the process.
func opened(ctx context.Context, s Source) (io.ReadCloser, error) {
	type result struct {
		f   io.ReadCloser
		err error
	}
	done := make(chan result, 1)
	go func() {
		f, err := s.Open()
		done <- result{f, err}
	}()
	select {
	case r := <-done:
		return r.f, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Package app is the program: its commands, how the parts are put together,
// how it starts and how it ends.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"bitboard/internal/config"
	"bitboard/internal/fault"
)

// The exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2 // wrong usage or configuration
	exitRejects = 3 // an import that rejected rows
)

// Main runs one command, given by args without the program's name, and returns
// the exit code. When ctx ends the command ends in order.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, log: slog.New(slog.NewTextHandler(stderr, nil))}
	root := p.root()
	root.SetArgs(append([]string{}, args...)) // never nil, for which the process's own would be taken
	err := root.ExecuteContext(ctx)
	if text := explain(err); text != "" {
		fmt.Fprintln(stderr, text)
	}
	return exitCode(err)
}

// program is what the commands share.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	log            *slog.Logger
}

// exit is an error that ends the program with a code of its own.
type exit struct {
	code int
	err  error // nil when nothing is left to say
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// wrongUsage marks an error as the caller's: a flag, an argument, a setting.
func wrongUsage(err error) error { return exit{exitUsage, err} }

func exitCode(err error) int {
	var e exit
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}

// explain returns what to tell the user about an error: the mistakes of a
// configuration as they are, anything else in one line.
func explain(err error) string {
	if err == nil || err.Error() == "" {
		return ""
	}
	if mistakes, ok := errors.AsType[config.Mistakes](err); ok {
		return mistakes.Error()
	}
	text := err.Error()
	switch f := fault.As(err); {
	case errors.Is(err, context.Canceled):
		text = "interrupted"
	case f != nil:
		text = f.Message
	}
	return "dashboard: " + strings.ReplaceAll(text, "\n", "; ")
}

// Command dashboard is Bitboard: product analytics on Redis bitmaps.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"bitboard/internal/app"
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; a second one ends at once.
	context.AfterFunc(ctx, restore)
	os.Exit(app.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

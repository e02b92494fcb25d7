package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:                   "version",
		DisableFlagsInUseLine: true,
		Short:                 "Print the version",
		Args:                  exactly(),
		Run: func(*cobra.Command, []string) {
			fmt.Fprintf(p.stdout, "bitboard %s %s %s/%s\n", revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

// revision is what the program was built from: a released version, or the
// commit, as the toolchain recorded it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

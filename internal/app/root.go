package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitboard/internal/fault"
)

// root is the command that holds all others.
func (p *program) root() *cobra.Command {
	c := &cobra.Command{
		Use:           "dashboard",
		Short:         "Product analytics on Redis bitmaps",
		Long:          "Bitboard counts active users, retention and cohorts exactly, from bitmaps in Redis.",
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return withHelp(c) },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	c.CompletionOptions.DisableDefaultCmd = true
	c.SuggestionsMinimumDistance = 2
	c.SetIn(p.stdin)
	c.SetOut(p.stdout)
	c.SetErr(p.stderr)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return wrongUsage(fmt.Errorf("%w; %s --help lists the flags", err, c.CommandPath()))
	})
	commonFlags(c.PersistentFlags())
	c.AddCommand(p.serve(), p.importFiles(), p.importIDs(), p.export(), p.forget(), p.doctor(), p.version())
	return c
}

// knownCommand refuses what is no command, with the nearest one that is.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := c.SuggestionsFor(args[0])
	slices.Sort(near)
	hint := "dashboard --help lists the commands"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return wrongUsage(fmt.Errorf("unknown command %s; %s", fault.Show(args[0]), hint))
}

// withHelp prints the help of a command that cannot run by itself.
func withHelp(c *cobra.Command) error {
	if err := c.Help(); err != nil {
		return err
	}
	return exit{code: exitUsage}
}

// exactly accepts as many arguments as there are names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return wrongUsage(fmt.Errorf("%s is missing; usage: %s", names[len(args)], c.UseLine()))
		case len(args) > len(names):
			return wrongUsage(fmt.Errorf("unexpected argument %s; usage: %s", fault.Show(args[len(names)]), c.UseLine()))
		}
		return nil
	}
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"bitboard/internal/config"
	"bitboard/internal/doctor"
	"bitboard/internal/fault"
)

func (p *program) doctor() *cobra.Command {
	return &cobra.Command{
		Use:                   "doctor",
		DisableFlagsInUseLine: true,
		Short:                 "Examine the store and say what is wrong",
		Long: `Examine the store and print a line for each thing looked at: ok, hint, or wrong
with what to do about it. Exit code 1 when something is wrong, 0 otherwise.

It reads in small steps and may run beside production. What other programs
wrote, or what is gone, is brought into the catalogue, as the server's
background scan does.`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := configure(c)
			if err != nil {
				return err
			}
			return examine(c.Context(), cfg, p.stdout)
		},
	}
}

// examine prints the findings. A store that cannot be opened or read is one.
func examine(ctx context.Context, c config.Config, out io.Writer) error {
	sound := true
	report := func(f doctor.Finding) {
		sound = sound && f.Grade != doctor.Wrong
		fmt.Fprintln(out, f)
	}
	err := examineStore(ctx, c, report)
	if f := fault.As(err); f != nil && ctx.Err() == nil && !errors.As(err, new(exit)) {
		report(doctor.Finding{Grade: doctor.Wrong, Check: checkOf(f), Text: f.Message})
		err = nil
	}
	if err == nil && !sound {
		return exit{code: exitFailed}
	}
	return err
}

func examineStore(ctx context.Context, c config.Config, report func(doctor.Finding)) (err error) {
	d, err := openData(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	return doctor.Examine(ctx, doctor.Config{
		Store: d.Store, Workspace: c.Workspace, MaxOffset: c.MaxOffset, Dense: c.DenseIDs, Now: time.Now(), Report: report,
	})
}

// checkOf names what was looked at when an error came.
func checkOf(f *fault.Error) string {
	if f.Code == "layout_mismatch" {
		return "layout"
	}
	return "store"
}

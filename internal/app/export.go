package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"bitboard/internal/cohort"
	"bitboard/internal/config"
	"bitboard/internal/fault"
	"bitboard/internal/memberlist"
	"bitboard/internal/query"
	"bitboard/internal/web"
)

func (p *program) export() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:                   "export [--out FILE] EXPR",
		DisableFlagsInUseLine: true,
		Short:                 "Write the users of a set expression as CSV",
		Example: `  dashboard export 'activated - exposed'
  dashboard export --out back.csv 'active@yesterday & active@today'`,
		Args: exactly("EXPR"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := fromEnvironment(c); err != nil {
				return err
			}
			cfg, err := configure(c)
			if err != nil {
				return err
			}
			if _, err := cohort.ParseExpr(args[0]); err != nil {
				return wrongUsage(err)
			}
			return p.writeMembers(c.Context(), cfg, args[0], out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to `FILE` instead of standard output; it appears when it is whole")
	perRun(c.Flags(), "out", "BITBOARD_EXPORT_OUT")
	return c
}

// writeMembers writes the users whom an expression names now. The access is
// recorded before any of them leaves.
func (p *program) writeMembers(ctx context.Context, cfg config.Config, expr, out string) (err error) {
	d, err := openData(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	q, now := questions(cfg, d), time.Now()
	people, err := q.Parse(ctx, expr, cohort.DayOf(now, cfg.Workspace.Zone))
	if errors.Is(err, fault.ErrInvalid) {
		return wrongUsage(err)
	}
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		if err := auditor(p.log).Record(ctx, web.Access{At: now, Permission: web.Export, Subject: people.Meaning}); err != nil {
			return err
		}
		return membersCSV(ctx, q, people.Set, cfg.Engine.Mode, w)
	}
	if out == "" {
		return write(p.stdout)
	}
	return writeWhole(out, write)
}

// membersCSV writes a header and one user a line.
func membersCSV(ctx context.Context, q *query.Service, set cohort.Set, engine string, out io.Writer) error {
	w := memberlist.NewWriter(out, memberlist.Options{})
	o := query.Options{Engine: query.Engine(engine), Now: time.Now()}
	if err := q.Members(ctx, set, o, w.Write); err != nil || w.Begun() {
		return err
	}
	return w.Write(&cohort.IDList{})
}

// writeWhole makes a file that is there only when all of it is: it is written
// beside its place and renamed at the end. Only its owner may read it, for it
// names people.
func writeWhole(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return wrongUsage(fmt.Errorf("cannot write %s: it is there and no file", path))
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, reason(err))
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// reason drops the operation and the path from an error of the file system.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

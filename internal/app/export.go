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
			expr, set, err := resolve(args[0], cfg.Workspace, time.Now())
			if err != nil {
				return wrongUsage(err)
			}
			access := web.Access{At: time.Now(), Permission: web.Export, Subject: expr.String()}
			return p.writeMembers(c.Context(), cfg, set, access, out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to `FILE` instead of standard output; it appears when it is whole")
	perRun(c.Flags(), "out", "BITBOARD_EXPORT_OUT")
	return c
}

// resolve reads a set expression as of now.
func resolve(text string, w cohort.Workspace, now time.Time) (cohort.Expr, cohort.Set, error) {
	e, err := cohort.ParseExpr(text)
	if err != nil {
		return e, nil, err
	}
	noneSaved := func(string) (cohort.Expr, bool) { return cohort.Expr{}, false }
	set, err := e.Resolve(cohort.Scope{Workspace: w, AsOf: cohort.DayOf(now, w.Zone), Saved: noneSaved})
	return e, set, err
}

// writeMembers writes the users of a set. The access is recorded before any of
// them leaves.
func (p *program) writeMembers(ctx context.Context, cfg config.Config, set cohort.Set, access web.Access, out string) (err error) {
	d, err := openData(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	write := func(w io.Writer) error {
		if err := auditor(p.log).Record(ctx, access); err != nil {
			return err
		}
		return membersCSV(ctx, questions(cfg, d), set, cfg.Engine.Mode, w)
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
	return w.Write(nil)
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

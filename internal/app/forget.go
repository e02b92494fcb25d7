package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bitboard/internal/cohort"
	"bitboard/internal/config"
	"bitboard/internal/web"
)

func (p *program) forget() *cobra.Command {
	return &cobra.Command{
		Use:                   "forget USER",
		DisableFlagsInUseLine: true,
		Short:                 "Take a user out of everything that is stored",
		Long: "Take a user, by ID, out of all days and flags of all metrics, the known users and the dictionary.\n" +
			"That cannot be undone. If it is interrupted, the same command again completes it.",
		Example: "  dashboard forget u-1071",
		Args:    exactly("USER"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := configure(c)
			if err != nil {
				return err
			}
			return p.runForget(c.Context(), cfg, args[0])
		},
	}
}

// runForget forgets a user, after recording that, and then says what was done.
func (p *program) runForget(ctx context.Context, cfg config.Config, id string) (err error) {
	d, err := openData(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	if err := auditor(p.log).Record(ctx, web.Access{At: time.Now(), Permission: web.Forget, Subject: id}); err != nil {
		return err
	}
	marks, err := d.Forget(ctx, id)
	if err != nil && ctx.Err() != nil {
		return errors.New("interrupted; the same command again completes it")
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.stdout, "user=%s marks=%d\n", oneWord(id), marks); err != nil {
		return fmt.Errorf("the user is forgotten, but this cannot be written: %w", reason(err))
	}
	p.noteOthers(cfg.Workspace)
	return nil
}

// noteOthers says in which bitmaps the user may still be.
func (p *program) noteOthers(w cohort.Workspace) {
	var names []string
	for _, m := range w.Metrics {
		if m.ReadOnly() {
			names = append(names, m.Name)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(p.stderr, "note: %s kept by other programs, whose keys are only read here; take the user out there\n", strings.Join(names, ", "))
	}
}

// oneWord returns an ID as it is when it can be read as one word, else quoted.
func oneWord(id string) string {
	if quoted := strconv.Quote(id); quoted != `"`+id+`"` || strings.Contains(id, " ") {
		return quoted
	}
	return id
}

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"bitboard/internal/config"
	"bitboard/internal/ingest"
)

func (p *program) importIDs() *cobra.Command {
	return &cobra.Command{
		Use:                   "import-ids FILE",
		DisableFlagsInUseLine: true,
		Short:                 "Take over the offsets that user IDs have in an existing mapping table",
		Long: "Read rows of user_id and offset, as CSV with a header or as NDJSON, plain or gzip, and give each ID its offset.\n" +
			"An ID with two offsets or an offset with two IDs, in the file or with what is stored, refuses the whole file.\n" +
			"The file is read several times. What is done already is left as it is, so a file may be imported again.",
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := configure(c)
			if err != nil {
				return err
			}
			if args[0] == ingest.StandardInput {
				return wrongUsage(errors.New("the standard input can be read once only, and import-ids reads a table several times; give a file"))
			}
			if cfg.DenseIDs {
				return wrongUsage(errors.New("ids: dense makes each user ID its own offset, so there is no table to import; import-ids needs ids: dictionary"))
			}
			return p.runImportIDs(c.Context(), cfg, args[0])
		},
	}
}

// runImportIDs imports a table and then says what was done.
func (p *program) runImportIDs(ctx context.Context, cfg config.Config, path string) error {
	begin := time.Now()
	summary, err := p.takeIDs(ctx, cfg, path)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.stdout, "pairs=%d new=%d seconds=%.2f\n", summary.Pairs, summary.New, time.Since(begin).Seconds()); err != nil {
		return fmt.Errorf("the import is done, but its summary cannot be written: %w", reason(err))
	}
	return nil
}

func (p *program) takeIDs(ctx context.Context, cfg config.Config, path string) (_ ingest.PairSummary, err error) {
	d, err := openData(ctx, cfg)
	if err != nil {
		return ingest.PairSummary{}, err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	progress := newProgress(p.stderr)
	summary, err := ingest.ImportIDs(ctx, d.Store, path, cfg.MaxOffset, progress.show)
	progress.clear()
	if err != nil && ctx.Err() != nil {
		return summary, errors.New("interrupted; the same import again completes it")
	}
	return summary, err
}

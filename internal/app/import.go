package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bitboard/internal/cohort"
	"bitboard/internal/config"
	"bitboard/internal/fault"
	"bitboard/internal/ingest"
)

// shownRejects is how many rejected rows are shown when no file takes them.
const shownRejects = 20

// importFlags are the choices of one import as they were given.
type importFlags struct {
	mode    string
	events  []string
	rejects string
	force   bool
	verify  bool
}

func (p *program) importFiles() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:                   "import [--mode merge|replace] [--event NAME=METRIC]... [--rejects FILE] [--force] [--verify] FILE...",
		DisableFlagsInUseLine: true,
		Short:                 "Read an activity log from files, or from - for standard input",
		Long: "Read rows of user_id, event and timestamp or day, as CSV with a header or as NDJSON, plain or gzip.\n" +
			"The last line on standard output counts what was done. Exit code 3 says that some rows were rejected.",
		Args: someFiles,
		RunE: func(c *cobra.Command, paths []string) error {
			if err := fromEnvironment(c); err != nil {
				return err
			}
			cfg, err := configure(c)
			if err != nil {
				return err
			}
			return p.runImport(c.Context(), cfg, f, paths)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.mode, "mode", "merge", "`MODE`: merge adds to what is there, replace swaps the whole days that the files mention")
	flags.StringArrayVar(&f.events, "event", nil, "let event NAME mark METRIC, as `NAME=METRIC`, before what the key events says; may be repeated")
	flags.StringVar(&f.rejects, "rejects", "", fmt.Sprintf("write rejected rows to `FILE` instead of the first %d to standard error", shownRejects))
	flags.BoolVar(&f.force, "force", false, "let replace shrink a day of 100 or more users by more than half")
	flags.BoolVar(&f.verify, "verify", false, "look up a sample of what was written afterwards")
	for _, name := range []string{"mode", "event", "rejects", "force", "verify"} {
		perRun(flags, name, "BITBOARD_IMPORT_"+strings.ToUpper(name))
	}
	return c
}

func someFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return wrongUsage(errors.New("FILE is missing; give one or more, or - for standard input"))
	}
	if i := slices.Index(args, ingest.StandardInput); i >= 0 && slices.Contains(args[i+1:], ingest.StandardInput) {
		return wrongUsage(errors.New("- is given twice; the standard input can be read once only"))
	}
	return nil
}

// runImport imports and then says what was done.
func (p *program) runImport(ctx context.Context, cfg config.Config, f importFlags, paths []string) error {
	begin := time.Now()
	o, err := f.options(cfg.Workspace, begin)
	if err != nil {
		return wrongUsage(err)
	}
	summary, err := p.importAll(ctx, cfg, f, o, paths)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.stdout, "rows=%d accepted=%d rejected=%d users_new=%d bits_new=%d seconds=%.2f\n",
		summary.Rows, summary.Accepted, summary.Rejected, summary.UsersNew, summary.BitsNew, time.Since(begin).Seconds()); err != nil {
		return fmt.Errorf("the import is done, but its summary cannot be written: %w", reason(err))
	}
	if summary.Rejected > 0 {
		return exit{code: exitRejects}
	}
	return nil
}

// importAll opens all that an import needs, and closes it again.
func (p *program) importAll(ctx context.Context, cfg config.Config, f importFlags, o ingest.Options, paths []string) (_ ingest.Summary, err error) {
	var stdin io.ReadCloser
	if slices.Contains(paths, ingest.StandardInput) {
		stdin = abandonable(p.stdin)
	}
	sources, err := ingest.Files(paths, stdin)
	if err != nil {
		return ingest.Summary{}, err
	}
	log, err := p.rejectLog(f.rejects, paths)
	if err != nil {
		return ingest.Summary{}, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	d, err := openData(ctx, cfg)
	if err != nil {
		return ingest.Summary{}, err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	return p.take(ctx, cfg, d, o, sources, log)
}

// take runs the import.
func (p *program) take(ctx context.Context, cfg config.Config, d *data, o ingest.Options, sources []ingest.Source, log *rejectLog) (ingest.Summary, error) {
	service, err := intake(cfg, d)
	if err != nil {
		return ingest.Summary{}, err
	}
	progress := newProgress(p.stderr)
	summary, err := service.Import(ctx, o, sources, ingest.Observer{Reject: log.Write, Progress: progress.show})
	progress.clear()
	if err != nil && ctx.Err() != nil {
		return summary, errors.New("interrupted; the same import again completes it")
	}
	if err == nil {
		p.noteFutureDays(ctx, d, cfg.Workspace.Metrics, o.Today)
	}
	return summary, err
}

// noteFutureDays says which metrics have marks on days that no report shows
// yet, for they are likely a mistake. Not to know is no reason to fail.
func (p *program) noteFutureDays(ctx context.Context, d *data, metrics []cohort.Metric, today cohort.Day) {
	catalogue, err := d.Catalogue(ctx)
	if err != nil {
		return
	}
	for _, m := range metrics {
		if span, ok := catalogue.Span(m.Name); ok && span.To > today {
			fmt.Fprintf(p.stderr, "note: %s has marks up to %s, which is after today, %s; reports leave them out until then\n", m.Name, span.To, today)
		}
	}
}

// options checks the flags.
func (f importFlags) options(w cohort.Workspace, now time.Time) (ingest.Options, error) {
	o := ingest.Options{Today: cohort.DayOf(now, w.Zone), Force: f.force, Verify: f.verify, Events: map[string][]string{}}
	switch f.mode {
	case "merge":
		o.Mode = ingest.Merge
	case "replace":
		o.Mode = ingest.Replace
	default:
		return o, fault.Invalid("bad_mode", "mode", "--mode %s is not accepted; give merge or replace", fault.Show(f.mode))
	}
	for _, text := range f.events {
		// A metric's name holds no =, an event's may.
		i := strings.LastIndexByte(text, '=')
		if i <= 0 {
			return o, fault.Invalid("bad_event", "event", "--event %s is not accepted; give NAME=METRIC", fault.Show(text))
		}
		event, metric := text[:i], text[i+1:]
		if _, known := w.Metric(metric); !known {
			return o, fault.Invalid("unknown_metric", "event", "--event %s names the metric %s, which is not configured", fault.Show(text), fault.Show(metric))
		}
		o.Events[event] = append(o.Events[event], metric)
	}
	return o, nil
}

// abandonable returns r's bytes through a pipe, because closing the standard
// input does not end a read that waits for a terminal or another program.
// Closing the pipe does; the read is then left to the end of the process.
func abandonable(r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}

// rejectLog is where rejected rows go.
type rejectLog struct {
	*ingest.RejectLog
	file *os.File // nil for standard error
}

// rejectLog opens the file for rejected rows, which must not be one of the inputs.
func (p *program) rejectLog(path string, inputs []string) (*rejectLog, error) {
	if path == "" {
		return &rejectLog{ingest.NewRejectLog(p.stderr, shownRejects), nil}, nil
	}
	if there, err := os.Stat(path); err == nil {
		for _, input := range inputs {
			if info, err := os.Stat(input); err == nil && os.SameFile(there, info) {
				return nil, wrongUsage(fmt.Errorf("--rejects %s would overwrite a file that is to be imported; give another one", path))
			}
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, reason(err))
	}
	return &rejectLog{ingest.NewRejectLog(file, 0), file}, nil
}

// Write writes one reject; an error says where it could not.
func (l *rejectLog) Write(source string, r ingest.Reject) error {
	return l.unwritable(l.RejectLog.Write(source, r))
}

func (l *rejectLog) unwritable(err error) error {
	if err == nil || l.file == nil {
		return err
	}
	return &fault.Error{Kind: fault.ErrInvalid, Code: "unwritable_file", Field: "rejects", Position: fault.NoPosition,
		Message: fmt.Sprintf("the rejected rows cannot be written to %s: %v", l.file.Name(), reason(err))}
}

// Close writes what is left and closes the file.
func (l *rejectLog) Close() error {
	err := l.unwritable(l.RejectLog.Close())
	if l.file != nil {
		err = errors.Join(err, l.unwritable(l.file.Close()))
	}
	return err
}

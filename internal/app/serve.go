package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"bitboard/internal/config"
	"bitboard/internal/fault"
	"bitboard/internal/job"
	"bitboard/internal/query"
	"bitboard/internal/web"
)

const (
	// headerTimeout bounds how long a client may take to send a request's header.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long a connection is kept without a request.
	idleTimeout = 2 * time.Minute
	// drainTimeout is what requests under way get to finish at the end.
	drainTimeout = 4 * time.Second
)

func (p *program) serve() *cobra.Command {
	var o ServeOptions
	c := &cobra.Command{
		Use:                   "serve [--listen ADDR] [--data-dir DIR] [--demo]",
		DisableFlagsInUseLine: true,
		Short:                 "Serve the dashboard and its API",
		Long:                  "Serve the dashboard and its API until SIGINT or SIGTERM.\n\n" + describeKeys(),
		Args:                  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := fromEnvironment(c); err != nil {
				return err
			}
			cfg, err := configure(c)
			if err != nil {
				return err
			}
			o.Log, o.Ready = p.log, func(url string) { fmt.Fprintln(p.stdout, url) }
			return Serve(c.Context(), cfg, o)
		},
	}
	setting(c.Flags(), "listen", "listen", "serve on `ADDR`, a HOST:PORT of this machine only")
	c.Flags().BoolVar(&o.Demo, "demo", false, "serve sample data from memory; what is written is gone at the end")
	perRun(c.Flags(), "demo", "BITBOARD_DEMO")
	return c
}

// ServeOptions is how to serve.
type ServeOptions struct {
	// Demo serves sample data from memory instead of the configured store.
	Demo bool
	Log  *slog.Logger
	// Ready is told the URL, with the port that was really taken, when requests
	// are answered.
	Ready func(url string)
}

// Serve serves until ctx ends, and then ends in order within ten seconds.
func Serve(ctx context.Context, c config.Config, o ServeOptions) error {
	if o.Demo {
		if err := checkDemo(c); err != nil {
			return err
		}
		c.DenseIDs = true // before anything reads it: the sample's users are numbers
	}
	listener, err := listen(ctx, c)
	if err != nil {
		return err
	}
	defer listener.Close()
	d, err := openServed(ctx, c, o)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	if err != nil {
		return err
	}
	background, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { scanning(background, d.Store, c.Cache.CatalogueScan, o.Log) })
	work.Go(func() { remembering(background, questions(c, d), o.Log) })
	jobs := job.New(background, jobConfig(c, d, o.Log))
	handler, err := pages(ctx, c, d, jobs, o.Log)
	if err == nil {
		work.Go(func() { jobs.Adopt(background, web.Again(handler)) })
		err = serveHTTP(ctx, listener, handler, o.Log, o.Ready)
	}
	cancel()
	work.Wait()
	jobs.Wait()
	return errors.Join(err, d.Close(ctx))
}

// pages puts together what answers requests, until ctx ends.
func pages(ctx context.Context, c config.Config, d *data, jobs *job.Runner, log *slog.Logger) (http.Handler, error) {
	in, err := intake(c, d)
	if err != nil {
		return nil, err
	}
	return web.New(web.Config{
		Query:    questions(c, d),
		Ingest:   in,
		Store:    d.Store,
		Jobs:     jobs,
		Offpeak:  c.Engine.Offpeak.String(),
		Engine:   query.Engine(c.Engine.Mode),
		Dense:    c.DenseIDs,
		Now:      time.Now,
		Log:      log,
		Version:  revision(),
		Audit:    auditor(log),
		Stopping: ctx.Done(),
		Notices:  notices(d),
	}), nil
}

// questions is what answers questions under a configuration.
func questions(c config.Config, d *data) *query.Service {
	return query.New(d.Store, c.Workspace, query.Config{
		TTLOpen: c.Cache.TTLOpen, SettleAfter: c.Cache.SettleAfter, MaxBitopBytes: c.Engine.MaxBitopBytes,
	})
}

// jobConfig is how questions that take long are run.
func jobConfig(c config.Config, d *data, log *slog.Logger) job.Config {
	if d.inMemory || d.demo {
		c.Engine.MaxRedisShare = 0 // nobody else is there
	}
	return job.Config{
		Store: d.Store, Now: time.Now, CostLimit: c.Engine.JobCostLimit, Log: log,
		Share: c.Engine.MaxRedisShare, Burst: c.Engine.Burst,
		OffPeak: func(t time.Time) bool { return c.Engine.Offpeak.Holds(t.In(c.Workspace.Zone)) },
	}
}

// auditor keeps the record of who took what, from pages and commands alike.
func auditor(log *slog.Logger) web.Auditor { return web.LogAuditor{Log: log} }

// listen takes the address, which must be this machine's own unless the
// configuration says otherwise: anybody who reaches the server sees everything.
func listen(ctx context.Context, c config.Config) (net.Listener, error) {
	address := c.Listen
	resolved, err := net.ResolveTCPAddr("tcp", address)
	switch {
	case err != nil:
		return nil, wrongUsage(fmt.Errorf("cannot listen on %s: no such address; give for example 127.0.0.1:8080", address))
	case !resolved.IP.IsLoopback() && !c.AllowRemote:
		return nil, wrongUsage(fault.Invalid("not_loopback", "listen",
			"cannot listen on %s: this version has no sign-in and serves this machine only; give 127.0.0.1:%d, and reach it from elsewhere through a tunnel or a proxy that checks who comes (set allow_remote: true where only such a proxy reaches it)",
			address, resolved.Port))
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", resolved.String())
	if err != nil {
		if call, ok := errors.AsType[*os.SyscallError](err); ok {
			err = call.Err
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return listener, nil
}

func serveHTTP(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger, ready func(url string)) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	ready("http://" + l.Addr().String() + "/")
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	return drain(ctx, server)
}

// drain lets requests under way finish, and breaks off those that take too long.
func drain(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

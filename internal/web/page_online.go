package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/chart"
	"bitboard/internal/cohort"
	"bitboard/views"
	"bitboard/views/ui"
)

const (
	// shownBeats is how many minutes of heartbeats the page draws.
	shownBeats = 180
	// liveEvery is how often a reader of the live numbers gets them.
	liveEvery = 2 * time.Second
)

// onlineLivePath is where the live numbers come from.
const onlineLivePath = "/online/live"

// recentChoices are the minutes of heartbeats that the page offers.
var recentChoices = []int{1, 5, 15}

func (s *server) online(c echo.Context) error {
	p := s.pageParams(c)
	page := views.OnlinePage{Page: s.page(c, p.today)}
	metric, minutes := s.presenceOf(p)
	page.Form = s.onlineForm(p, metric, minutes)
	page.ComputedAt = s.Now().In(s.workspace.Zone).Format(time.RFC3339)
	if p.err != nil || metric == "" {
		return render(c, http.StatusOK, views.Online(page))
	}
	r, cancel := s.newReporter(c, p)
	defer cancel()
	b := onlineBuilder{r, metric, minutes, s.Now()}
	page.Live = address(onlineLivePath, "metric", metric, "within", withinText(minutes))
	page.Refresh = address("/online", "metric", metric, "within", withinText(minutes))
	var panels sync.WaitGroup
	panels.Go(func() { page.Now = b.now() })
	panels.Go(func() { page.Today = b.today() })
	panels.Go(func() { page.Beats = b.beats() })
	panels.Wait()
	return render(c, http.StatusOK, views.Online(page))
}

// presenceOf reads which metric is asked for, and how many minutes of heartbeats
// count; the metric is empty when there is none of the kind.
func (s *server) presenceOf(p *params) (metric string, minutes int) {
	for _, m := range s.workspace.Metrics {
		if m.Kind == cohort.KindPresence {
			p.defaults("metric", m.Name)
		}
	}
	minutes, err := cohort.ParseRecent("within", p.text("within"))
	p.fail(err)
	if name := p.text("metric"); name != "" {
		m, err := s.workspace.PresenceMetric("metric", name)
		p.fail(err)
		metric = m.Name
	}
	return metric, minutes
}

func withinText(minutes int) string { return strconv.Itoa(minutes) + "m" }

func (s *server) onlineForm(p *params, metric string, minutes int) views.OnlineForm {
	f := views.OnlineForm{Problem: p.problem()}
	for _, m := range s.workspace.Metrics {
		if m.Kind == cohort.KindPresence {
			f.Metrics = append(f.Metrics, ui.Choice{Value: m.Name, Label: m.Title, Current: m.Name == metric})
		}
	}
	for _, n := range recentChoices {
		f.Minutes = append(f.Minutes, ui.Choice{Value: withinText(n), Label: p.printer.Count("online.minutes", int64(n)), Current: n == minutes})
	}
	return f
}

// onlineBuilder fills the panels of the page, each on its own.
type onlineBuilder struct {
	reporter
	metric  string
	minutes int
	at      time.Time
}

func (b onlineBuilder) now() views.OnlineNow {
	present, err := b.Query.Present(b.ctx, b.metric, b.at, b.minutes)
	if err != nil {
		return views.OnlineNow{Error: b.panelError(b.echo, err)}
	}
	n := views.OnlineNow{Online: present.Online, Recent: present.Recent, Minutes: b.minutes}
	bits := int64(b.Query.SegmentBits())
	for _, segment := range present.Segments {
		first := int64(segment.Segment) * bits
		n.Segments = append(n.Segments, views.OnlineSegment{First: first, Last: first + bits - 1, Online: segment.Online, Recent: segment.Recent})
	}
	return n
}

// today is who was there on the day.
func (b onlineBuilder) today() views.OnlineToday {
	expr := b.metric + "@" + b.params.today.String()
	e, err := cohort.ParseExpr(expr)
	if err != nil {
		return views.OnlineToday{Error: b.panelError(b.echo, err)}
	}
	set, err := e.Resolve(cohort.Scope{Workspace: b.workspace, AsOf: b.params.today})
	if err != nil {
		return views.OnlineToday{Error: b.panelError(b.echo, err)}
	}
	size, err := b.Query.Size(b.ctx, set, b.params.opts)
	if err != nil {
		return views.OnlineToday{Error: b.panelError(b.echo, err)}
	}
	return views.OnlineToday{Number: b.params.people(size.Value.Count, expr), Expr: expr}
}

// beats is the heartbeats of the last minutes, of which the last is not over.
func (b onlineBuilder) beats() views.BeatsPanel {
	beats, err := b.Query.Beats(b.ctx, b.metric, b.at, shownBeats)
	if err != nil {
		return views.BeatsPanel{Report: b.failed(err)}
	}
	panel := views.BeatsPanel{Report: views.Report{CSV: address("/online.csv", "metric", b.metric)}}
	line := chart.Series{Name: b.text.T("online.beats")}
	var axis []string
	for i, m := range beats {
		over := i < len(beats)-1
		at := m.Start.In(b.workspace.Zone).Format("15:04")
		panel.Rows = append(panel.Rows, views.BeatRow{At: at, Users: m.Users, Complete: over})
		panel.Any = panel.Any || m.Users > 0
		axis = append(axis, at)
		line.Points = append(line.Points, chart.Point{Value: float64(m.Users), Known: true, Complete: over})
	}
	panel.Options = b.drawn(&panel.Report, chart.Lines, axis, line)
	return panel
}

// onlineLive sends who is there as server-sent events, until the reader leaves
// or the server stops.
func (s *server) onlineLive(c echo.Context) error {
	p := s.pageParams(c)
	metric, minutes := s.presenceOf(p)
	if p.err != nil {
		return p.err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store")
	ticker := time.NewTicker(liveEvery)
	defer ticker.Stop()
	for {
		if err := s.sendPresence(c, metric, minutes); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-c.Request().Context().Done():
			return nil
		case <-s.Stopping:
			return nil
		}
	}
}

// sendPresence sends one event. When the store is away, the stream ends, and the
// reader comes back by itself.
func (s *server) sendPresence(c echo.Context, metric string, minutes int) error {
	at := s.Now()
	present, err := s.Query.Present(c.Request().Context(), metric, at, minutes)
	if err != nil {
		if c.Response().Committed {
			return nil
		}
		return err
	}
	event, err := json.Marshal(presenceBody{present.Online, present.Recent, at})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.Response(), "event: presence\ndata: %s\n\n", event); err != nil {
		return nil //nolint:nilerr // the reader has left
	}
	c.Response().Flush()
	return nil
}

// onlineCSV is the rows of the chart of heartbeats as a file.
func (s *server) onlineCSV(c echo.Context) error {
	p := s.pageParams(c)
	metric, _ := s.presenceOf(p)
	if p.err != nil {
		return p.err
	}
	beats, err := s.Query.Beats(c.Request().Context(), metric, s.Now(), shownBeats)
	if err != nil {
		return err
	}
	rows := table{header: []string{"minute", "users"}}
	for _, m := range beats {
		rows.rows = append(rows.rows, []string{m.Start.Format(time.RFC3339), intText(m.Users)})
	}
	return writeCSV(c, "heartbeats.csv", rows)
}

package web

import (
	"context"
	"errors"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/views"
)

// groups tells which flags a user has and which saved cohorts hold the user. What
// cannot be said leaves the calendar standing.
func (l *lookUps) groups(id string) views.UserGroups {
	ctx, cancel := context.WithTimeout(l.echo.Request().Context(), panelTimeout)
	defer cancel()
	g, sets, err := l.flagsAndCohorts(ctx)
	if err != nil {
		return views.UserGroups{Error: l.panelError(l.echo, err)}
	}
	if len(sets) == 0 {
		return g
	}
	held, failed, err := l.holdsEach(ctx, id, sets)
	if err != nil {
		return views.UserGroups{Error: l.panelError(l.echo, err)}
	}
	next := 0
	for _, list := range [][]views.UserGroup{g.Flags, g.Cohorts} {
		for i := range list {
			if list[i].Problem == "" {
				if list[i].Holds = held[next]; failed[next] != nil {
					list[i].Problem = l.panelError(l.echo, failed[next])
				}
				next++
			}
		}
	}
	return g
}

// holdsEach asks about all sets at once, which read what they share once. When that
// fails it asks about each alone: one that cannot be read, e.g. since another program
// wrote something else there, says so and leaves the others standing.
func (l *lookUps) holdsEach(ctx context.Context, id string, sets []cohort.Set) (held []bool, failed []error, err error) {
	failed = make([]error, len(sets))
	all, err := l.Query.Holds(ctx, id, sets, l.params.opts)
	if err == nil || errors.Is(err, fault.ErrUnavailable) || ctx.Err() != nil {
		return all.Value, failed, err
	}
	held = make([]bool, len(sets))
	for i := range sets {
		if one, err := l.Query.Holds(ctx, id, sets[i:i+1], l.params.opts); err != nil {
			failed[i] = err
		} else {
			held[i] = one.Value[0]
		}
	}
	return held, failed, nil
}

// flagsAndCohorts are all that may hold a user, with a set for each that has no problem.
func (l *lookUps) flagsAndCohorts(ctx context.Context) (g views.UserGroups, sets []cohort.Set, err error) {
	for _, m := range l.workspace.Metrics {
		if m.Kind == cohort.KindFlag {
			g.Flags = append(g.Flags, views.UserGroup{Title: m.Title, URL: address("/cohorts", "expr", m.Name, "as_of", l.params.asOfParam())})
			sets = append(sets, cohort.Stored{Bitmap: cohort.Flag(m.Name)})
		}
	}
	all, err := l.Store.SavedCohorts(ctx)
	if err != nil {
		return g, nil, err
	}
	for _, saved := range all.List() {
		row := views.UserGroup{Title: saved.Title, URL: address("/cohorts", "expr", reference(saved.Name), "as_of", l.params.asOfParam())}
		if row.Title == "" {
			row.Title = saved.Name
		}
		people, err := l.Query.ParseAmong(all, saved.Expression(), l.params.today)
		if f := fault.As(err); f != nil && f.Kind == fault.ErrInvalid {
			row.Problem = words(l.params.printer, f)
		} else if err != nil {
			return g, nil, err
		} else {
			sets = append(sets, people.Set)
		}
		g.Cohorts = append(g.Cohorts, row)
	}
	return g, sets, nil
}

package query

import (
	"context"

	"bitboard/internal/cohort"
)

// People is a set expression with the users that it names.
type People struct {
	cohort.Expr
	Set cohort.Set
	// Meaning is the expression with those of saved cohorts in the place of their
	// names: it still says who it was when those have been changed.
	Meaning string
}

// Parse reads a set expression as of a day. What is wrong with it is a
// *fault.Error with the position.
func (s *Service) Parse(ctx context.Context, text string, asOf cohort.Day) (People, error) {
	e, err := cohort.ParseExpr(text)
	if err != nil {
		return People{}, err
	}
	var saved cohort.SavedCohorts
	if len(e.Cohorts()) > 0 {
		if saved, err = s.store.SavedCohorts(ctx); err != nil {
			return People{}, err
		}
	}
	return s.among(saved, e, asOf)
}

// ParseAmong is Parse with saved cohorts that were read already.
func (s *Service) ParseAmong(saved cohort.SavedCohorts, text string, asOf cohort.Day) (People, error) {
	e, err := cohort.ParseExpr(text)
	if err != nil {
		return People{}, err
	}
	return s.among(saved, e, asOf)
}

func (s *Service) among(saved cohort.SavedCohorts, e cohort.Expr, asOf cohort.Day) (People, error) {
	set, err := e.Resolve(cohort.Scope{Workspace: s.workspace, AsOf: asOf, Saved: saved})
	if err != nil {
		return People{}, err
	}
	return People{e, set, e.Expand(saved).String()}, nil
}

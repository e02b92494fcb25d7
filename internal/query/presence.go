package query

import (
	"context"
	"maps"
	"slices"
	"time"

	"bitboard/internal/cohort"
)

// Present answers who is there, by what was said and by the heartbeats of some
// minutes up to an instant.
func (s *Service) Present(ctx context.Context, metric string, at time.Time, minutes int) (cohort.Presence, error) {
	online, err := s.store.Present(ctx, metric)
	if err != nil {
		return cohort.Presence{}, err
	}
	recent, err := s.store.Recent(ctx, metric, at, minutes)
	if err != nil {
		return cohort.Presence{}, err
	}
	all := maps.Clone(online)
	maps.Copy(all, recent)
	var p cohort.Presence
	for _, segment := range slices.Sorted(maps.Keys(all)) {
		p.Segments = append(p.Segments, cohort.PresenceSegment{Segment: segment, Online: online[segment], Recent: recent[segment]})
		p.Online += online[segment]
		p.Recent += recent[segment]
	}
	return p, nil
}

// Online is how many users are there by what was said.
func (s *Service) Online(ctx context.Context, metric string) (total int64, err error) {
	online, err := s.store.Present(ctx, metric)
	for _, n := range online {
		total += n
	}
	return total, err
}

// Minute is how many users had a heartbeat in a minute.
type Minute struct {
	Start time.Time
	Users int64
}

// Beats returns how many users had a heartbeat in each of some minutes, the last
// of which is that of an instant.
func (s *Service) Beats(ctx context.Context, metric string, at time.Time, minutes int) ([]Minute, error) {
	last := at.UTC().Truncate(time.Minute)
	first := last.Add(-time.Duration(minutes-1) * time.Minute)
	counts, err := s.store.Beats(ctx, metric, first, last)
	if err != nil {
		return nil, err
	}
	beats := make([]Minute, minutes)
	for i := range beats {
		start := first.Add(time.Duration(i) * time.Minute)
		beats[i] = Minute{start, counts[start.Unix()]}
	}
	return beats, nil
}

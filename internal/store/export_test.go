package store

import "context"

// CommitOnly does what Commit does up to and including the commit record, and
// then applies the first n segments: what a process leaves that dies there.
func (y *Sync) CommitOnly(ctx context.Context, n int) error {
	r, _, err := y.prepare(ctx, true)
	if err != nil {
		return err
	}
	if err := y.store.writeRecord(ctx, y.id, r); err != nil {
		return err
	}
	for _, sr := range r.Segments[:n] {
		if _, err := y.store.apply(ctx, y.id, sr); err != nil {
			return err
		}
	}
	y.end()
	return nil
}

// AskAboutEviction forgets what the servers said about eviction, as time does.
func (s *Store) AskAboutEviction() { s.watch.forget() }

package ingest

import (
	"context"
	"slices"
)

const (
	// requestIDs is how many IDs are given to the store at once.
	requestIDs = 10_000
	// requestRows is how many rows wait for the offsets of one request at most.
	requestRows = 16 * requestIDs
	// mostAsked is how many requests the store works on at the same time.
	mostAsked = 3
)

// request is IDs whose offsets the store is asked for, and the rows that wait
// for them.
type request struct {
	ids    []byte
	ends   []int // where each of ids ends
	hashes []uint64
	places *idTable // of each ID among ids
	rows   []waitingRow

	// offsets and err are the answer, once done is closed.
	offsets []uint32
	err     error
	done    chan struct{}
}

// waitingRow is a row whose user has no offset yet.
type waitingRow struct {
	group *group
	place uint32
}

func newRequest() *request { return &request{places: newIDTable()} }

// add adds a row whose user is not among the IDs.
func (q *request) add(u unknownRow, id []byte) {
	place := uint32(len(q.ends))
	q.places.add(u.hash, id, place)
	q.ids = append(q.ids, id...)
	q.ends = append(q.ends, len(q.ids))
	q.hashes = append(q.hashes, u.hash)
	q.rows = append(q.rows, waitingRow{u.group, place})
}

// join adds a row whose user is among the IDs, or returns false.
func (q *request) join(u unknownRow, id []byte) bool {
	place, ok := q.places.find(u.hash, id)
	if ok {
		q.rows = append(q.rows, waitingRow{u.group, place})
	}
	return ok
}

// full reports whether no more rows should wait for the request.
func (q *request) full() bool {
	return len(q.ends) >= requestIDs || len(q.rows) >= requestRows
}

// ask asks the store in the background.
func (q *request) ask(ctx context.Context, s Store) {
	q.done = make(chan struct{})
	go func() {
		defer close(q.done)
		q.offsets, q.err = s.Assign(ctx, q.texts())
	}()
}

// texts returns the IDs as pieces of one string.
func (q *request) texts() []string {
	all, from := string(q.ids), 0
	texts := make([]string, len(q.ends))
	for i, end := range q.ends {
		texts[i] = all[from:end]
		from = end
	}
	return texts
}

// clear makes the request an empty one.
func (q *request) clear() {
	q.places.clear()
	clear(q.rows) // lets go of the groups
	q.ids, q.ends, q.hashes, q.rows = q.ids[:0], q.ends[:0], q.hashes[:0], q.rows[:0]
}

// wait lets a row wait for its user's offset.
func (g *gatherer) wait(ctx context.Context, u unknownRow, id []byte) error {
	for _, q := range g.asked {
		if q.join(u, id) {
			if len(q.rows) >= requestRows {
				return g.settle(ctx, len(g.asked))
			}
			return nil
		}
	}
	if !g.filling.join(u, id) {
		g.filling.add(u, id)
	}
	if g.filling.full() {
		return g.ask(ctx)
	}
	return nil
}

// ask asks for the offsets of the request that was filled, and begins another.
func (g *gatherer) ask(ctx context.Context) error {
	if len(g.filling.ends) == 0 {
		return nil
	}
	if err := g.settle(ctx, len(g.asked)-mostAsked+1); err != nil {
		return err
	}
	g.filling.ask(ctx, g.store)
	g.asked = append(g.asked, g.filling)
	if n := len(g.spare); n > 0 {
		g.filling, g.spare = g.spare[n-1], g.spare[:n-1]
	} else {
		g.filling = newRequest()
	}
	return nil
}

// settle waits for the answers to the n oldest requests.
func (g *gatherer) settle(ctx context.Context, n int) error {
	for ; n > 0; n-- {
		q := g.asked[0]
		select {
		case <-q.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if q.err != nil {
			return q.err
		}
		g.asked = slices.Delete(g.asked, 0, 1)
		g.answered(q)
	}
	return nil
}

// settleReady takes the answers that are there.
func (g *gatherer) settleReady(ctx context.Context) error {
	for len(g.asked) > 0 {
		select {
		case <-g.asked[0].done:
			if err := g.settle(ctx, 1); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// answered gathers the rows that waited for a request, and remembers its
// offsets. When there are too many it starts again: an ID that comes often is
// soon back.
func (g *gatherer) answered(q *request) {
	for _, w := range q.rows {
		g.usersOf(w.group).Add(q.offsets[w.place])
	}
	known := g.known.Load()
	if known.size() > knownLimit {
		known = newIDTable()
		g.known.Store(known)
	}
	from := 0
	for i, end := range q.ends {
		known.add(q.hashes[i], q.ids[from:end], q.offsets[i])
		from = end
	}
	q.clear()
	g.spare = append(g.spare, q)
}

// abandon waits until the store works on no request any more.
func (g *gatherer) abandon() {
	for _, q := range g.asked {
		<-q.done
	}
}

package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
)

// moment is a state of the stored catalogue: which data, how often changed,
// whether the store has removed keys by itself, how often a user was forgotten,
// which runs of the servers hold the data, which writes are open, and which saved
// cohorts there are.
type moment struct {
	epoch     string
	version   int64
	evicted   bool
	forgotten int64
	runs      string
	writes    string // a line each
	cohorts   string // their version
}

func (m moment) generation() generation { return generation{m.epoch, m.forgotten} }

// snapshot is the catalogue as it was at a moment, or newer.
type snapshot struct {
	moment
	catalogue *cohort.Catalogue
}

// view holds the newest snapshot read, and lets one reader at a time replace it.
type view struct {
	newest  *atomic.Pointer[snapshot]
	loading chan struct{}
}

func newView() view {
	v := view{new(atomic.Pointer[snapshot]), make(chan struct{}, 1)}
	v.clear()
	return v
}

func (v view) clear() { v.newest.Store(emptySnapshot("")) }

func emptySnapshot(epoch string) *snapshot {
	return &snapshot{moment{epoch: epoch}, cohort.NewCatalogue(nil)}
}

// Catalogue returns a snapshot of what exists that is no older than the last
// acknowledged write of any process under this prefix. It asks for the stored
// version, and reads what changed since the newest snapshot. What other programs
// keep under keys of their own is in it.
func (s *Store) Catalogue(ctx context.Context) (*cohort.Catalogue, error) {
	own, err := s.OwnCatalogue(ctx)
	if err != nil {
		return nil, err
	}
	return s.withOthers(ctx, own)
}

// OwnCatalogue is Catalogue without what other programs keep under keys of their own.
func (s *Store) OwnCatalogue(ctx context.Context) (*cohort.Catalogue, error) {
	latest, err := s.latest(ctx)
	if err != nil {
		return nil, err
	}
	return latest.catalogue, nil
}

func (s *Store) latest(ctx context.Context) (*snapshot, error) {
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	if seen := s.view.newest.Load(); seen.moment == now {
		return seen, nil
	}
	select {
	case s.view.loading <- struct{}{}:
		defer func() { <-s.view.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		seen := s.view.newest.Load()
		next, err := s.catchUp(ctx, seen)
		if err != nil {
			return nil, err
		}
		if s.view.newest.CompareAndSwap(seen, next) {
			return next, nil
		}
	}
}

// now returns the state of the stored catalogue. Data without an epoch were
// emptied behind our back: they get their layout record again.
func (s *Store) now(ctx context.Context) (moment, error) {
	now, err := s.readMoment(ctx)
	if err != nil || now.epoch != "" {
		return now, err
	}
	if err := s.settleLayout(ctx); err != nil {
		return moment{}, err
	}
	if now, err = s.readMoment(ctx); err != nil || now.epoch != "" {
		return now, err
	}
	return now, s.checkTypes(ctx, []string{s.keys.epoch()})
}

// stateScript returns the epoch, the versions of the catalogue and of the
// forgotten, the open writes, those of them whose writers are dead, in a
// cluster, which ARGV[1] tells, the epoch of its configuration, and the version
// of the saved cohorts.
var stateScript = redis.NewScript(`
local t, failovers = redis.call('TIME'), ''
if ARGV[1] == 'cluster' then failovers = string.match(redis.call('CLUSTER', 'INFO'), 'cluster_current_epoch:(%d+)') end
return {
  redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3]), redis.call('ZRANGE', KEYS[4], 0, -1),
  redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', t[1] * 1000 + math.floor(t[2] / 1000)), failovers,
  redis.call('GET', KEYS[5]),
}
`)

// readMoment reads the state, and ends the writes of the dead first.
func (s *Store) readMoment(ctx context.Context) (moment, error) {
	now, dead, err := s.readState(ctx)
	if err != nil || len(dead) == 0 {
		return now, err
	}
	if err := s.endDeadWrites(ctx, dead); err != nil {
		return moment{}, err
	}
	now, _, err = s.readState(ctx)
	return now, err
}

// readState also returns the writes whose writers are dead. In a cluster the
// epoch changes with every failover: a replica that takes over may lack the last
// writes, and is not always a new connection. Every master knows of it, as a
// majority of them must agree.
func (s *Store) readState(ctx context.Context) (now moment, dead []string, err error) {
	k, kind := s.keys, "single"
	if s.clustered() {
		kind = "cluster"
	}
	names := []string{k.epoch(), k.catalogueVersion(), k.forgottenVersion(), k.writes(), k.cohortsVersion()}
	values, err := stateScript.Run(ctx, s.client, names, kind).Slice()
	if err != nil {
		return now, nil, s.failed(ctx, "read the catalogue's version", err)
	}
	e, err := s.eviction(ctx)
	if err != nil {
		return now, nil, err
	}
	now = moment{evicted: e.evicted, runs: e.runs}
	if epoch, ok := values[0].(string); ok {
		failovers, _ := values[5].(string)
		now.epoch = epoch + "@" + failovers
	}
	for i, version := range []*int64{&now.version, &now.forgotten} {
		text, ok := values[1+i].(string)
		if !ok {
			continue
		}
		if *version, err = strconv.ParseInt(text, 10, 64); err != nil {
			return now, nil, damagedKey([]string{k.catalogueVersion(), k.forgottenVersion()}[i], "number")
		}
	}
	now.cohorts, _ = values[6].(string)
	now.writes = strings.Join(texts(values[3]), "\n")
	return now, texts(values[4]), nil
}

// texts returns the strings of a list in a reply.
func texts(reply any) []string {
	list, _ := reply.([]any)
	all := make([]string, 0, len(list))
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// catchUp returns seen with what changed since. Data that are other data, or
// older than what was seen, are read from nothing.
func (s *Store) catchUp(ctx context.Context, seen *snapshot) (*snapshot, error) {
	now, err := s.now(ctx)
	if err != nil || now == seen.moment {
		return seen, err
	}
	if now.epoch != seen.epoch || now.version < seen.version {
		seen = emptySnapshot(now.epoch)
	}
	changed, err := s.changedSince(ctx, seen.version)
	if err != nil {
		return nil, err
	}
	half, err := s.HalfReplaced(ctx)
	if err != nil {
		return nil, err
	}
	// What was changed after now was read may be in it already; the next reader
	// sees a higher version and reads it again, which does no harm.
	doubts := cohort.Doubts{Evicted: now.evicted, HalfReplaced: half}
	state := cohort.State{Lineage: now.epoch + " " + now.runs, Writing: writingOf(strings.Split(now.writes, "\n"))}
	next := seen.catalogue.With(changed.segments, changed.tokens).WithHistories(changed.histories)
	return &snapshot{now, next.Doubting(doubts).In(state)}, nil
}

// changes is what changed in the catalogue. The segments of a bitmap that is
// gone are nil.
type changes struct {
	segments, histories map[cohort.Bitmap][]int
	tokens              map[cohort.Bitmap]uint64
}

// add enters the segments and the token of a bitmap.
func (c changes) add(b cohort.Bitmap, segments []int, token uint64) {
	if b.Kind == cohort.HistoryBitmap {
		b.Print = token
		c.histories[b] = segments
		return
	}
	c.segments[b], c.tokens[b] = segments, token
}

// changedSince returns what changed after a version.
func (s *Store) changedSince(ctx context.Context, version int64) (changes, error) {
	c := changes{map[cohort.Bitmap][]int{}, map[cohort.Bitmap][]int{}, map[cohort.Bitmap]uint64{}}
	after := &redis.ZRangeBy{Min: "(" + strconv.FormatInt(version, 10), Max: "+inf"}
	members, err := s.client.ZRangeByScore(ctx, s.keys.catalogue(), after).Result()
	if err != nil {
		return c, s.failed(ctx, "read the catalogue", err)
	}
	for part := range slices.Chunk(members, pipelineLimit/2) {
		if err := s.readMembers(ctx, part, c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// readMembers reads the tokens before the segments, so that no token stands for
// segments that are older than it.
func (s *Store) readMembers(ctx context.Context, members []string, c changes) error {
	p := s.client.Pipeline()
	stamps := make([]*redis.StringCmd, len(members))
	replies := make([]*redis.StringCmd, len(members))
	for i, m := range members {
		stamps[i] = p.HGet(ctx, s.keys.tokens(), m)
		replies[i] = p.Get(ctx, s.keys.segmentsOf(m))
	}
	if err := s.exec(ctx, "read the catalogue", p); err != nil {
		return err
	}
	for i, m := range members {
		b, ok := parseMember(m)
		if !ok {
			continue
		}
		var segments []int
		if replies[i].Err() == nil {
			segments = segmentList([]byte(replies[i].Val()))
		}
		token, _ := strconv.ParseUint(stamps[i].Val(), 10, 64)
		c.add(b, segments, token)
	}
	return nil
}

// segmentList returns the positions of the bits set, never nil.
func segmentList(bits []byte) []int {
	segments := make([]int, 0, bitmap.CountBits(bits))
	for segment := range bitmap.Ones(bits) {
		segments = append(segments, segment)
	}
	return segments
}

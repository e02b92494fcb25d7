package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
	"bitboard/internal/store/pattern"
)

// Existing says where the bitmaps of a metric lie that another program keeps.
type Existing struct {
	Key pattern.Pattern
	// SegmentBits is how many offsets share a key, a multiple of 8; 0 is all.
	SegmentBits int64
}

// extents is how many bytes the keys of bitmaps of other programs have, by the
// number in the key, which is 0 for a bitmap in one key. They are never changed,
// but replaced.
type extents map[cohort.Bitmap]map[int]int64

// others is what is known of the bitmaps that other programs keep.
type others struct {
	looking sync.Mutex
	found   atomic.Pointer[extents]
	merged  atomic.Pointer[mergedCatalogue]
}

// mergedCatalogue is a catalogue of ours with what other programs keep.
type mergedCatalogue struct {
	own      *cohort.Catalogue
	found    *extents
	combined *cohort.Catalogue
}

// nearKeys is how many keys are looked at beyond those that are known of a
// bitmap, or of a metric after its last day: what grows is met at once, not with
// the next scan.
const nearKeys = 2

// mostKeys is how many keys of a day are looked at one by one.
const mostKeys = 1 << 12

// existingOf returns where a bitmap lies that another program keeps.
func (s *Store) existingOf(b cohort.Bitmap) (Existing, bool) {
	switch b.Kind {
	case cohort.KnownBitmap:
		return Existing{Key: s.config.Known}, !s.config.Known.IsZero()
	case cohort.HistoryBitmap, cohort.ListBitmap:
		return Existing{}, false
	}
	e, ok := s.config.Existing[b.Metric]
	return e, ok && !e.Key.HasUser()
}

// withOthers returns the catalogue with the bitmaps that other programs keep.
func (s *Store) withOthers(ctx context.Context, own *cohort.Catalogue) (*cohort.Catalogue, error) {
	if len(s.config.Existing) == 0 && s.config.Known.IsZero() {
		return own, nil
	}
	found := s.others.found.Load()
	if found == nil {
		if err := s.scanOthers(ctx); err != nil {
			return nil, err
		}
		found = s.others.found.Load()
	}
	found, err := s.probe(ctx, found)
	if err != nil {
		return nil, err
	}
	if seen := s.others.merged.Load(); seen != nil && seen.own == own && seen.found == found {
		return seen.combined, nil
	}
	segments := make(map[cohort.Bitmap][]int, len(*found))
	for b, numbers := range *found {
		segments[b] = s.segmentsWithin(b, numbers)
		if b == knownUsers {
			both := append(slices.Clone(segments[b]), own.SegmentsOf(b)...)
			slices.Sort(both)
			segments[b] = slices.Compact(both)
		}
	}
	combined := own.Joined(segments)
	s.others.merged.Store(&mergedCatalogue{own, found, combined})
	return combined, nil
}

// segmentsWithin returns the segments of ours in which a bitmap has bytes.
func (s *Store) segmentsWithin(b cohort.Bitmap, numbers map[int]int64) []int {
	e, _ := s.existingOf(b)
	highest, _ := s.locate(s.config.MaxOffset)
	size := int64(s.config.SegmentBits)
	segments := []int{}
	for number, length := range numbers {
		first, bits := int64(number)*e.SegmentBits, 8*length
		if e.SegmentBits > 0 {
			bits = min(bits, e.SegmentBits)
		}
		for segment := first / size; bits > 0 && segment <= min((first+bits-1)/size, int64(highest)); segment++ {
			segments = append(segments, int(segment))
		}
	}
	slices.Sort(segments)
	return slices.Compact(segments)
}

// scanOthers finds the keys of other programs that the configuration describes.
func (s *Store) scanOthers(ctx context.Context) error {
	s.others.looking.Lock()
	defer s.others.looking.Unlock()
	found := extents{}
	for metric, e := range s.config.Existing {
		if e.Key.HasUser() {
			continue
		}
		names := []string{e.Key.Key(0, 0)}
		if e.Key.HasDate() || e.Key.HasSegment() {
			var err error
			if names, err = s.namesLike(ctx, e.Key.Glob()); err != nil {
				return err
			}
		}
		if err := s.measureOthers(ctx, metric, e, names, found); err != nil {
			return err
		}
	}
	if !s.config.Known.IsZero() {
		if err := s.measureKeys(ctx, []cohort.Bitmap{knownUsers}, []int{0}, found); err != nil {
			return err
		}
	}
	s.others.found.Store(&found)
	return nil
}

// namesLike returns the names of all keys of every server that match a pattern of
// SCAN. One that is no string is among them: it is said when it is to be read.
func (s *Store) namesLike(ctx context.Context, glob string) (names []string, err error) {
	var mu sync.Mutex
	err = s.eachMaster(ctx, "scan the keys", func(ctx context.Context, node redis.Cmdable) error {
		it := node.Scan(ctx, 0, glob, scanCount).Iterator()
		for it.Next(ctx) {
			mu.Lock()
			names = append(names, it.Val())
			mu.Unlock()
		}
		return it.Err()
	})
	return names, err
}

// measureOthers measures those of some keys that are of a metric.
func (s *Store) measureOthers(ctx context.Context, metric string, e Existing, names []string, found extents) error {
	var of []cohort.Bitmap
	var numbers []int
	for _, name := range names {
		// Nobody may have an offset above the highest: what lies there is no user's.
		if d, number, ok := e.Key.Match(name); ok && int64(number)*e.SegmentBits <= int64(s.config.MaxOffset) {
			of, numbers = append(of, otherBitmap(metric, e, d)), append(numbers, number)
		}
	}
	return s.measureKeys(ctx, of, numbers, found)
}

// otherBitmap is the bitmap of a metric that another program keeps.
func otherBitmap(metric string, e Existing, d cohort.Day) cohort.Bitmap {
	if e.Key.HasDate() {
		return cohort.DayOfMetric(metric, d)
	}
	return cohort.Flag(metric)
}

// measureKeys adds the lengths of keys, each of a bitmap and a number.
func (s *Store) measureKeys(ctx context.Context, of []cohort.Bitmap, numbers []int, found extents) error {
	for from := 0; from < len(of); from += pipelineLimit {
		to := min(from+pipelineLimit, len(of))
		p := s.client.Pipeline()
		lengths := make([]*redis.IntCmd, to-from)
		for i := range lengths {
			e, _ := s.existingOf(of[from+i])
			lengths[i] = p.StrLen(ctx, e.Key.Key(of[from+i].Day, numbers[from+i]))
		}
		if err := s.exec(ctx, "measure bitmaps of other programs", p); err != nil && !isForeign(err) {
			return err
		}
		for i, n := range lengths {
			length := n.Val()
			if err := n.Err(); isForeign(err) {
				length = 1 // whoever reads it is told; other questions are answered
			} else if err != nil {
				return s.failed(ctx, "measure bitmaps of other programs", err)
			}
			if length > 0 {
				if found[of[from+i]] == nil {
					found[of[from+i]] = map[int]int64{}
				}
				found[of[from+i]][numbers[from+i]] = length
			}
		}
	}
	return nil
}

// probe measures the keys that are likely to have changed since they were found,
// and those that may have come. It returns what was found when none has.
func (s *Store) probe(ctx context.Context, found *extents) (*extents, error) {
	of, numbers := s.likely(*found)
	now := extents{}
	if err := s.measureKeys(ctx, of, numbers, now); err != nil {
		return nil, err
	}
	next := maps.Clone(*found)
	changed := false
	for _, b := range of {
		if !maps.Equal(now[b], next[b]) {
			changed = true
			next[b] = now[b]
			if now[b] == nil {
				delete(next, b)
			}
		}
	}
	if !changed {
		return found, nil
	}
	// Whoever looks next compares with the newest; to lose against another look
	// does no harm.
	s.others.found.CompareAndSwap(found, &next)
	return &next, nil
}

// likely returns the keys, each as a bitmap and a number, of the last day of
// each metric and of those after it, of flags and of all users.
func (s *Store) likely(found extents) (of []cohort.Bitmap, numbers []int) {
	look := func(b, like cohort.Bitmap, cut bool) {
		at := []int{0}
		if cut {
			at = likelyNumbers(found[like])
		}
		for _, number := range at {
			of, numbers = append(of, b), append(numbers, number)
		}
	}
	last := lastDays(found)
	for metric, e := range s.config.Existing {
		d, dated := last[metric]
		switch {
		case dated:
			for i := range cohort.Day(nearKeys + 1) {
				look(cohort.DayOfMetric(metric, d+i), cohort.DayOfMetric(metric, d), e.Key.HasSegment())
			}
		case !e.Key.HasDate():
			look(cohort.Flag(metric), cohort.Flag(metric), e.Key.HasSegment())
		}
	}
	if !s.config.Known.IsZero() {
		look(knownUsers, knownUsers, false)
	}
	return of, numbers
}

// likelyNumbers returns the numbers of keys that there may be where some were found:
// all up to the highest and some more, or, where those are very many, the known ones
// and some more.
func likelyNumbers(known map[int]int64) []int {
	highest := 0
	for number := range known {
		highest = max(highest, number)
	}
	var likely []int
	for number := range highest + nearKeys + 1 {
		if _, ok := known[number]; ok || highest <= mostKeys || number > highest {
			likely = append(likely, number)
		}
	}
	return likely
}

// lastDays returns the last day that was found of each metric.
func lastDays(found extents) map[string]cohort.Day {
	last := map[string]cohort.Day{}
	for b := range found {
		if d, ok := last[b.Metric]; b.Kind == cohort.DayBitmap && (!ok || b.Day > d) {
			last[b.Metric] = b.Day
		}
	}
	return last
}

// stretch is some bytes of a key, and where they belong in what is asked for.
type stretch struct {
	key      string
	from, to int64 // to is exclusive
	at       int64
}

// stretches returns where the bytes from..to-1 of a bitmap in a segment lie.
func (s *Store) stretches(b cohort.Bitmap, segment int, from, to int64) []stretch {
	var all []stretch
	e, other := s.existingOf(b)
	if !other || b == knownUsers {
		all = append(all, stretch{s.keys.bitmap(b, segment), from, to, 0})
	}
	if !other {
		return all
	}
	first := int64(segment) * int64(s.config.SegmentBits/8)
	if e.SegmentBits == 0 {
		return append(all, stretch{e.Key.Key(b.Day, 0), first + from, first + to, 0})
	}
	size := e.SegmentBits / 8
	for start := first + from; start < first+to; {
		number := start / size
		end := min(first+to, (number+1)*size)
		all = append(all, stretch{e.Key.Key(b.Day, int(number)), start - number*size, end - number*size, start - first - from})
		start = end
	}
	return all
}

// hasOthers reports whether another program keeps any of some bitmaps.
func (s *Store) hasOthers(bitmaps []cohort.Bitmap) bool {
	return slices.ContainsFunc(bitmaps, func(b cohort.Bitmap) bool {
		_, other := s.existingOf(b)
		return other
	})
}

// fetchOthers is Fetch for bitmaps of which other programs keep some.
func (s *Store) fetchOthers(ctx context.Context, segment int, inputs []cohort.Bitmap, from, to int) ([][]byte, error) {
	fetched := make([][]byte, len(inputs))
	p := s.client.Pipeline()
	var set []func()
	for i, b := range inputs {
		for _, piece := range s.stretches(b, segment, int64(from), int64(to)) {
			reply := p.GetRange(ctx, piece.key, piece.from, piece.to-1)
			set = append(set, func() { fetched[i] = combine(fetched[i], bytesOf(reply), int(piece.at)) })
		}
		if len(set) < pipelineLimit && i < len(inputs)-1 {
			continue
		}
		if err := s.exec(ctx, "read bitmaps", p); err != nil {
			return nil, err
		}
		for _, f := range set {
			f()
		}
		p, set = s.client.Pipeline(), nil
	}
	asked := s.askPresence(ctx, p, segment, inputs)
	if len(asked) == 0 {
		return fetched, nil
	}
	if err := s.exec(ctx, "look for bitmaps", p); err != nil {
		return nil, err
	}
	return fetched, s.checkPresence(ctx, asked)
}

// combine adds bits to those of a bitmap from a byte on.
func combine(b, more []byte, at int) []byte {
	if len(b) == 0 && at == 0 {
		return more
	}
	if missing := at + len(more) - len(b); missing > 0 && len(more) > 0 {
		b = append(b, make([]byte, missing)...)
	}
	for i, bits := range more {
		b[at+i] |= bits
	}
	return b
}

// bitOf returns the key and the bit of a user in a bitmap.
func (s *Store) bitOf(b cohort.Bitmap, offset uint32) (key string, bit int64) {
	e, other := s.existingOf(b)
	switch {
	case !other || b == knownUsers:
		segment, bit := s.locate(offset)
		return s.keys.bitmap(b, segment), bit
	case e.SegmentBits == 0:
		return e.Key.Key(b.Day, 0), int64(offset)
	}
	return e.Key.Key(b.Day, int(int64(offset)/e.SegmentBits)), int64(offset) % e.SegmentBits
}

// adoptOthers gives bitmaps that other programs have changed new version tokens.
func (s *Store) adoptOthers(ctx context.Context, places []place) error {
	if len(places) == 0 {
		return nil
	}
	var args []any
	for _, p := range places {
		args = append(args, member(p.bitmap), newToken())
	}
	k := s.keys
	_, err := s.invoke(ctx, "note what other programs changed",
		invocation{adoptOthersScript, []string{k.tokens(), k.catalogueVersion(), k.catalogue()}, args})
	return err
}

// adoptOthersScript gives the catalogue members ARGV[1], ARGV[3], … the tokens
// ARGV[2], ARGV[4], …, under a new version of the catalogue. KEYS: tokens,
// version, catalogue.
var adoptOthersScript = redis.NewScript(`
local version = redis.call('INCR', KEYS[2])
for i = 1, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  redis.call('ZADD', KEYS[3], version, ARGV[i])
end
return version
`)

// UserMonths returns the bits of a user's days in each of some months, which are
// given by any of their days: the first day is the first bit.
func (s *Store) UserMonths(ctx context.Context, metric, id string, months []cohort.Day) ([][]byte, error) {
	const most = 4 // bytes in which a month's days lie
	bits := make([][]byte, 0, len(months))
	for part := range slices.Chunk(months, pipelineLimit) {
		p := s.client.Pipeline()
		replies := make([]*redis.StringCmd, len(part))
		for i, m := range part {
			replies[i] = p.GetRange(ctx, s.config.Existing[metric].Key.UserKey(id, m), 0, most-1)
		}
		if err := s.exec(ctx, "read a user's months", p); err != nil {
			return nil, err
		}
		for _, r := range replies {
			bits = append(bits, bytesOf(r))
		}
	}
	return bits, nil
}

// isOther reports whether the configuration describes a key of another program.
func (s *Store) isOther(name string) bool {
	if !s.config.Known.IsZero() && name == s.config.Known.Key(0, 0) {
		return true
	}
	for _, e := range s.config.Existing {
		if _, _, ok := e.Key.Match(name); ok {
			return true
		}
	}
	return false
}

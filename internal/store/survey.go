package store

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/cohort"
)

// surveyCount is how many keys a step of a survey looks at: a SCAN and its
// pipelines take well under 1 ms of the server's time.
const surveyCount = 100

// Family is what a key is for.
type Family uint8

// The families of keys.
const (
	// OtherFamily is a key that this version does not judge.
	OtherFamily Family = iota
	// BitmapFamily is a stored bitmap in a segment.
	BitmapFamily
	// DictionaryFamily is a part of the dictionary of IDs.
	DictionaryFamily
	// RecordFamily is the layout record, the catalogue and the like, which stay.
	RecordFamily
	// TempFamily is an intermediate result.
	TempFamily
	// HistoryFamily is a history in a segment, temporary while it is made.
	HistoryFamily
)

// Key is one key under the prefix, as it is stored.
type Key struct {
	Name   string
	Family Family
	// Bitmap and Segment say what a key of BitmapFamily or HistoryFamily holds.
	Bitmap  cohort.Bitmap
	Segment int
	// Job and Begun say which job a key of TempFamily is of, and when that
	// began; Begun is zero when the name does not say it.
	Job   string
	Begun time.Time
	// Type is what Redis calls it, and WantType what it should be.
	Type, WantType string
	// Length is that of a stored bitmap, in bytes; 0 for another type.
	Length int64
	// Memory is what the key takes, in bytes, estimated by the server.
	Memory int64
	// Expires is when it goes away, and WantExpires when it should; zero is never.
	Expires, WantExpires time.Time
}

// Survey hands every key under the prefix to see, one at a time and in no
// order, and a key perhaps twice. It walks over all keys of every server in
// small steps, one after the other on each.
func (s *Store) Survey(ctx context.Context, see func(Key)) error {
	var mu sync.Mutex
	return s.eachMaster(ctx, "scan the keys", func(ctx context.Context, node redis.Cmdable) error {
		for cursor := uint64(0); ; {
			names, next, err := node.Scan(ctx, cursor, s.keys.all(), surveyCount).Result()
			if err != nil {
				return err
			}
			found, err := s.lookAt(ctx, node, names)
			if err != nil {
				return err
			}
			mu.Lock()
			for _, k := range found {
				see(k)
			}
			mu.Unlock()
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
}

// lookAt describes keys of one server; those that are gone by now are left out.
func (s *Store) lookAt(ctx context.Context, node redis.Cmdable, names []string) ([]Key, error) {
	p := node.Pipeline()
	types, expiries, memory := make([]*redis.StatusCmd, len(names)), make([]*redis.DurationCmd, len(names)), make([]*redis.IntCmd, len(names))
	for i, name := range names {
		types[i], expiries[i], memory[i] = p.Type(ctx, name), p.ExpireTime(ctx, name), p.MemoryUsage(ctx, name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	if err := s.exec(ctx, "look at keys", p); err != nil {
		return nil, err
	}
	var found []Key
	for i, name := range names {
		if types[i].Val() == absentType {
			continue
		}
		k := s.describe(name)
		k.Type, k.Memory = types[i].Val(), memory[i].Val()
		if at := expiries[i].Val(); at > 0 {
			k.Expires = time.Unix(int64(at/time.Second), 0)
		}
		found = append(found, k)
	}
	return found, s.measure(ctx, node, found)
}

// measure fills in the lengths of stored bitmaps.
func (s *Store) measure(ctx context.Context, node redis.Cmdable, found []Key) error {
	p := node.Pipeline()
	lengths := map[int]*redis.IntCmd{}
	for i, k := range found {
		if k.Family == BitmapFamily && k.Type == stringType {
			lengths[i] = p.StrLen(ctx, k.Name)
		}
	}
	if len(lengths) == 0 {
		return nil
	}
	if err := s.exec(ctx, "measure bitmaps", p); err != nil {
		return err
	}
	for i, length := range lengths {
		found[i].Length = length.Val()
	}
	return nil
}

// describe says what a key is by its name.
func (s *Store) describe(name string) Key {
	k := Key{Name: name, WantType: s.keys.typeOf(name)}
	if b, segment, ok := s.keys.parse(name); ok {
		k.Family, k.Bitmap, k.Segment = BitmapFamily, b, segment
		if b.Kind == cohort.HistoryBitmap {
			k.Family = HistoryFamily
		}
		if at, ok := s.expiry(b); ok {
			k.WantExpires = at
		}
		return k
	}
	rest := strings.TrimPrefix(name, s.config.Prefix+":")
	tag, of, _ := strings.Cut(rest, ":")
	switch {
	case strings.HasPrefix(tag, "{s") && strings.HasPrefix(of, tempWord):
		k.Family = TempFamily
		k.Job, _, _ = strings.Cut(strings.TrimPrefix(of, tempWord), ":")
		k.Begun = begun(k.Job)
	case strings.HasPrefix(tag, "{i") && (of == "f" || of == "r"):
		k.Family = DictionaryFamily
	case s.keys.isRecord(name):
		k.Family = RecordFamily
	}
	return k
}

// newJob returns a name that nobody else has and that says when the job began,
// by the server's clock.
func (s *Store) newJob(ctx context.Context) (string, error) {
	now, err := s.serverTime(ctx)
	return strconv.FormatInt(now, 36) + "-" + random(), err
}

// begun reads the time in what newJob returned; it is zero for another name.
func begun(job string) time.Time {
	stamp, _, found := strings.Cut(job, "-")
	seconds, err := strconv.ParseInt(stamp, 36, 64)
	if !found || err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

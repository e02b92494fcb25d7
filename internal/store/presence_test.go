package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// presentMinute is the minute of the tests' heartbeats, the last of a day.
var presentMinute = time.Date(2099, time.March, 1, 23, 59, 30, 0, time.UTC)

func dense(c *store.Config) { c.Dense = true }

// present returns how many users are there.
func present(t *testing.T, s *store.Store) (total int64) {
	t.Helper()
	counts, err := s.Present(t.Context(), "online")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range counts {
		total += n
	}
	return total
}

// knownBits makes users known, as whoever is written is before.
func knownBits(t *testing.T, s *store.Store, users *roaring.Bitmap) {
	t.Helper()
	mustMerge(t, s, marks{dayOf("online", 1): users})
}

// Writers come and go at random, and some are cut off: each segment's counter is
// the number of its bits.
func presenceCounterIsTheNumberOfBits(t *testing.T, k storetest.Kind) {
	const users, writers, rounds = 3 * 4096, 4, 40
	c := k.Config(t)
	dense(&c)
	everyone := roaring.New()
	everyone.AddRange(0, users)
	knownBits(t, open(t, c), everyone)
	var writing sync.WaitGroup
	for w := range uint64(writers) {
		s := open(t, c)
		writing.Go(func() {
			random := rand.New(rand.NewPCG(1, w))
			for range rounds {
				some := roaring.New()
				for range random.IntN(50) {
					some.Add(random.Uint32N(users))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(20))*time.Millisecond)
				if _, err := s.SetPresent(ctx, "online", some, random.IntN(3) > 0); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	writing.Wait()
	client, sum := raw(t, c.URL), int64(0)
	for _, key := range keysOf(t, client, c.Prefix, "}:live:online") {
		if strings.HasSuffix(key, ":count") {
			continue
		}
		bits := client.BitCount(t.Context(), key, nil).Val()
		counter, err := client.Get(t.Context(), key+":count").Int64()
		if err != nil || counter != bits {
			t.Errorf("%s has %d bits, and its counter is %d, %v", key, bits, counter, err)
		}
		sum += bits
	}
	if got := present(t, open(t, c)); got != sum || sum == 0 {
		t.Errorf("%d users are there, and %d bits", got, sum)
	}
}

func presenceStaysUntilTakenBack(t *testing.T, k storetest.Kind) {
	s := k.Open(t, dense)
	here := bits(1, 2, 5000)
	knownBits(t, s, here)
	for _, step := range []struct {
		users   *roaring.Bitmap
		there   bool
		changed int64
		present int64
	}{
		{here, true, 3, 3}, {here, true, 0, 3}, {bits(2), false, 1, 2}, {bits(2, 3), false, 0, 2}, {bits(2, 5000), true, 1, 3}, {here, false, 3, 0},
	} {
		changed, err := s.SetPresent(t.Context(), "online", step.users, step.there)
		if err != nil || changed != step.changed {
			t.Errorf("%v %v changes %d, %v; want %d", step.users, step.there, changed, err, step.changed)
		}
		if got := present(t, s); got != step.present {
			t.Errorf("after %v %v %d are there, want %d", step.users, step.there, got, step.present)
		}
	}
}

// Heartbeats count in their minute and those after it that look back to it, over
// midnight too, once each, and go away by themselves.
func heartbeatsOfSomeMinutes(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	dense(&c)
	s := open(t, c)
	knownBits(t, s, bits(1, 2, 3, 5000))
	for _, beat := range []struct {
		users   *roaring.Bitmap
		after   time.Duration
		changed int64
	}{
		{bits(1, 5000), 0, 2}, {bits(1, 2), 10 * time.Second, 1}, {bits(1), time.Minute, 1}, {bits(3), 3 * time.Minute, 1},
	} {
		changed, err := s.Beat(t.Context(), "online", beat.users, presentMinute.Add(beat.after))
		if err != nil || changed != beat.changed {
			t.Errorf("a heartbeat of %v after %v changes %d, %v; want %d", beat.users, beat.after, changed, err, beat.changed)
		}
	}
	for _, look := range []struct {
		after   time.Duration
		minutes int
		want    map[int]int64
	}{
		{0, 1, map[int]int64{0: 2, 1: 1}}, {time.Minute, 1, map[int]int64{0: 1}}, {time.Minute, 2, map[int]int64{0: 2, 1: 1}},
		{3 * time.Minute, 4, map[int]int64{0: 3, 1: 1}}, {3 * time.Minute, 3, map[int]int64{0: 2}}, {20 * time.Minute, 15, map[int]int64{}},
	} {
		got, err := s.Recent(t.Context(), "online", presentMinute.Add(look.after), look.minutes)
		if diff := cmp.Diff(look.want, got); err != nil || diff != "" {
			t.Errorf("%d minutes up to %v: %v %s", look.minutes, look.after, err, diff)
		}
	}
	first := presentMinute.Truncate(time.Minute).Unix()
	beats, err := s.Beats(t.Context(), "online", presentMinute, presentMinute.Add(time.Hour))
	if diff := cmp.Diff(map[int64]int64{first: 3, first + 60: 1, first + 180: 1}, beats); err != nil || diff != "" {
		t.Errorf("by minute: %v %s", err, diff)
	}
	client := raw(t, c.URL)
	for _, key := range append(keysOf(t, client, c.Prefix, "}:beat:"), keysOf(t, client, c.Prefix, "}:beats:")...) {
		if client.ExpireTime(t.Context(), key).Val() <= 0 {
			t.Errorf("%s stays for ever", key)
		}
	}
	if temps := keysOf(t, client, c.Prefix, "}:tmp:"); len(temps) > 0 {
		t.Errorf("left over: %v", temps)
	}
}

func forgottenUserIsNotThere(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	users := roaring.BitmapOf(mustAssign(t, s, victim, "other")...)
	knownBits(t, s, users)
	if _, err := s.SetPresent(t.Context(), "online", users, true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Beat(t.Context(), "online", users, presentMinute); err != nil {
		t.Fatal(err)
	}
	mustForget(t, s, victim)
	mustHaveNoBit(t, c, users.Minimum())
	if got := present(t, s); got != 1 {
		t.Errorf("%d users are there, want the other one", got)
	}
	// A writer that still has the offset leaves nothing.
	if _, err := s.SetPresent(t.Context(), "online", users, true); err != nil {
		t.Fatal(err)
	}
	mustHaveNoBit(t, c, users.Minimum())
	recent, err := s.Recent(t.Context(), "online", presentMinute, 1)
	if diff := cmp.Diff(map[int]int64{0: 1}, recent); err != nil || diff != "" {
		t.Errorf("heartbeats: %v %s", err, diff)
	}
}

// A number that another program spoilt is counted anew, and one that cannot be
// kept is not forgotten: nothing is written without it.
func presenceNumbersThatAreSpoilt(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	dense(&c)
	s, client := open(t, c), raw(t, c.URL)
	knownBits(t, s, roaring.BitmapOf(1, 2, 3))
	write := func(user uint32) error {
		_, err := s.SetPresent(t.Context(), "online", roaring.BitmapOf(user), true)
		_, beatErr := s.Beat(t.Context(), "online", roaring.BitmapOf(user), presentMinute)
		return errors.Join(err, beatErr)
	}
	beats := func() map[int64]int64 {
		counts, err := s.Beats(t.Context(), "online", presentMinute, presentMinute)
		if err != nil {
			t.Fatal(err)
		}
		return counts
	}
	minute := presentMinute.Truncate(time.Minute)
	if err := write(1); err != nil {
		t.Fatal(err)
	}
	count := keysOf(t, client, c.Prefix, "}:live:online:count")[0]
	hash := keysOf(t, client, c.Prefix, "}:beats:online:")[0]
	client.Set(t.Context(), count, "many", 0)
	client.HSet(t.Context(), hash, minute.Format("1504"), "1.5")
	if err := write(2); err != nil {
		t.Fatal(err)
	}
	if n := present(t, s); n != 2 || beats()[minute.Unix()] != 2 {
		t.Errorf("%d are there, and %v beat, want 2", n, beats())
	}
	client.Rename(t.Context(), hash, hash+":away")
	client.RPush(t.Context(), hash, "x")
	if err := write(3); err == nil || !strings.Contains(err.Error(), hash) {
		t.Errorf("a list in place of the numbers: %v", err)
	}
	client.Rename(t.Context(), hash+":away", hash)
	if err := write(3); err != nil || beats()[minute.Unix()] != 3 {
		t.Errorf("once the list is gone %v beat, want 3, %v", beats(), err)
	}
}

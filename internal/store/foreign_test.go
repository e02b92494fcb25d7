package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func damagedKeyIsNamed(t *testing.T, k storetest.Kind) {
	for _, test := range []struct {
		key string
		ask func(s *store.Store) error
	}{
		{":{meta}:next_offset", func(s *store.Store) error { _, err := s.Assign(t.Context(), []string{"b"}); return err }},
		{":{meta}:next_offset", func(s *store.Store) error { _, err := s.NextOffset(t.Context()); return err }},
		{":{meta}:catalogue:version", func(s *store.Store) error { _, err := s.Catalogue(t.Context()); return err }},
		{":{meta}:cohorts", func(s *store.Store) error { _, err := s.SavedCohorts(t.Context()); return err }},
		{":{i0}:r", func(s *store.Store) error { _, err := s.IDs(t.Context(), []uint32{0}); return err }},
	} {
		c := k.Config(t)
		s := open(t, c)
		mustAssign(t, s, "a")
		mustMerge(t, s, marks{active(2): bits(0)})
		client := raw(t, c.URL)
		var err error
		if strings.HasSuffix(test.key, ":cohorts") {
			err = client.HSet(t.Context(), c.Prefix+test.key, "aa", "zz").Err()
		} else {
			err = client.Set(t.Context(), c.Prefix+test.key, "zz", 0).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		err = test.ask(s)
		if f := fault.As(err); f == nil || f.Code != "damaged_key" || !strings.Contains(f.Message, "the key "+c.Prefix+test.key+" in the store holds no ") {
			t.Errorf("%s: got %v", test.key, err)
		}
	}
}

func keyOfAnotherTypeIsNamed(t *testing.T, k storetest.Kind) {
	day, meta := ":{s0}:day:active:20260301", ":{meta}:"
	count := bitmap.Program{Inputs: 2, Steps: []bitmap.Step{{Op: bitmap.Or, Dst: 2, Src: []int{0, 1}}, {Op: bitmap.Count, Src: []int{2}}}}
	tests := []struct {
		name, key string
		ask       func(s *store.Store, c store.Config) error
	}{
		{"a day, computed", day, func(s *store.Store, _ store.Config) error {
			_, err := s.Run(t.Context(), 0, []cohort.Bitmap{active(2), active(1)}, count)
			return err
		}},
		{"a day, read", day, func(s *store.Store, _ store.Config) error {
			_, err := s.Fetch(t.Context(), 0, []cohort.Bitmap{active(1)}, 0, 8, nil)
			return err
		}},
		{"a day, one user's", day, func(s *store.Store, _ store.Config) error {
			_, err := s.Marks(t.Context(), 1, []cohort.Bitmap{active(1), active(2)})
			return err
		}},
		{"a day, written", day, func(s *store.Store, _ store.Config) error {
			_, err := s.Merge(t.Context(), marks{active(1): bits(1), active(2): bits(2)})
			return err
		}},
		{"a day, replaced", day, func(s *store.Store, _ store.Config) error {
			y, err := s.BeginSync(t.Context())
			if err != nil {
				return err
			}
			err = y.Stage(t.Context(), marks{active(1): bits(1)})
			if err == nil {
				_, err = y.Commit(t.Context(), true)
			}
			return errors.Join(err, y.Drop(t.Context()))
		}},
		{"the layout record", meta + "layout", func(_ *store.Store, c store.Config) error {
			_, err := store.Open(t.Context(), c)
			return err
		}},
		{"the catalogue", meta + "catalogue", func(_ *store.Store, c store.Config) error {
			_, err := open(t, c).Catalogue(t.Context())
			return err
		}},
		{"the catalogue's segments", meta + "segments:day:active:20260302", func(s *store.Store, _ store.Config) error {
			_, err := s.Merge(t.Context(), marks{active(2): bits(2)})
			return err
		}},
		{"the epoch", meta + "epoch", func(s *store.Store, _ store.Config) error {
			_, err := s.Assign(t.Context(), []string{"a"})
			return err
		}},
		{"the next offset", meta + "next_offset", func(s *store.Store, _ store.Config) error {
			_, err := s.Assign(t.Context(), []string{"a"})
			return err
		}},
		{"the saved cohorts", meta + "cohorts", func(s *store.Store, _ store.Config) error {
			_, err := s.SavedCohorts(t.Context())
			return err
		}},
		{"the open syncs", meta + "syncs", func(_ *store.Store, c store.Config) error {
			_, err := store.Open(t.Context(), c)
			return err
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := k.Config(t)
			s := open(t, c)
			mustMerge(t, s, marks{active(2): bits(2)})
			client := raw(t, c.URL)
			client.Del(t.Context(), c.Prefix+test.key)
			if err := client.XAdd(t.Context(), &redis.XAddArgs{Stream: c.Prefix + test.key, Values: []string{"another", "program"}}).Err(); err != nil {
				t.Fatal(err)
			}
			err := test.ask(s, c)
			f := fault.As(err)
			if f == nil || f.Code != "foreign_key" || !errors.Is(err, fault.ErrConflict) {
				t.Fatalf("got %v, want foreign_key", err)
			}
			if !strings.Contains(f.Message, "the key "+c.Prefix+test.key+" in the store is a stream where a ") || !strings.Contains(f.Message, "rename or delete it") {
				t.Errorf("the message is %q", f.Message)
			}
		})
	}
}

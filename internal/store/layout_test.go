package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func layoutRecord(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	open(t, c)
	got, err := raw(t, c.URL).HGetAll(t.Context(), c.Prefix+":{meta}:layout").Result()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"schema": "1", "ids": "dictionary", "segment_bits": "4096", "timezone": "UTC"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func theSameLayoutOpensAgain(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	open(t, c)
	open(t, c)
}

func anotherLayoutIsRefused(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	open(t, c)
	c.Dense, c.SegmentBits, c.Zone = true, 64, "Europe/Oslo"
	_, err := store.Open(t.Context(), c)
	f := fault.As(err)
	if f == nil || !errors.Is(err, fault.ErrConflict) || f.Code != "layout_mismatch" {
		t.Fatalf("got %v, want layout_mismatch", err)
	}
	for _, part := range []string{
		`ids "dictionary" is stored but "dense" is configured`,
		`segment_bits "4096" is stored but "64" is configured`,
		`timezone "UTC" is stored but "Europe/Oslo" is configured`,
	} {
		if !strings.Contains(f.Message, part) {
			t.Errorf("the message does not say %s: %s", part, f.Message)
		}
	}
	if strings.Contains(f.Message, "schema") {
		t.Errorf("the message names a field that is the same: %s", f.Message)
	}
}

func ofTwoFirstStartersOneWins(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			mine := c
			mine.SegmentBits = 64 << (i % 2)
			s, err := store.Open(t.Context(), mine)
			if errs[i] = err; err == nil {
				s.Close()
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if (err == nil) != (errs[i%2] == nil) {
			t.Errorf("starters with one layout were treated differently: %v and %v", err, errs[i%2])
		}
	}
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("starters with two layouts were treated alike: %v, %v", errs[0], errs[1])
	}
}

func TestBadPrefixIsRefused(t *testing.T) {
	c := storetest.Config(t)
	for _, prefix := range []string{"", "a{b}", "a*", "a b", strings.Repeat("x", 65)} {
		c.Prefix = prefix
		if _, err := store.Open(t.Context(), c); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("prefix %q: got %v, want an ErrInvalid", prefix, err)
		}
	}
}

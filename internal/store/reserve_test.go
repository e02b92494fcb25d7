package store_test

import (
	"errors"
	"fmt"
	"testing"

	"bitboard/internal/fault"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// storeEmptiedWhileIDsGetOffsets lets the data change after offsets were
// reserved: they are handed out a second time, which must not give two users
// the same one.
func storeEmptiedWhileIDsGetOffsets(t *testing.T, k storetest.Kind) {
	ids := manyIDs(600)
	for _, change := range []struct {
		name   string
		happen func(t *testing.T, c store.Config)
	}{
		{"emptied", func(t *testing.T, c store.Config) {
			t.Helper()
			drop(t, raw(t, c.URL), keysOf(t, raw(t, c.URL), c.Prefix, "")...)
		}},
		{"the counter is an older one", func(t *testing.T, c store.Config) {
			t.Helper()
			drop(t, raw(t, c.URL), c.Prefix+":{meta}:next_offset")
		}},
	} {
		t.Run(change.name, func(t *testing.T) {
			c := k.Config(t)
			early, late := open(t, c), open(t, c)
			err := early.AdmitAfter(t.Context(), ids[:300], func() { change.happen(t, c) })
			if !errors.Is(err, fault.ErrUnavailable) {
				t.Errorf("the first writer got %v", err)
			}
			mustAssign(t, late, ids[300:]...)
			mustAssign(t, early, ids...)
			mustBeOneToOne(t, c)
		})
	}
}

func offsetWithAMarkIsHandedOutToNobody(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustMerge(t, s, marks{active(1): bits(7)}) // e.g. by a writer that had the offset from data since lost
	for _, offset := range mustAssign(t, s, manyIDs(20)...) {
		if offset <= 7 {
			t.Errorf("offset %d was handed out, which may have marks of another user", offset)
		}
	}
}

func lostCounterBeginsAboveAllUsers(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	offsets := mustAssign(t, s, manyIDs(50)...)
	mustMerge(t, s, marks{active(1): bits(offsets...)})
	for _, known := range []bool{true, false} {
		drop(t, raw(t, c.URL), c.Prefix+":{meta}:next_offset")
		if known { // users who are known are marked first
			mustMerge(t, s, marks{active(2): bits(3)})
		}
		newcomer := mustAssign(t, s, fmt.Sprint("newcomer ", known))
		mustMerge(t, s, marks{active(3): bits(newcomer...)})
	}
	mustBeOneToOne(t, c)
}

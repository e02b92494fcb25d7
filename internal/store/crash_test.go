package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/store/storetest"
)

// TestWritersKilledAtEachStep lets a writer of new IDs die after each step, and
// then another write the same IDs, twice over.
func writersKilledAtEachStep(t *testing.T, k storetest.Kind) {
	ids := manyIDs(300) // more than two blocks
	for _, step := range []struct {
		name              string
		appended, claimed int // of the IDs
	}{
		{"offsets reserved", 0, 0},
		{"some reverse entries", 200, 0},
		{"all reverse entries", 300, 0},
		{"some forward entries", 300, 150},
		{"all forward entries", 300, 300},
	} {
		t.Run(step.name, func(t *testing.T) {
			c := k.Config(t)
			dying := open(t, c)
			first, err := dying.ReserveOnly(t.Context(), ids)
			if err != nil {
				t.Fatal(err)
			}
			if err := dying.AppendOnly(t.Context(), first, ids[:step.appended]); err != nil {
				t.Fatal(err)
			}
			if _, err := dying.ClaimOnly(t.Context(), first, ids[:step.claimed]); err != nil {
				t.Fatal(err)
			}
			offsets := mustAssign(t, open(t, c), ids...)
			if diff := cmp.Diff(offsets, mustAssign(t, open(t, c), ids...)); diff != "" {
				t.Errorf("the IDs have other offsets the second time: %s", diff)
			}
			for i := range step.claimed {
				if offsets[i] != first+uint32(i) {
					t.Errorf("%q has offset %d, but was given %d before", ids[i], offsets[i], first+uint32(i))
				}
			}
			mustBeOneToOne(t, c)
		})
	}
}

package ingest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

func TestImportsOnEveryKindOfStore(t *testing.T) {
	content := log(3000, func(i int) string { return fmt.Sprintf("u%d,login,2026-03-%02d\n", i*7%500, 1+i%9) })
	storetest.Each(t, func(t *testing.T, k storetest.Kind) {
		b := newBenchOn(t, k, func(_ *Config, sc *store.Config) { sc.SegmentBits = 64 })
		first, _ := b.load(t, Options{Verify: true}, content)
		if first.UsersNew != 500 || first.BitsNew == 0 {
			t.Errorf("first %+v", first)
		}
		again, _ := b.load(t, Options{Verify: true}, content)
		if diff := cmp.Diff(Summary{Rows: 3000, Accepted: 3000}, again); diff != "" {
			t.Errorf("again: %s", diff)
		}
		day := on("active", "2026-03-04")
		want := b.users(t, day)
		replaced, _ := b.load(t, Options{Mode: Replace, Verify: true, Force: true},
			"user_id,event,day\nu1,login,2026-03-02\nx,login,2026-03-02\nx,activate,2026-03-03\n")
		if replaced.UsersNew != 1 {
			t.Errorf("replaced %+v", replaced)
		}
		b.has(t, on("active", "2026-03-02"), "u1 x")
		b.has(t, cohort.Flag("activated"), "x")
		if diff := cmp.Diff(want, b.users(t, day)); diff != "" {
			t.Errorf("a day that was not replaced: %s", diff)
		}
	})
}

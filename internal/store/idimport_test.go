package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

// beginIDImport opens an import that ends with the test at the latest.
func beginIDImport(t testing.TB, s *store.Store) *store.IDImport {
	t.Helper()
	m, err := s.BeginIDImport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// abandon lets the lease go, as a process that died does after a while.
func abandon(t testing.TB, m *store.IDImport) {
	t.Helper()
	if err := m.End(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// setAside checks pairs and sets their offsets aside.
func setAside(t testing.TB, m *store.IDImport, pairs ...store.Pair) {
	t.Helper()
	if _, err := m.Check(t.Context(), pairs); err != nil {
		t.Fatal(err)
	}
	if ok, err := m.SetAside(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

// takeIn imports pairs as a whole, and returns how many were new.
func takeIn(t testing.TB, s *store.Store, pairs ...store.Pair) (int, error) {
	t.Helper()
	m := beginIDImport(t, s)
	defer abandon(t, m)
	for {
		if _, err := m.Check(t.Context(), pairs); err != nil {
			return 0, err
		}
		ok, err := m.SetAside(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			break
		}
	}
	return m.Write(t.Context(), pairs)
}

func mustTakeIn(t testing.TB, s *store.Store, pairs ...store.Pair) int {
	t.Helper()
	n, err := takeIn(t, s, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustAssign(t testing.TB, s *store.Store, ids ...string) []uint32 {
	t.Helper()
	offsets, err := s.Assign(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return offsets
}

// mustBeOneToOne fails unless every forward entry has its reverse entry, and
// no two IDs have one offset.
func mustBeOneToOne(t testing.TB, c store.Config) {
	t.Helper()
	client, s := raw(t, c.URL), open(t, c)
	holder := map[uint32]string{}
	for _, key := range keysOf(t, client, c.Prefix, "}:f") {
		for id := range client.HGetAll(t.Context(), key).Val() {
			offset := mustAssign(t, s, id)[0]
			if other, taken := holder[offset]; taken {
				t.Errorf("%q and %q have offset %d", id, other, offset)
			}
			holder[offset] = id
			if back, err := s.IDs(t.Context(), []uint32{offset}); err != nil || back[0] != id {
				t.Errorf("offset %d of %q is turned back into %q, %v", offset, id, back, err)
			}
		}
	}
}

func importedIDsHaveTheirOffsets(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	mustAssign(t, s, "old") // has offset 0
	pairs := []store.Pair{{"b", 900}, {"a", 7}, {"c", 129}, {"old", 0}, {"日本語", 128}}
	if n := mustTakeIn(t, s, pairs...); n != 4 {
		t.Errorf("%d were new, want 4", n)
	}
	if n := mustTakeIn(t, s, pairs...); n != 0 {
		t.Errorf("done again %d were new", n)
	}
	if diff := cmp.Diff([]uint32{7, 900, 129, 128, 0}, mustAssign(t, s, "a", "b", "c", "日本語", "old")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]uint32{901}, mustAssign(t, s, "later")); diff != "" {
		t.Errorf("a later ID: %s", diff)
	}
	if _, ok, err := s.Find(t.Context(), "a"); ok || err != nil {
		t.Errorf("an imported ID without a mark is a known user: %v, %v", ok, err)
	}
	// What an import passed over is free for the next one.
	if n := mustTakeIn(t, s, store.Pair{"d", 500}, store.Pair{"e", 2000}); n != 2 {
		t.Errorf("%d were new, want 2", n)
	}
	mustBeOneToOne(t, c)
}

func pairsThatClashWithTheStore(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	mustAssign(t, s, "a", "b")
	mustTakeIn(t, s, store.Pair{"m", 10})
	if _, err := s.ReserveOnly(t.Context(), []string{"pending"}); err != nil { // offset 11, of a writer that died or is slow
		t.Fatal(err)
	}
	tests := []struct {
		name string
		pair store.Pair
		says string
	}{
		{"the ID has another offset", store.Pair{"a", 40}, `the user ID "a" cannot have offset 40: the store gave it offset 0`},
		{"the offset has another ID", store.Pair{"x", 1}, `the user ID "x" cannot have offset 1: the store holds it for the user ID "b"`},
		{"an imported offset has another ID", store.Pair{"x", 10}, `the store holds it for the user ID "m"`},
		{"a reserved offset", store.Pair{"x", 11}, "the store has handed it out to another user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := takeIn(t, s, store.Pair{"good", 41}, tt.pair)
			clash, ok := errors.AsType[*store.Clash](err)
			if !ok || clash.At != 1 || !strings.Contains(clash.Why, tt.says) {
				t.Fatalf("got %v, want a clash of the second pair that says %s", err, tt.says)
			}
			if diff := cmp.Diff([]string{""}, mustIDs(t, s, 41)); diff != "" {
				t.Errorf("a pair of the refused import was written: %s", diff)
			}
		})
	}
	if diff := cmp.Diff([]uint32{12}, mustAssign(t, s, "next")); diff != "" {
		t.Errorf("refused imports used offsets up: %s", diff)
	}
}

func mustIDs(t testing.TB, s *store.Store, offsets ...uint32) []string {
	t.Helper()
	ids, err := s.IDs(t.Context(), offsets)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func offsetsHandedOutWhilePairsAreChecked(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	m := beginIDImport(t, s)
	defer abandon(t, m)
	pairs := []store.Pair{{"a", 1}, {"b", 5}}
	if _, err := m.Check(t.Context(), pairs); err != nil {
		t.Fatal(err)
	}
	mustAssign(t, s, "x", "y") // y has offset 1
	if ok, err := m.SetAside(t.Context()); ok || err != nil {
		t.Fatalf("got %v, %v; want another check", ok, err)
	}
	_, err := m.Check(t.Context(), pairs)
	if clash, ok := errors.AsType[*store.Clash](err); !ok || clash.At != 0 || !strings.Contains(clash.Why, `"y"`) {
		t.Errorf("got %v, want a clash with y", err)
	}
}

func idAssignedBetweenCheckAndWrite(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	m := beginIDImport(t, s)
	defer abandon(t, m)
	pairs := []store.Pair{{"a", 1}, {"b", 5}}
	setAside(t, m, pairs...)
	mustAssign(t, s, "b") // has offset 6
	_, err := m.Write(t.Context(), pairs)
	if clash, ok := errors.AsType[*store.Clash](err); !ok || clash.At != 1 || !strings.Contains(clash.Why, "another writer has given it offset 6") {
		t.Errorf("got %v, want a clash of b", err)
	}
	mustBeOneToOne(t, c)
}

func twoImportsNeverShareAnOffset(t *testing.T, k storetest.Kind) {
	c := k.Config(t)
	s := open(t, c)
	var imports []*store.IDImport
	for _, id := range []string{"a", "b"} {
		m := beginIDImport(t, s)
		setAside(t, m, store.Pair{id, 3})
		abandon(t, m) // the lease of the first runs out
		imports = append(imports, m)
	}
	if _, err := imports[0].Write(t.Context(), []store.Pair{{"a", 3}}); err == nil {
		t.Error("an import wrote without its lease")
	}
	if err := imports[0].PlaceOnly(t.Context(), []store.Pair{{"a", 3}}); err != nil {
		t.Fatal(err)
	}
	m := beginIDImport(t, s)
	defer abandon(t, m)
	_, err := m.Write(t.Context(), []store.Pair{{"b", 3}})
	if clash, ok := errors.AsType[*store.Clash](err); !ok || clash.At != 0 {
		t.Errorf("got %v, want a clash", err)
	}
	mustBeOneToOne(t, c)
}

func importOfIDsKilledAtEachStep(t *testing.T, k storetest.Kind) {
	pairs := []store.Pair{{"a", 2}, {"b", 200}, {"c", 131}, {"d", 4}}
	steps := []struct {
		name            string
		placed, written int // how many of the pairs
	}{
		{"before anything", 0, 0},
		{"after some reverse entries", 2, 0},
		{"after all reverse entries", 4, 0},
		{"after some forward entries", 4, 3},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			c := k.Config(t)
			s := open(t, c)
			m := beginIDImport(t, s)
			setAside(t, m, pairs...)
			if err := m.PlaceOnly(t.Context(), pairs[:step.placed]); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Write(t.Context(), pairs[:step.written]); err != nil {
				t.Fatal(err)
			}
			abandon(t, m)
			if diff := cmp.Diff([]uint32{201}, mustAssign(t, s, "other")); diff != "" {
				t.Errorf("between: %s", diff)
			}
			mustTakeIn(t, open(t, c), pairs...)
			if diff := cmp.Diff([]uint32{2, 200, 131, 4}, mustAssign(t, open(t, c), "a", "b", "c", "d")); diff != "" {
				t.Error(diff)
			}
			mustBeOneToOne(t, c)
		})
	}
}

func oneImportOfIDsAtATime(t *testing.T, k storetest.Kind) {
	s := k.Open(t)
	m := beginIDImport(t, s)
	begun := make(chan error)
	go func() {
		second, err := s.BeginIDImport(t.Context())
		if err == nil {
			err = second.End(t.Context())
		}
		begun <- err
	}()
	select {
	case err := <-begun:
		t.Fatalf("a second one did not wait: %v", err)
	default:
	}
	abandon(t, m)
	if err := <-begun; err != nil {
		t.Error(err)
	}
}

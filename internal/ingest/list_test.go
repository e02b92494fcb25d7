package ingest

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/store/storetest"
)

// idsOf reads a text of user IDs.
func idsOf(text string) (ids []string, err error) {
	err = readIDs([]byte(text), func(id string) error {
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

func TestTextsOfUserIDs(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"lines", "a\nb\nc", []string{"a", "b", "c"}},
		{"lines of Windows and of old Macs", "a\r\nb\rc\r\n", []string{"a", "b", "c"}},
		{"blanks and blank lines", "\n  a  \n \n\tb\t\n\n", []string{"a", "b"}},
		{"quotes", "\"a\"\n \"b\" \n\"\"\n\" c \"\n\"d,\"\"e\"\"\nf\"", []string{"a", "b", " c ", "d,\"e\"\nf"}},
		{"quotes inside", "5\"\na\"b\"", []string{"5\"", "a\"b\""}},
		{"commas after and before", "a,\nb,,\n,c", []string{"a", "b", "c"}},
		{"a byte order mark", "\ufeffuser_id\na", []string{"a"}},
		{"a file of members", "user_id,first_day,last_day\na,2026-03-01,\n\"b,c\",,\nd\n,2026-03-01\n", []string{"a", "b,c", "d"}},
		{"another column", "\nname\tuser_id\nAnn\ta\nBob\tb\t\n", []string{"a", "b"}},
		{"a later user_id", "a\nuser_id", []string{"a", "user_id"}},
		{"other writing", "张三\né", []string{"张三", "é"}},
	} {
		got, err := idsOf(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", tt.name, diff, err)
		}
	}
}

func TestTextsThatAreNoUserIDs(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"several IDs on a line", "a\nb, c, d", "line 2 of the list has 3 cells"},
		{"more cells than columns", "user_id,day\na,b,c", "line 2 of the list has 3 cells"},
		{"a quote that is not closed", "a\n\"b\nc\n", "line 2 of the list has a quote that is not closed"},
		{"more after a quote", "a\n\"b\nc\"d", `line 3 of the list goes on after a quote that closes: "d"`},
		{"no UTF-8", "a\nb\n\xff\n", "line 3 of the list is not valid UTF-8 text"},
	} {
		_, err := idsOf(tt.text)
		if f := fault.As(err); f == nil || f.Kind != fault.ErrInvalid || f.Field != "ids" || !strings.HasPrefix(f.Message, tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// list makes a list and returns it.
func (b bench) list(t testing.TB, texts ...string) (Listed, cohort.Bitmap) {
	t.Helper()
	var list cohort.Bitmap
	sources := make([]io.Reader, len(texts))
	for i, text := range texts {
		sources[i] = strings.NewReader(text)
	}
	l, err := b.List(t.Context(), "loyal", func(version uint64) error {
		list = cohort.ListOf("loyal", version)
		return nil
	}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return l, list
}

func TestListOfUsers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, k storetest.Kind) {
		b := newBenchOn(t, k)
		if _, err := b.Flags(t.Context(), "activated", []string{"a", "b", "c"}, true); err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("é", 129)
		l, list := b.list(t, "b\nx\na\nb\nx\n"+long, "user_id,day\na,\ny\x00,\n")
		want := Listed{Accepted: 2, Unknown: 3, Duplicates: 3, UnknownIDs: []string{"x", long[:256] + "…", "y\x00"}}
		if diff := cmp.Diff(want, l); diff != "" {
			t.Errorf("the list (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a", "b"}, b.users(t, list)); diff != "" {
			t.Errorf("users in the list (-want +got):\n%s", diff)
		}
		if l, list := b.list(t, "x\ny\nx"); l.Accepted != 0 || l.Unknown != 2 || l.Duplicates != 1 || list.Print != 0 {
			t.Errorf("of nobody %+v is saved, as %v", l, list)
		}
	})
}

func TestListThatIsNotSavedIsRemoved(t *testing.T) {
	b := newBench(t)
	if _, err := b.Flags(t.Context(), "activated", []string{"a"}, true); err != nil {
		t.Fatal(err)
	}
	refused := fault.Conflict("cohort_exists", "taken")
	if _, err := b.List(t.Context(), "loyal", func(uint64) error { return refused }, strings.NewReader("a")); !errors.Is(err, fault.ErrConflict) {
		t.Errorf("the error is %v", err)
	}
	catalogue, err := b.store.Catalogue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for of := range catalogue.All() {
		if of.Kind == cohort.ListBitmap {
			t.Errorf("%v is left", of)
		}
	}
}

func TestListsThatAreRefused(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"no ID", "user_id\n\n", fault.ErrInvalid},
		{"too many IDs", strings.Repeat("a\n", MaxListIDs+1), fault.ErrTooLarge},
		{"too many bytes", strings.Repeat("\n", MaxListBytes+1), fault.ErrTooLarge},
	} {
		_, err := b.List(t.Context(), "loyal", func(uint64) error { return nil }, strings.NewReader(tt.text))
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestManyUnknownIDs(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	for i := range 3 * listPart / 2 {
		text.WriteString(strconv.Itoa(i) + "\n")
	}
	l, _ := b.list(t, text.String())
	if l.Unknown != 3*listPart/2 || len(l.UnknownIDs) != MaxUnknownIDs || l.UnknownIDs[MaxUnknownIDs-1] != "999" {
		t.Errorf("%d are unknown, and the first %d are given, up to %s", l.Unknown, len(l.UnknownIDs), l.UnknownIDs[len(l.UnknownIDs)-1])
	}
}

package store_test

import (
	"errors"
	"strings"
	"testing"

	"bitboard/internal/fault"
	"bitboard/internal/store"
)

func TestCheckID(t *testing.T) {
	const dense, dictionary = true, false
	for _, c := range []struct {
		name  string
		id    string
		dense bool
		says  string // empty for a good ID
	}{
		{"a word", "alice", dictionary, ""},
		{"digits with leading zeros", "007", dictionary, ""},
		{"blanks are kept", " a ", dictionary, ""},
		{"256 bytes", strings.Repeat("x", 256), dictionary, ""},
		{"257 bytes", strings.Repeat("x", 257), dictionary, "257 bytes"},
		{"empty", "", dictionary, "empty"},
		{"NUL", "a\x00b", dictionary, "NUL"},
		{"broken UTF-8", "a\xff", dictionary, "UTF-8"},
		{"zero", "0", dense, ""},
		{"the highest offset", "1000", dense, ""},
		{"above the highest offset", "1001", dense, "at most 1000"},
		{"far above it", "99999999999999999999999", dense, "at most 1000"},
		{"leading zero", "007", dense, `"007"`},
		{"many zeros", strings.Repeat("0", 30), dense, "leading zero"},
		{"a sign", "+7", dense, `"+7"`},
		{"negative", "-1", dense, `"-1"`},
		{"an exponent", "1e3", dense, `"1e3"`},
		{"underscores", "1_0", dense, `"1_0"`},
		{"a blank", " 7", dense, `" 7"`},
		{"empty when dense", "", dense, "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := store.CheckID(c.id, c.dense, 1000)
			if c.says == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an ErrInvalid that says %q", err, c.says)
			}
		})
	}
}

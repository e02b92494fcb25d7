package web

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// severalUsers is how many users can be looked up at once.
const severalUsers = 100

// quotes are what people put around an ID, or paste with it.
const quotes = "\"'`“”„‟‘’‚‛«»‹›「」『』＂＇"

// separators stand between several IDs.
const separators = ",;，；、\t\r\n"

// invisible reports whether a character is not seen and no part of an ID that a
// person means to give.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == '\ufeff'
}

// bare is an ID without what was pasted around it.
func bare(given string) string {
	return strings.TrimFunc(given, func(r rune) bool {
		return invisible(r) || strings.ContainsRune(quotes, r) || strings.ContainsRune(separators, r)
	})
}

// readings are what one ID may be meant by a text, the likeliest first.
func readings(given string) []string {
	all := []string{given, bare(given)}
	seen := all[:0]
	for _, id := range all {
		if id != "" && !slices.Contains(seen, id) {
			seen = append(seen, id)
		}
	}
	return seen
}

// several are the IDs in a text of more than one: by separators, or by blanks when
// there are none.
func several(given string) []string {
	parts := strings.FieldsFunc(given, func(r rune) bool { return strings.ContainsRune(separators, r) })
	if len(parts) < 2 {
		parts = strings.FieldsFunc(given, unicode.IsSpace)
	}
	var ids []string
	for _, part := range parts {
		if id := bare(part); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// lostZeros is how many zeros a number may have lost at its beginning: as many as a
// spreadsheet takes from one of ten digits.
const lostZeros = 9

// similar are other writings of an ID that nobody has, in each of which one thing is
// different that people and programs often change.
func similar(id string) []string {
	id = bare(id)
	var all []string
	add := func(other string) {
		if other != "" && other != id && !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	add(strings.ToLower(id))
	add(strings.ToUpper(id))
	add(norm.NFC.String(id))
	add(norm.NFKC.String(id))
	add(strings.TrimLeft(id, "0"))
	if strings.Trim(id, "0123456789") == "" {
		for n := range lostZeros {
			add(strings.Repeat("0", n+1) + id)
		}
	}
	add(strings.Join(strings.FieldsFunc(id, invisible), ""))
	add(strings.ReplaceAll(id, "-", ""))
	if plain := strings.ReplaceAll(id, "-", ""); len(plain) == 32 {
		hyphened := plain[:8] + "-" + plain[8:12] + "-" + plain[12:16] + "-" + plain[16:20] + "-" + plain[20:]
		add(hyphened)
		add(strings.ToLower(hyphened))
	}
	return all
}

// visible shows the characters of an ID that nobody sees.
func visible(id string) string {
	var b strings.Builder
	for _, r := range id {
		switch {
		case r == ' ':
			b.WriteRune('␣')
		case r == '\t':
			b.WriteRune('␉')
		case r == '\n':
			b.WriteRune('␊')
		case r == '\r':
			b.WriteRune('␍')
		case invisible(r) || unicode.IsControl(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

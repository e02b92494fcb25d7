package web

import (
	"strings"

	"bitboard/internal/cohort"
)

// maxFileStem is the longest part of a file's name that an expression makes, in bytes.
const maxFileStem = 80

// operatorWords are what operators are called in the name of a file.
var operatorWords = strings.NewReplacer(" | ", "-or-", " & ", "-and-", " - ", "-minus-", "!", "not-", "..", "-to-")

// membersFile names the file of an expression's members as of a day, after the
// saved cohort that it is, or after the expression. The name has letters, digits,
// - and _ only, so that any system takes it.
func membersFile(e cohort.Expr, asOf cohort.Day) string {
	text := e.String()
	if isReference(text) {
		text = e.Cohorts()[0]
	}
	words := strings.FieldsFunc(operatorWords.Replace(text), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	stem := strings.Join(words, "-")
	if len(stem) > maxFileStem {
		stem = strings.TrimRight(stem[:maxFileStem], "-")
	}
	return stem + "_" + asOf.String() + ".csv"
}

package rows

import (
	"slices"
	"strings"

	"bitboard/internal/fault"
)

// format is a kind of file: the columns that are read, and those that must be
// there, of which each is one of some.
type format struct {
	reads []string
	needs [][]string
}

var (
	activity = format{
		reads: []string{UserID, Event, Timestamp, Day},
		needs: [][]string{{UserID}, {Event}, {Timestamp, Day}},
	}
	pairs = format{
		reads: []string{UserID, Offset},
		needs: [][]string{{UserID}, {Offset}},
	}
)

// checkHeader tells which of the needed columns are missing or there twice.
func (f *format) checkHeader(name string, header []string) error {
	var missing []string
	for _, oneOf := range f.needs {
		if !slices.ContainsFunc(oneOf, func(need string) bool { return slices.Contains(header, need) }) {
			missing = append(missing, strings.Join(oneOf, " or "))
		}
	}
	if len(missing) > 0 {
		return fault.Invalid("missing_columns", "", "%s lacks the column %s; its header names %s", name, strings.Join(missing, ", "), fault.Show(strings.Join(header, ",")))
	}
	for i, h := range header {
		if slices.Contains(f.reads, h) && slices.Contains(header[:i], h) {
			return fault.Invalid("double_column", "", "%s has the column %s twice", name, h)
		}
	}
	return nil
}

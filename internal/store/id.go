package store

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"bitboard/internal/fault"
)

// MaxIDBytes is how long an external ID may be.
const MaxIDBytes = 256

// CheckID says what is wrong with an external ID, as an ErrInvalid that names
// it, or returns nil. An ID is 1 to 256 bytes of valid UTF-8 without NUL; a
// dense one is a decimal integer up to maxOffset without sign or leading zero.
func CheckID(id string, dense bool, maxOffset uint32) error {
	if dense {
		_, err := parseDense(id, maxOffset)
		return err
	}
	switch {
	case id == "":
		return badID("the user ID is empty; give 1 to %d bytes", MaxIDBytes)
	case len(id) > MaxIDBytes:
		return badID("the user ID %s has %d bytes; give at most %d", fault.Show(id), len(id), MaxIDBytes)
	case !utf8.ValidString(id):
		return badID("the user ID %s is not valid UTF-8", fault.Show(id))
	case strings.IndexByte(id, 0) >= 0:
		return badID("the user ID %s holds a NUL byte", fault.Show(id))
	}
	return nil
}

// parseDense reads the offset that a dense ID is.
func parseDense(id string, maxOffset uint32) (uint32, error) {
	n, err := strconv.ParseUint(id, 10, 64)
	tooHigh := err != nil && isDigits(id) || err == nil && n > uint64(maxOffset)
	switch {
	case id == "":
		return 0, badID("the user ID is empty; give a decimal integer from 0 to %d", maxOffset)
	case tooHigh && id[0] != '0':
		return 0, &fault.Error{Kind: fault.ErrInvalid, Code: "offset_too_high", Field: "user_id", Position: fault.NoPosition,
			Message: "the user ID " + fault.Show(id) + " is above the highest offset; give at most " + strconv.FormatUint(uint64(maxOffset), 10)}
	case err != nil, strconv.FormatUint(n, 10) != id:
		return 0, badID("the user ID %s is not a decimal integer without sign or leading zero", fault.Show(id))
	}
	return uint32(n), nil
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func badID(format string, args ...any) error {
	return fault.Invalid("bad_user_id", "user_id", format, args...)
}

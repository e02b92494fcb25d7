// Package fault holds the kinds of error that the product tells apart, at the
// bottom of the import graph, so that every layer can make them and the edge
// can map them to a status code, an exit code and a message.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of error. Test for them with errors.Is.
var (
	// ErrInvalid is bad input; the Error around it names the field.
	ErrInvalid = errors.New("invalid")
	// ErrNotFound is a path or an ID that names nothing.
	ErrNotFound = errors.New("not found")
	// ErrConflict is a request that the present state does not allow.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge is a body or an input over its limit.
	ErrTooLarge = errors.New("too large")
	// ErrBusy is work refused for now, to be asked again.
	ErrBusy = errors.New("busy")
	// ErrUnavailable is a store that is away, loading, full or refusing us.
	ErrUnavailable = errors.New("unavailable")
	// ErrNoWrites lies behind an ErrUnavailable of a store that refuses to write
	// and can still be read: it is full, or a replica.
	ErrNoWrites = errors.New("no writes")
)

// NoPosition marks an Error that points at a whole field.
const NoPosition = -1

// Error is an error that may be shown to whoever asked: its text names what
// was given and what would be accepted, and holds no internal error's text.
type Error struct {
	// Kind is one of the kinds above.
	Kind error
	// Code is a stable snake_case name, e.g. unknown_metric.
	Code string
	// Field is the parameter, column or configuration key at fault; may be empty.
	Field string
	// Position is the 0-based character in Field where it goes wrong, or NoPosition.
	Position int
	// Message is one sentence without a final stop, in lower case.
	Message string
	// Text is the key of what a page says instead, in its reader's language, and
	// Values fill it in: names and values by turns. Without it a page says Message.
	Text   string
	Values []string
	// Inner is what is wrong with something that this is only about; a page puts it
	// where Text says {inner}.
	Inner *Error
	// Cause is what lies behind it, for the log only.
	Cause error
}

// Say gives the error the text of pages, and returns it.
func (e *Error) Say(text string, values ...string) *Error {
	e.Text, e.Values = text, values
	return e
}

// Error returns the message, and the cause for the log when there is one.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap makes errors.Is see both the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Invalid returns an ErrInvalid about a whole field.
func Invalid(code, field, format string, args ...any) *Error {
	return &Error{Kind: ErrInvalid, Code: code, Field: field, Position: NoPosition, Message: fmt.Sprintf(format, args...)}
}

// InvalidAt returns an ErrInvalid about one character of a field.
func InvalidAt(code, field string, position int, format string, args ...any) *Error {
	e := Invalid(code, field, format, args...)
	e.Position = position
	return e
}

// NotFound returns an ErrNotFound.
func NotFound(code, format string, args ...any) *Error {
	return &Error{Kind: ErrNotFound, Code: code, Position: NoPosition, Message: fmt.Sprintf(format, args...)}
}

// Conflict returns an ErrConflict.
func Conflict(code, format string, args ...any) *Error {
	return &Error{Kind: ErrConflict, Code: code, Position: NoPosition, Message: fmt.Sprintf(format, args...)}
}

// Unavailable returns an ErrUnavailable around what the store said.
func Unavailable(cause error, format string, args ...any) *Error {
	return &Error{Kind: ErrUnavailable, Code: "store_unavailable", Position: NoPosition, Message: fmt.Sprintf(format, args...), Cause: cause}
}

// As returns the first Error in err's tree, or nil.
func As(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// shownLength is how many bytes of a given value a message repeats.
const shownLength = 80

// Show quotes a value that somebody gave us for use in a message, cut to a
// length that keeps a message readable, however long or binary the value is.
func Show(value string) string {
	if len(value) > shownLength {
		cut := strings.ToValidUTF8(value[:shownLength], "")
		return fmt.Sprintf("%q… (%d bytes)", cut, len(value))
	}
	return fmt.Sprintf("%q", value)
}

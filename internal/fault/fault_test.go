package fault_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bitboard/internal/fault"
)

func TestErrorsKeepTheirKindWhenWrapped(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		kind error
		code string
	}{
		{"invalid", fault.Invalid("bad_date", "from", "%s is no date", "x"), fault.ErrInvalid, "bad_date"},
		{"invalid at a character", fault.InvalidAt("bad_expression", "expr", 3, "expected an operator"), fault.ErrInvalid, "bad_expression"},
		{"not found", fault.NotFound("unknown_user", "there is no user"), fault.ErrNotFound, "unknown_user"},
		{"unavailable", fault.Unavailable(io.EOF, "the store is away"), fault.ErrUnavailable, "store_unavailable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := fmt.Errorf("asking: %w", errors.Join(tt.err, io.ErrClosedPipe))
			if !errors.Is(err, tt.kind) {
				t.Errorf("%v is not of kind %v", err, tt.kind)
			}
			if f := fault.As(err); f == nil || f.Code != tt.code {
				t.Errorf("As gives %+v, want the code %s", f, tt.code)
			}
		})
	}
}

func TestPositions(t *testing.T) {
	if got := fault.Invalid("a", "b", "c").Position; got != fault.NoPosition {
		t.Errorf("an error about a whole field points at character %d", got)
	}
	want := fault.Error{Kind: fault.ErrInvalid, Code: "a", Field: "b", Position: 0, Message: "at 1"}
	if diff := cmp.Diff(want, *fault.InvalidAt("a", "b", 0, "at %d", 1), cmpopts.EquateErrors()); diff != "" {
		t.Error(diff)
	}
}

func TestACauseIsForTheLogOnly(t *testing.T) {
	err := fault.Unavailable(io.ErrUnexpectedEOF, "the store is away")
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause cannot be found")
	}
	if strings.Contains(err.Message, io.ErrUnexpectedEOF.Error()) || !strings.Contains(err.Error(), io.ErrUnexpectedEOF.Error()) {
		t.Errorf("the message is %q and the log's text %q", err.Message, err.Error())
	}
	if got := fault.NotFound("a", "nobody").Error(); got != "nobody" {
		t.Errorf("without a cause the text is %q", got)
	}
}

func TestOtherErrorsAreNoFault(t *testing.T) {
	if f := fault.As(io.EOF); f != nil {
		t.Errorf("got %+v", f)
	}
}

func TestShownValuesAreShortAndPrintable(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"empty", "", `""`},
		{"plain", "u-1", `"u-1"`},
		{"control characters", "a\n\x00", `"a\n\x00"`},
		{"not UTF-8", "\xff", `"\xff"`},
		{"the longest whole one", strings.Repeat("x", 80), `"` + strings.Repeat("x", 80) + `"`},
		{"too long", strings.Repeat("x", 10_000), `"` + strings.Repeat("x", 80) + `"… (10000 bytes)`},
		{"cut within a character", strings.Repeat("x", 79) + "é", `"` + strings.Repeat("x", 79) + `"… (81 bytes)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, fault.Show(tt.value)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"bitboard/internal/fault"
)

func TestEveryRouteNamesItsPermission(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range new(server).routes() {
		name := r.Method + " " + r.Path
		if seen[name] {
			t.Errorf("%s stands in the table twice", name)
		}
		seen[name] = true
		if !slices.Contains([]Permission{Open, View, Export, LookUp, Write, Define, Operate}, r.Permission) {
			t.Errorf("%s needs %q, which is no permission", name, r.Permission)
		}
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		writes := slices.Contains([]Permission{Write, Define, Operate}, r.Permission)
		if api := strings.HasPrefix(r.Path, "/api/"); api && (r.Permission == Open || reads == writes) {
			t.Errorf("%s of the API needs %q only", name, r.Permission)
		}
	}
}

func TestKindsOfErrorHaveAStatus(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{fault.Invalid("a", "b", "c"), 400},
		{fault.NotFound("a", "b"), 404},
		{fault.ErrConflict, 409},
		{fault.ErrTooLarge, 413},
		{fault.ErrBusy, 429},
		{fault.Unavailable(context.DeadlineExceeded, "a"), 503},
		{context.DeadlineExceeded, 503},
		{context.Canceled, 499},
		{echo.ErrMethodNotAllowed, 405},
		{errors.New("anything else"), 500},
	} {
		if got := statusOf(fmt.Errorf("asking: %w", tt.err)); got != tt.want {
			t.Errorf("%v is answered with %d, want %d", tt.err, got, tt.want)
		}
	}
}

package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"bitboard/internal/fault"
	"bitboard/internal/ingest"
)

func (s *server) apiEvents(c echo.Context) error {
	accepted, rejected, err := s.Ingest.Events(c.Request().Context(), c.Request().Body, s.today())
	if err != nil {
		return err
	}
	status := http.StatusOK
	if accepted == 0 && len(rejected) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return c.JSON(status, struct {
		Accepted int             `json:"accepted"`
		Rejected []ingest.Reject `json:"rejected"`
	}{accepted, rejected})
}

func (s *server) apiFlags(c echo.Context) error {
	metric, err := pathParam(c, "metric")
	if err != nil {
		return err
	}
	var body struct {
		UserIDs ingest.UserIDs `json:"user_ids"`
		Value   *bool          `json:"value"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.UserIDs == nil {
		return fault.Invalid("missing", "user_ids", "user_ids is needed: a list of user IDs")
	}
	if body.Value == nil {
		return fault.Invalid("missing", "value", "value is needed: true sets the flag, false takes it back")
	}
	changed, err := s.Ingest.Flags(c.Request().Context(), metric, body.UserIDs, *body.Value)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]int64{"changed": changed})
}

// readJSON reads a body that is one JSON object of known fields.
func readJSON(c echo.Context, into any) error {
	body := http.MaxBytesReader(c.Response(), c.Request().Body, ingest.MaxEventBytes)
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.Decode(new(struct{})) == io.EOF {
		return nil
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return &fault.Error{Kind: fault.ErrTooLarge, Code: "too_large", Position: fault.NoPosition,
			Message: "the body is larger than 5 MB; send fewer at once"}
	}
	if said := fault.As(err); said != nil {
		return said
	}
	return badJSON(err)
}

// unknownField is how encoding/json begins to say which field it does not know;
// it has no type of error for that.
const unknownField = "json: unknown field "

// badJSON says which field of a body is wrong, where it is one.
func badJSON(err error) *fault.Error {
	f := fault.Invalid("bad_json", "", "the body is not one JSON object of the fields that are accepted here")
	f.Cause = err
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		f.Field = wrong.Field
		f.Message = fmt.Sprintf("%s is a JSON %s; give %s", wrong.Field, wrong.Value, jsonOf(wrong.Type.Kind()))
	} else if err != nil && strings.HasPrefix(err.Error(), unknownField) {
		quoted := strings.TrimPrefix(err.Error(), unknownField)
		if name, err := strconv.Unquote(quoted); err == nil {
			f.Field, f.Message = name, fmt.Sprintf("there is no field %s here; leave it out", fault.Show(name))
		}
	}
	return f
}

// jsonOf says how a field of a kind is written.
func jsonOf(kind reflect.Kind) string {
	if kind == reflect.Bool {
		return "true or false"
	}
	return "a string"
}

package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

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
	return &fault.Error{Kind: fault.ErrInvalid, Code: "bad_json", Position: fault.NoPosition, Cause: err,
		Message: "the body is not one JSON object of the fields that are accepted here"}
}

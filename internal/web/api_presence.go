package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/ingest"
)

func (s *server) apiSetPresence(c echo.Context) error {
	if err := s.params(c).err; err != nil {
		return err
	}
	metric, err := pathParam(c, "metric")
	if err != nil {
		return err
	}
	var body struct {
		UserIDs ingest.UserIDs `json:"user_ids"`
		Online  *bool          `json:"online"`
		Beat    *bool          `json:"beat"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if body.UserIDs == nil {
		return fault.Invalid("missing", "user_ids", "user_ids is needed: a list of user IDs")
	}
	sign, err := signOf(body.Online, body.Beat)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	changed, err := s.Ingest.Presence(ctx, metric, body.UserIDs, sign, s.Now())
	if err != nil {
		return err
	}
	online, err := s.Query.Online(ctx, metric)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, struct {
		Changed int64 `json:"changed"`
		Online  int64 `json:"online"`
	}{changed, online})
}

// signOf reads what is said of users: online is a state, beat a heartbeat.
func signOf(online, beat *bool) (ingest.Sign, error) {
	switch {
	case beat != nil && !*beat:
		return 0, fault.Invalid("bad_value", "beat", "beat is false; give true, or online: false for users who left")
	case online == nil && beat == nil:
		return 0, fault.Invalid("missing", "online", "online or beat is needed: online true or false sets the state, beat true is a heartbeat")
	case online == nil:
		return ingest.Heartbeat, nil
	case *online:
		return ingest.Arrival, nil
	case beat != nil:
		return 0, fault.Invalid("bad_value", "beat", "users with a heartbeat cannot leave at once; give online: false or beat: true")
	}
	return ingest.Departure, nil
}

// presenceBody is who is there: by what was said, and by heartbeats.
type presenceBody struct {
	Online int64     `json:"online"`
	Recent int64     `json:"recent"`
	At     time.Time `json:"at"`
}

func (s *server) apiPresence(c echo.Context) error {
	metric, err := pathParam(c, "metric")
	if err != nil {
		return err
	}
	if _, ok := s.workspace.Metric(metric); !ok {
		return fault.NotFound("unknown_metric", "there is no metric %s", fault.Show(metric))
	}
	if _, err := s.workspace.PresenceMetric("metric", metric); err != nil {
		return err
	}
	p := s.params(c, "within")
	minutes, err := cohort.ParseRecent("within", p.text("within"))
	p.fail(err)
	if p.err != nil {
		return p.err
	}
	at := s.Now()
	present, err := s.Query.Present(c.Request().Context(), metric, at, minutes)
	if err != nil {
		return err
	}
	body := presenceBody{present.Online, present.Recent, at}
	return respond(c, body, table{
		[]string{"online", "recent", "at"},
		[][]string{{intText(body.Online), intText(body.Recent), at.Format(time.RFC3339)}},
	})
}

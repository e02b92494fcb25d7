package web

import (
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"
)

// Access is one export of people, look-up of a person, or list of IDs of which it was
// asked who is known.
type Access struct {
	At         time.Time
	Permission Permission
	// Subject is the expression exported, the user looked up, or the cohort of the list.
	Subject   string
	RemoteIP  string
	RequestID string
}

// Auditor keeps a record of who took what. It is told before the data leaves.
type Auditor interface {
	Record(ctx context.Context, a Access) error
}

// LogAuditor writes each access to a log.
type LogAuditor struct{ Log *slog.Logger }

// Record writes one line.
func (l LogAuditor) Record(ctx context.Context, a Access) error {
	l.Log.InfoContext(ctx, "access", "at", a.At, "permission", string(a.Permission), "subject", a.Subject, "ip", a.RemoteIP, "request", a.RequestID)
	return nil
}

// audit records an access. When it can't be recorded it must not happen.
func (s *server) audit(c echo.Context, p Permission, subject string) error {
	return s.Audit.Record(c.Request().Context(), Access{
		At: s.Now(), Permission: p, Subject: subject,
		RemoteIP: c.RealIP(), RequestID: c.Response().Header().Get(echo.HeaderXRequestID),
	})
}

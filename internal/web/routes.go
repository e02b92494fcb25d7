package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"bitboard/static"
)

// Permission is what a caller will need for a route once there are accounts.
// Until then nothing is enforced and the server listens on loopback only.
type Permission string

// The permissions.
const (
	// Open routes answer anybody.
	Open Permission = "open"
	// View is to see numbers of people.
	View Permission = "view"
	// Export is to take lists of people away.
	Export Permission = "export"
	// LookUp is to see one person's days.
	LookUp Permission = "look_up"
	// Write is to send data.
	Write Permission = "write"
	// Define is to say what is meant by a name that others use: saved cohorts.
	Define Permission = "define"
	// Operate is to cancel jobs, and to let one run outside the off-peak hours.
	Operate Permission = "operate"
	// Forget is to take a person out of everything; no route does that.
	Forget Permission = "forget"
)

// countPath is an address among those of saved cohorts, so that none has this name.
const countPath = "count"

// Route is one line of the table of routes.
type Route struct {
	Method     string
	Path       string
	Permission Permission
	Handler    echo.HandlerFunc
}

// routes is every route there is.
func (s *server) routes() []Route {
	const get = http.MethodGet
	return []Route{
		{get, "/healthz", Open, s.healthz},
		{get, "/readyz", Open, s.readyz},
		{get, "/metrics", Open, s.prometheus()},

		{get, "/static/*", Open, echo.WrapHandler(static.Handler())},
		{http.MethodPost, "/preferences", Open, s.preferences},

		{get, "/", View, s.shown(s.overview)},
		{get, "/overview.csv", View, s.overviewCSV},
		{get, "/retention", View, s.shown(s.retention)},
		{get, "/engagement", View, s.shown(s.engagement)},
		{get, "/online", View, s.online},
		{get, "/online.csv", View, s.onlineCSV},
		{get, onlineLivePath, View, s.onlineLive},
		{get, "/cohorts", Export, s.shown(s.cohorts)},
		{get, comparePath, View, s.shown(s.compare)},
		{http.MethodPost, "/cohorts", Define, s.saveCohort},
		{http.MethodPost, "/cohorts/delete", Define, s.removeCohort},
		{get, "/how", View, s.shown(s.how)},
		{get, "/users", LookUp, s.users},
		{get, "/users.txt", LookUp, s.usersText},
		{get, "/jobs", View, s.jobs},
		{http.MethodPost, "/jobs/:id/cancel", Operate, s.cancelJob},
		{http.MethodPost, "/jobs/:id/now", Operate, s.hurryJob},

		{get, "/api/v1/metrics", View, s.apiMetrics},
		{get, "/api/v1/active", View, s.asked(s.apiActive)},
		{get, "/api/v1/retention", View, s.asked(s.apiRetention)},
		{get, "/api/v1/lifecycle", View, s.asked(s.apiLifecycle)},
		{get, "/api/v1/stickiness", View, s.asked(s.apiStickiness)},
		{get, "/api/v1/stickiness-ratio", View, s.asked(s.apiStickinessRatio)},
		{get, "/api/v1/recency", View, s.asked(s.apiRecency)},
		{get, "/api/v1/cohorts", View, s.apiSavedCohorts},
		{http.MethodPost, "/api/v1/cohorts", Define, s.apiCreateCohort},
		{get, "/api/v1/cohorts/:name", View, s.apiSavedCohort},
		{http.MethodPut, "/api/v1/cohorts/:name", Define, s.apiPutCohort},
		{http.MethodDelete, "/api/v1/cohorts/:name", Define, s.apiDeleteCohort},
		{http.MethodPost, "/api/v1/cohorts/:name/list", Define, s.apiCreateList},
		{http.MethodPut, "/api/v1/cohorts/:name/list", Define, s.apiPutList},
		{get, "/api/v1/cohorts/" + countPath, View, s.asked(s.apiCohortCount)},
		{get, "/api/v1/cohorts/members.csv", Export, s.apiMembers},
		{http.MethodPost, "/api/v1/events", Write, s.apiEvents},
		{http.MethodPost, "/api/v1/flags/:metric", Write, s.apiFlags},
		{http.MethodPost, "/api/v1/presence/:metric", Write, s.apiSetPresence},
		{get, "/api/v1/presence/:metric", View, s.apiPresence},
		{get, "/api/v1/jobs", View, s.apiJobs},
		{get, "/api/v1/jobs/:id", View, s.apiJob},
		{http.MethodDelete, "/api/v1/jobs/:id", Operate, s.apiCancelJob},
		{http.MethodPost, "/api/v1/jobs/:id/now", Operate, s.apiHurryJob},
		{get, "/api/v1/users/calendar", LookUp, s.apiCalendarByQuery},
		{get, "/api/v1/users/:id/calendar", LookUp, s.apiCalendarByPath},
	}
}

package views

// ErrorPage is what stands in for a page that could not be made.
type ErrorPage struct {
	Page
	// Status is the HTTP status code.
	Status int
	// Message says what was given and what would be accepted; it may be empty.
	Message string
	// RequestID is what the log knows the request by; it may be empty.
	RequestID string
}

// title says in a few words what happened.
func (e ErrorPage) title() string {
	switch {
	case e.Status == 404:
		return e.Text.T("error.not_found")
	case e.Status == 403:
		return e.Text.T("error.forbidden")
	case e.Status == 429:
		return e.Text.T("error.busy")
	case e.Status == 503:
		return e.Text.T("error.unavailable")
	case e.Status < 500:
		return e.Text.T("error.invalid")
	default:
		return e.Text.T("error.internal")
	}
}

// next says what the reader can do.
func (e ErrorPage) next() string {
	switch {
	case e.Status == 404:
		return e.Text.T("error.not_found.next")
	case e.Status == 429 || e.Status == 503:
		return e.Text.T("error.later.next")
	case e.Status < 500:
		return e.Text.T("error.invalid.next")
	default:
		return e.Text.T("error.internal.next")
	}
}

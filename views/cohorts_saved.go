package views

import "bitboard/views/ui"

// SavedCohorts is the list of the saved cohorts.
type SavedCohorts struct {
	// Rows are the cohorts by name.
	Rows []SavedCohort
	// Error says why there is no list.
	Error string
}

// SavedCohort is a set expression that is kept under a name.
type SavedCohort struct {
	// Name is what it is called in expressions, Title what people call it.
	Name, Title string
	// Expr is the expression as it was written.
	Expr string
	// Users is how many it names now; it has no meaning when there is a Problem.
	Users ui.Number
	// Problem says why it names nobody any more, e.g. that a metric is gone.
	Problem string
	// Edit and Delete are the URLs where it is changed and deleted.
	Edit, Delete string
}

// SaveForm saves the page's expression under a name.
type SaveForm struct {
	// Name and Title are what the cohort will be called, by expressions and by people.
	Name, Title string
	// Edit says that the cohort is there already and keeps its name.
	Edit bool
	// URL is where the form is sent.
	URL string
}

// Deletion asks whether a saved cohort is to be deleted.
type Deletion struct {
	// Name and Title are those of the cohort.
	Name, Title string
	// UsedBy are the names of the cohorts that need it, so that it has to stay.
	UsedBy []string
	// URL is where the answer is sent, Back the page without the question.
	URL, Back string
}

// ref is how expressions refer to a saved cohort.
func ref(name string) string { return "cohort(" + name + ")" }

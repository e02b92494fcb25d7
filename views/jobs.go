package views

import (
	"strconv"

	"bitboard/views/ui"
)

// Job is a question that takes long, in the reader's words.
type Job struct {
	ID string
	// Name is what was asked, and URL where to ask it again.
	Name, URL string
	// State is queued, waiting, running, done or failed.
	State string
	// Progress is from 0 to 1.
	Progress float64
	// Cost is in bytes of bitmaps.
	Cost int64
	// Engine is bitop or fold, or empty.
	Engine string
	// Begun is an instant, and Seconds how long it took, or takes so far.
	Begun   string
	Seconds float64
	// Busy is how many seconds it kept Redis busy, and Waited how many it was kept
	// from it.
	Busy, Waited float64
	// Problem says why it failed.
	Problem string
}

// open reports whether the job has not ended.
func (j Job) open() bool { return j.State != "done" && j.State != "failed" }

// percent is the progress in whole percent.
func (j Job) percent() string { return strconv.Itoa(int(100 * j.Progress)) }

// order is where the job is told what is wanted of it.
func (j Job) order(what string) string { return "/jobs/" + j.ID + "/" + what }

// WorkingPage takes the place of a page that is still being computed.
type WorkingPage struct {
	Page
	Job Job
	// Poll is where a script finds how far it is.
	Poll string
}

// JobsPage is the page /jobs.
type JobsPage struct {
	Page
	Open, Ended []Job
	Guard       Guard
	// Offpeak is the hours for jobs that cost much, e.g. 01:00-06:00; may be empty.
	Offpeak string
	Error   string
}

// Guard is what keeps jobs from being felt beside production, in the reader's words.
type Guard struct {
	// Share is the part of Redis's time that jobs may take now, from 0 to 1, past the
	// first Burst seconds of each.
	Share, Burst float64
	// Latency is how many seconds Redis takes for next to nothing, lately, and Usual
	// what is usual; 0 before a job was guarded.
	Latency, Usual float64
	// Slowness is by what pauses are multiplied.
	Slowness float64
}

// latency is how long Redis takes for next to nothing, in milliseconds.
func latency(p Page, seconds float64) string { return p.Text.Decimal(seconds*1000) + "\u00a0ms" }

// doing says in words what a job is at.
func doing(p Page, j Job) string {
	switch {
	case j.State == "queued":
		return p.Text.T("jobs.state.queued")
	case j.State == "waiting":
		return p.Text.T("jobs.state.waiting")
	case j.State == "done":
		return p.Text.T("jobs.state.done")
	case j.State == "failed":
		return p.Text.T("jobs.state.failed")
	case j.Progress > 0:
		return p.Text.T("jobs.running", "percent", p.Text.WholePercent(j.Progress))
	default:
		return p.Text.T("jobs.state.running")
	}
}

// cost is the bytes of a job's bitmaps in words.
func cost(p Page, j Job) string {
	if j.Cost == 0 {
		return ""
	}
	return p.Text.Bytes(j.Cost)
}

// engineName is what an executor is called.
func engineName(p Page, engine string) string {
	switch engine {
	case "bitop":
		return p.Text.T("jobs.engine.bitop")
	case "fold":
		return p.Text.T("jobs.engine.fold")
	default:
		return ""
	}
}

// bar is the progress of a job as a picture.
func bar(p Page, j Job) ui.Progress {
	return ui.Progress{Percent: j.percent(), Label: p.Text.T("jobs.progress"), Unknown: j.State == "running" && j.Progress == 0}
}

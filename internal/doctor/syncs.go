package doctor

import (
	"context"
	"slices"

	"bitboard/internal/cohort"
)

// syncs examines the replacements of whole days.
func (e *examination) syncs(ctx context.Context) error {
	state, err := e.Store.Syncs(ctx)
	if err != nil {
		return err
	}
	half, err := e.Store.HalfReplaced(ctx)
	if err != nil {
		return err
	}
	if len(half) > 0 {
		var names []string
		for b := range half {
			names = append(names, nameOf(b))
		}
		slices.Sort(names)
		e.wrong("replace", "%s may be half replaced, because an import was interrupted and not finished within a day, or lost what it had staged: %s; import again with --mode replace",
			count(int64(len(half)), "day"), some(names))
	}
	open := slices.DeleteFunc(state.Committed, func(job string) bool { return job == state.Running })
	switch {
	case len(open) > 0:
		e.wrong("replace", "%s committed and not finished; any command that opens the store finishes it, so look at what it says", count(int64(len(open)), "import"))
	case state.Running != "":
		e.ok("replace", "one is running")
	case len(half) == 0:
		e.ok("replace", "none is open")
	}
	return nil
}

// forgetting looks for users who were to be forgotten and are not yet.
func (e *examination) forgetting(ctx context.Context) error {
	n, err := e.Store.Forgetting(ctx)
	switch {
	case err != nil:
		return err
	case n > 0:
		e.wrong("forgetting", "%s of users of whom something may still be stored, because forget was interrupted; run the same dashboard forget again", count(n, "offset"))
	default:
		e.ok("forgetting", "nobody is half forgotten")
	}
	return nil
}

// nameOf names a bitmap for people.
func nameOf(b cohort.Bitmap) string {
	switch b.Kind {
	case cohort.DayBitmap:
		return b.Metric + " on " + b.Day.String()
	case cohort.FlagBitmap:
		return "flag " + b.Metric
	case cohort.ListBitmap:
		return "the list of the cohort " + b.Metric
	default:
		return "known users"
	}
}

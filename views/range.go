package views

import "bitboard/views/ui"

// RangePicker is the days that a page is about, and the ways to others.
type RangePicker struct {
	// Problem is what is wrong with the choice of a range by name; empty when
	// nothing is.
	Problem string
	// From and To are the days, both ends in; empty when they cannot be told.
	From, To string
	// BeforeURL and AfterURL are this page over the days just before and just
	// after that are as many; empty where there are none.
	BeforeURL, AfterURL string
	// Presets are this page over the ranges that have a name.
	Presets []ui.Choice
	// Named is the preset that the page moves on with; empty for fixed days.
	Named string
	// Complete says that periods that aren't over are left out, and CompleteURL
	// is this page with the other choice.
	Complete    bool
	CompleteURL string
	// Comparisons are this page compared with nothing and with earlier days; a page
	// that compares nothing has none. Compared is the one chosen, empty for none.
	Comparisons []ui.Choice
	Compared    string
}

// custom reports whether the days are those of no preset.
func (r RangePicker) custom() bool {
	for _, c := range r.Presets {
		if c.Current {
			return false
		}
	}
	return true
}

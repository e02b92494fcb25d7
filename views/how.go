package views

// HowPage is the page /how: how a number of people is counted by hand.
type HowPage struct {
	Page
	// Expr is the expression in its normal form.
	Expr string
	// Count is what the commands give, and People the URL of these people.
	Count  int64
	People string
	// Segments is how many segments are added up.
	Segments int64
	// Script is a shell script that prints the number.
	Script string
	// Problem is what is wrong with the expression, or why there are no commands.
	Problem *Problem
	Error   string
}

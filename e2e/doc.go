// Package e2e holds the journeys of the product's people: the real program
// over a real Redis, in a real browser.
package e2e

// Package cohort is the domain: days and periods, metrics, the bitmaps that
// hold them, set expressions, and what each report asks and answers. It knows
// no store and reads no clock.
package cohort

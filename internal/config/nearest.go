package config

import "strings"

// hint is what to say after a name that is not known: the nearest known name,
// or all of them when none is near.
func hint(name string, known []string) string {
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	switch {
	case len(known) == 0:
		return ""
	case best != "":
		return "; did you mean " + best + "?"
	}
	return "; known are " + strings.Join(known, ", ")
}

// maxCompared bounds the work of distance on a name that is no name at all.
const maxCompared = 64

// distance returns the number of bytes to insert, delete or change to make b of a.
func distance(a, b string) int {
	if len(a) > maxCompared || len(b) > maxCompared {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

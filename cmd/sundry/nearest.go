package main

import "fmt"

// nearest is the candidate that a misspelt name most likely meant; "" where
// none is near enough.
func nearest(name string, candidates []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// meant adds the nearest candidate to what is said of an unknown name.
func meant(name string, candidates []string) string {
	if n := nearest(name, candidates); n != "" {
		return fmt.Sprintf("; did you mean %s?", n)
	}
	return ""
}

// distance is how many bytes must be put in, taken out or changed to make one
// name of the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

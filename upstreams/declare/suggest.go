package declare

import "strings"

// Nearest is the candidate that a misspelt name most likely stands for; "" where
// none is near enough.
func Nearest(name string, candidates []string) string {
	best, least := "", min(max(2, len(name)/3)+1, len(name)) // a name that shares nothing is not near
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// Suggestion adds the nearest candidate to the message about an unknown name.
func Suggestion(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// Expected adds the nearest candidate to the message about an unknown name, and all
// that are allowed.
func Expected(name string, allowed []string) string {
	if len(allowed) == 0 {
		return "; no keys are allowed there"
	}
	list := "xpected one of " + strings.Join(allowed, ", ")
	if near := Suggestion(name, allowed); near != "" {
		return near + " E" + list
	}
	return "; e" + list
}

// distance is how many bytes must be put in, taken out or changed to make one
// name of the other (Levenshtein).
func distance(a, b string) int {
	var short [64]int // for names as they usually are, without memory of its own
	row := short[:]
	if len(b) >= len(row) {
		row = make([]int, len(b)+1)
	}
	for j := range len(b) + 1 {
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

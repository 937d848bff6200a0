package declare

import "sundry/metrics/words"

// longTail is from how many bytes on, after what two names begin with, a typing error may be two.
const longTail = 5

// Nearest is the candidate that a misspelt name most likely stands for; "" where
// none is within what typing errors do: one of them, or two in a long name.
func Nearest(name string, candidates []string) string {
	best, least := "", 3
	for _, c := range candidates {
		most := 1
		if len(name)-shared(name, c) >= longTail {
			most = 2
		}
		if d := distance(name, c); d <= most && d < min(least, len(name)) { // a name that shares nothing is not near
			best, least = c, d
		}
	}
	return best
}

// shared is how many bytes both begin with.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Suggestion adds the nearest candidate to the message about an unknown name.
func Suggestion(name string, candidates []string) (hint words.Text) {
	if n := Nearest(name, candidates); n != "" {
		return Say("; did you mean %s?", n)
	}
	return hint
}

// SuggestionOrNewer is Suggestion or, where nothing known is near, what is likely then: that the name is of a newer version.
func SuggestionOrNewer(name string, candidates []string) words.Text {
	if near := Suggestion(name, candidates); !near.IsZero() {
		return near
	}
	return newer()
}

// newer says what an unknown name without a similar one is likely to be, and what to do.
func newer() words.Text {
	return Say("; it may be of a newer version of Sundry: upgrade Sundry, or remove it")
}

// Expected adds the nearest candidate to the message about an unknown name, and all
// that are allowed.
func Expected(name string, allowed []string) words.Text {
	if len(allowed) == 0 {
		return Say("; no keys are allowed there")
	}
	list := words.Names(allowed...)
	if near := Suggestion(name, allowed); !near.IsZero() {
		return Say("%s Expected one of %s", near, list)
	}
	return Say("; expected one of %s", list)
}

// distance is how many bytes must be put in, taken out, changed or swapped with the next to
// make one name of the other (optimal string alignment).
func distance(a, b string) int {
	var few [3 * 32]int // for names as they usually are, without memory of its own
	rows, width := few[:], len(b)+1
	if 3*width > len(rows) {
		rows = make([]int, 3*width)
	}
	before, above, row := rows[:width], rows[width:2*width], rows[2*width:3*width]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := above[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

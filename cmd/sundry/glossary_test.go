package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ordinary are the words of metric names that need no explanation.
var ordinary = strings.Fields(`accept added advise address addresses admin answer attempts attempt build bytes cache capacity clients config duration enabled
	deletes endpoint entries failures far guard info keys last lookups logins failed limit memory near openings queue reads read reload refused requests request
	resorts rate restores running seconds sequence serve state success successful sundry timestamp total upstream answers at in writes if error unwritten
	late limited lines log lost paused forced step open failovers fills settings flight panics ratio repairs sync`)

// glossary reads the terms of deploy/glossary.md with their meanings.
func glossary(t *testing.T) (terms []string, text string) {
	t.Helper()
	text = readFile(t, filepath.Join(samples, "glossary.md"))
	for _, m := range regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\* \| \S.* \|$`).FindAllStringSubmatch(text, -1) {
		terms = append(terms, m[1])
	}
	return terms, text
}

// TestGlossaryIsInOrder also follows its references.
func TestGlossaryIsInOrder(t *testing.T) {
	t.Parallel()
	terms, text := glossary(t)
	if len(terms) < 60 || len(terms) != strings.Count(text, "\n| **") {
		t.Fatalf("%d terms of %d rows", len(terms), strings.Count(text, "\n| **"))
	}
	fold := func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
	for i := 1; i < len(terms); i++ {
		if fold(terms[i-1], terms[i]) >= 0 {
			t.Errorf("%q after %q", terms[i], terms[i-1])
		}
	}
	for _, m := range regexp.MustCompile(`[Ss]ee \*(.+?)\*`).FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(terms, func(term string) bool { return strings.EqualFold(term, m[1]) }) {
			t.Errorf("reference to %q, which is not a term", m[1])
		}
	}
}

// TestGlossaryIsInChineseToo: every term, in the same order, with its name and meaning,
// and references to names that are there.
func TestGlossaryIsInChineseToo(t *testing.T) {
	t.Parallel()
	want, _ := glossary(t)
	text := readFile(t, filepath.Join(samples, "glossary.zh-CN.md"))
	var got, names []string
	for _, m := range regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\* \| (\S.*?) \| \S[^|\n]*\p{Han}[^|\n]* \|$`).FindAllStringSubmatch(text, -1) {
		got, names = append(got, m[1]), append(names, m[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-en +zh:\n%s", diff)
	}
	for _, m := range regexp.MustCompile(`见“(.+?)”`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			t.Errorf("reference to %q, which is not a term", m[1])
		}
	}
}

// TestGlossaryExplainsTheWordsOfMetrics: a word of a metric's name is ordinary,
// or the glossary has it.
func TestGlossaryExplainsTheWordsOfMetrics(t *testing.T) {
	t.Parallel()
	terms, text := glossary(t)
	text = strings.ToLower(strings.Join(terms, " ") + " " + text)
	for _, m := range regexp.MustCompile("(?m)^\\| `sundry_(\\w+)`").FindAllStringSubmatch(readFile(t, metricsPage), -1) {
		for word := range strings.SplitSeq(m[1], "_") {
			if !slices.Contains(ordinary, word) && !strings.Contains(text, strings.TrimSuffix(word, "s")) {
				t.Errorf("sundry_%s: %q is not in the glossary", m[1], word)
			}
		}
	}
}

// TestGlossaryHasTheKeysAndOutcomes: those of the cache policy and of requests,
// and the values of labels.
func TestGlossaryHasTheKeysAndOutcomes(t *testing.T) {
	t.Parallel()
	_, text := glossary(t)
	for word := range strings.FieldsSeq(`ttl grace stale_if_error negative poll soft_timeout until pause pause_max eager
		hit stale stale_error miss coalesced not_modified bypass negative invalid limited shed error left
		shared keyed large computed unavailable timeout malformed rejected throttled internal changed unchanged`) {
		if !strings.Contains(text, "`"+word+"`") {
			t.Errorf("`%s` is not in the glossary", word)
		}
	}
}

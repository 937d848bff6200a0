package web

import (
	"path"
	"slices"
	"strings"
)

// Query says which of a URI's parameters make no other response. Spellings are kept, empty parameters too: they may mean
// something to an origin.
type Query struct {
	// Dropped are names, in which * stands for any characters, of parameters that the origin is not asked with.
	Dropped []string
	// Sorted puts parameters in the order of their names; those of one name keep theirs.
	Sorted bool
}

// CheckDropped reports whether a pattern can be one of Dropped.
func CheckDropped(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}

// maxParams limits the parameters that are dropped and sorted. A query with more is used unchanged.
const maxParams = 1000

// Apply returns a query without what makes no other response.
func (q *Query) Apply(raw string) string {
	if raw == "" || len(q.Dropped) == 0 && !q.Sorted || strings.Count(raw, "&") >= maxParams {
		return raw
	}
	params := slices.DeleteFunc(strings.Split(raw, "&"), func(p string) bool { return q.drops(nameOf(p)) })
	if q.Sorted {
		slices.SortStableFunc(params, func(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) })
	}
	return strings.Join(params, "&")
}

// URI is a path with a query without what makes no other response. asked: it has a ? also where there is no query.
func (q *Query) URI(path, query string, asked bool) string {
	if query = q.Apply(query); query != "" || asked {
		path += "?" + query
	}
	return path
}

func nameOf(param string) string {
	name, _, _ := strings.Cut(param, "=")
	return name
}

func (q *Query) drops(name string) bool {
	return slices.ContainsFunc(q.Dropped, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // see CheckDropped
		return ok
	})
}

package catalog

import (
	"net/url"
	"slices"
	"strings"
)

// Manner is how a caller wants to be told that something went wrong. The zero
// value is a document of JSON.
type Manner struct {
	// Text means one line of it.
	Text bool
	// Callback is the function to be called with the document, or "".
	Callback string
}

// Manner looks for type=text, whether or not the endpoint has such a form, and
// for a valid callback where it has one, whatever else is wrong with the query.
// A nil Endpoint stands for one that is not there.
func (e *Endpoint) Manner(rawQuery string) Manner {
	var m Manner
	callback := e.callback()
	for pair := range strings.SplitSeq(rawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch name = unescaped(name); {
		case name == "type" && unescaped(value) == "text":
			m.Text = true
		case callback != nil && name == callback.Name:
			if v, err := callback.parse(unescaped(value)); err == nil {
				m.Callback, _ = v.(string)
			}
			callback = nil // the first counts
		}
	}
	return m
}

func (e *Endpoint) callback() *Param {
	if e == nil {
		return nil
	}
	i := slices.IndexFunc(e.Params, func(p *Param) bool { return p.Role == RoleCallback })
	if i < 0 {
		return nil
	}
	return e.Params[i]
}

// unescaped undoes the percent-encoding; what cannot be undone stays.
func unescaped(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	if v, err := url.QueryUnescape(s); err == nil {
		return v
	}
	return s
}

package requestlog

import (
	"fmt"
	"strings"
)

// namedLines is how many unreadable lines are named.
const namedLines = 3

// Counts are the lines of the logs, by what became of them.
type Counts struct {
	Lines    int `json:"lines"`
	Requests int `json:"requests"`
	Fills    int `json:"fills"`
	// Other lines are about something else: other paths, methods and endpoints, and other
	// messages of Sundry.
	Other int `json:"other"`
	// Refused requests were answered without the cache: invalid, limited, shed.
	Refused int `json:"refused"`
	// Future lines are far ahead of now.
	Future int `json:"future"`
	// Keyless lines of Sundry's log are about keys that are not known, by endpoint.
	Keyless map[string]int `json:"keyless"`
	Broken  int            `json:"unreadable"`
	// Unreadable are the first of these.
	Unreadable []string `json:"unreadable_first,omitempty"`
}

// line counts the n-th line of a log, and names it if it could not be read.
func (c *Counts) line(name string, n int, err error) {
	c.Lines++
	if err == nil {
		return
	}
	c.Broken++
	if len(c.Unreadable) < namedLines {
		c.Unreadable = append(c.Unreadable, fmt.Sprintf("%s:%d: %v", name, n, err))
	}
}

// String says how many lines there were of each kind.
func (c *Counts) String() string {
	keyless := 0
	for _, n := range c.Keyless {
		keyless += n
	}
	parts := []string{fmt.Sprintf("%d lines: %d requests, %d fills", c.Lines, c.Requests, c.Fills)}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(c.Other, "about something else")
	add(c.Refused, "refused requests")
	add(keyless, "without a key")
	add(c.Future, "more than a month ahead")
	add(c.Broken, "not readable")
	return strings.Join(parts, ", ")
}

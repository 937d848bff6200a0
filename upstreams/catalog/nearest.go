package catalog

import (
	"strings"

	"sundry/upstreams/declare"
)

// longestGuess bounds, in bytes, the names that a near one is looked for: a flood of long
// ones costs nothing.
const longestGuess = 32

// Nearest is the name that was probably meant by one that is wrong: that of an endpoint or an API, or one
// of the others; "" if none is near.
func (c *Catalog) Nearest(name string, others ...string) string {
	name = strings.ToLower(name)
	if len(name) > longestGuess {
		return ""
	}
	var few [48]string // so many need no memory
	names := few[:0]
	for _, e := range c.Endpoints {
		names = append(names, e.Name)
	}
	for _, a := range c.APIs {
		names = append(names, a.Name)
	}
	return declare.Nearest(name, append(names, others...))
}

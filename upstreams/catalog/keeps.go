package catalog

import "strings"

// Keeps reports whether the entry of a cache key may be kept in a file over a restart: the
// key is one that this catalog makes, of an answer or of a picture that an answer links to.
// Results of steps may be sessions, and are not kept; nor are answers to requests that hold
// what only some know (private), nor those to personal input that Redis must not have
// either (local).
func (c *Catalog) Keeps(key string) bool {
	space, _, _ := strings.Cut(key, ":")
	name, _, _ := strings.Cut(space, "/")
	e, ok := c.Get(name)
	return ok && !e.TakesSecrets() && (!e.Personal() || !e.Policy.Local) && e.chainOf(key) != nil
}

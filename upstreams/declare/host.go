package declare

import "strings"

// HasWideSign reports whether a host has a sign that Chinese input methods put in the place of a colon, a dot or a slash: with it,
// address and port would be looked up as one name.
func HasWideSign(host string) bool { return strings.ContainsAny(host, "：。．／") }

package declare

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Address reads a URL of one of the schemes: with a host, and no query or fragment. A host with a sign that Chinese input
// methods put in the place of a colon, a dot or a slash is none: address and port would be looked up as one name.
func Address(text string, schemes ...string) (u *url.URL, ok bool) {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || strings.ContainsAny(u.Host, "：。．／") ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, false
	}
	if port := u.Port(); port != "" {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return u, err == nil
}

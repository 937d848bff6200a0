package redact

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// credentials are how the names of fields and parameters end that hold credentials.
var credentials = []string{
	"key", "token", "secret", "password", "passwd", "pwd", "auth", "authorization", "cookie", "signature", "sig", "sign", "session", "sid", "jwt", "credential", "credentials",
}

// IsCredential reports whether a field, or a parameter of a query, holds credentials, by its name.
func IsCredential(name string) bool {
	name = lowered(name)
	return slices.ContainsFunc(credentials, func(end string) bool { return strings.HasSuffix(name, end) })
}

// address is a URL without its host. It may be malformed.
type address struct{ user, path, query string }

func parseAddress(text string) (a address, ok bool) {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		rest = text
	}
	rest, a.query, _ = strings.Cut(rest, "?")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		a.user, rest = rest[:i], rest[i+1:]
	}
	_, a.path, _ = strings.Cut(rest, "/")
	return a, ok
}

// credentials returns the password, or else the user, and the values of the parameters that hold credentials.
func (a *address) credentials() (all []string) {
	user, password, _ := strings.Cut(a.user, ":")
	if credential := cmp.Or(password, user); credential != "" {
		all = append(all, credential)
	}
	for pair := range strings.SplitSeq(a.query, "&") {
		if _, value, ok := cutCredential(pair); ok {
			all = append(all, value)
		}
	}
	return all
}

// cutCredential divides a parameter of a query; false if it holds no credentials.
func cutCredential(pair string) (name, value string, ok bool) {
	name, value, _ = strings.Cut(pair, "=")
	plain, err := url.QueryUnescape(name)
	return name, value, err == nil && value != "" && IsCredential(plain)
}

// Query returns a URI without the values of the parameters that hold credentials.
func Query(uri string) string {
	path, query, asked := strings.Cut(uri, "?")
	if !asked {
		return uri
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, _, ok := cutCredential(pair); ok {
			pairs[i] = name + "=***"
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}

// Address returns a URL, which may be malformed, without the credentials that it holds.
func Address(text string) string {
	a, _ := parseAddress(text)
	return New(a.credentials()...).Text(text)
}

package redact

import (
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

// Query returns a URI without the values of the parameters that hold credentials.
func Query(uri string) string {
	path, query, ok := strings.Cut(uri, "?")
	if !ok {
		return uri
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); value != "" && err == nil && IsCredential(plain) {
			pairs[i] = name + "=***"
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}

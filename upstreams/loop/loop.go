// Package loop detects request loops: requests to upstreams carry an ID
// (CDN-Loop, RFC 8586), by which a service that was made to call itself
// recognizes its own requests and refuses them.
package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// Header lists the services that a request has passed through (RFC 8586), in
// the spelling of http.Header. Via would serve as well by RFC 9110, but some
// servers do not compress replies to requests that carry it.
const Header = "Cdn-Loop"

// statusHeader says that an intermediary, not the origin, refused the request
// (RFC 9209).
const statusHeader = "Proxy-Status"

// ID is the identifier of one Sundry service in Header. "" is the zero value:
// requests carry no ID, and callers do not look for one.
type ID string

// prefix begins the IDs of all Sundry services.
const prefix = "sundry-"

// NewID makes the ID of a setting (see CheckID). Without an id it is derived
// from what the instances of a service have in common, whatever machine they run
// on: their host names, in any order, and their base path. The ID is a hash,
// which reveals neither. Services without names and path share one ID.
func NewID(id string, names []string, path string) ID {
	if id == "" {
		sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(names)), " ") + path))
		id = hex.EncodeToString(sum[:6])
	}
	return prefix + ID(id)
}

// In reports whether the ID is in the header's lines: the request has passed
// through this service.
func (id ID) In(lines []string) bool {
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(memberName(member), string(id)) {
				return true
			}
		}
	}
	return false
}

// memberName is a member of the list without its parameters.
func memberName(member string) string {
	name, _, _ := strings.Cut(member, ";")
	return strings.TrimSpace(name)
}

// Refuse marks the response to a request that carries the ID, so that the
// instance that sent it can tell a loop from an ordinary failure.
func (id ID) Refuse(h http.Header) { h[statusHeader] = []string{id.refusal()} }

func (id ID) refusal() string { return string(id) + "; error=proxy_loop_detected" }

// Refused reports whether a response was marked by Refuse. A server that forges
// the ID only causes its own target to be refused.
func (id ID) Refused(h http.Header) bool {
	return id != "" && slices.Contains(h[statusHeader], id.refusal())
}

// maxIDs bounds how many IDs are passed on to an upstream.
const maxIDs = 8

// Marks lists the Sundry services that a request has passed through, for the
// header of the requests that are made for it; "" for none. Marks of others, such
// as a CDN, are left out: RFC 8586 has them on forwarded requests, but a request
// to an upstream is a new one, made for all callers that wait for it.
func Marks(lines []string) string {
	var marks []string
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			name := memberName(member)
			if id, ok := strings.CutPrefix(name, prefix); ok && CheckID(id) && len(marks) < maxIDs {
				marks = append(marks, name)
			}
		}
	}
	return strings.Join(marks, ", ")
}

// CheckID reports whether an id is 1 to 64 letters, digits, dots, hyphens and
// underscores.
func CheckID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

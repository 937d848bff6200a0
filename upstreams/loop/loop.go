// Package loop marks requests, so that a service that is made to call itself
// notices (CDN-Loop, RFC 8586).
package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// Header lists the services that a request has come through (RFC 8586), in
// the spelling of http.Header. Via would do as well by RFC 9110, but there are
// servers that leave out compression for whoever sends it.
const Header = "Cdn-Loop"

// statusHeader says in an answer that an intermediary and not the origin refused
// (RFC 9209).
const statusHeader = "Proxy-Status"

// Mark is how a service like this one is known in LoopHeader.
type Mark string

// loopFamily begins the marks of all services like this one.
const loopFamily = "sundry-"

// NewMark makes the mark of an id, or, where that is "", one of what the
// instances of a service have in common whatever machine they run on: its names
// and its path. That tells neither, and where there are none it is the same for
// all.
func NewMark(id string, names []string, path string) Mark {
	if id == "" {
		sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(names)), " ") + path))
		id = hex.EncodeToString(sum[:6])
	}
	return loopFamily + Mark(id)
}

// Borne tells whether a request has come through the service: its own have.
func (m Mark) Borne(lines []string) bool {
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(loopName(member), string(m)) {
				return true
			}
		}
	}
	return false
}

// loopName is a member without its parameters.
func loopName(member string) string {
	name, _, _ := strings.Cut(member, ";")
	return strings.TrimSpace(name)
}

// Refuse marks the answer to a request that bears the mark, so that the instance
// that sent it knows whose answer it is.
func (m Mark) Refuse(h http.Header) { h[statusHeader] = []string{m.refusal()} }

func (m Mark) refusal() string { return string(m) + "; error=proxy_loop_detected" }

// Refused tells such an answer. Whoever made it up has its own link refused.
func (m Mark) Refused(h http.Header) bool {
	return m != "" && slices.Contains(h[statusHeader], m.refusal())
}

// maxLoop bounds the services like this one that are told of when a request is
// sent on.
const maxLoop = 8

// Of lists the services like this one that a request has come through; ""
// for none. Others, such as the network that a service is delivered by, hear of
// requests that were sent on, which ours are not: many callers wait for one.
func Of(lines []string) string {
	var known []string
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			name := loopName(member)
			if id, ok := strings.CutPrefix(name, loopFamily); ok && CheckID(id) && len(known) < maxLoop {
				known = append(known, name)
			}
		}
	}
	return strings.Join(known, ", ")
}

// CheckID accepts 1 to 64 letters, digits, dots, hyphens and underscores.
func CheckID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

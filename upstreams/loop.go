package upstreams

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// LoopHeader lists the services that a request has come through (RFC 8586), in
// the spelling of http.Header. Via would do as well by RFC 9110, but there are
// servers that leave out compression for whoever sends it.
const LoopHeader = "Cdn-Loop"

// statusHeader says in an answer that an intermediary and not the origin refused
// (RFC 9209).
const statusHeader = "Proxy-Status"

// LoopMark is how a service like this one is known in LoopHeader.
type LoopMark string

// loopFamily begins the marks of all services like this one.
const loopFamily = "sundry-"

// NewLoopMark makes the mark of an id, or, where that is "", one of what the
// instances of a service have in common whatever machine they run on: its names
// and its path. That tells neither, and where there are none it is the same for
// all.
func NewLoopMark(id string, names []string, path string) LoopMark {
	if id == "" {
		sum := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(names)), " ") + path))
		id = hex.EncodeToString(sum[:6])
	}
	return loopFamily + LoopMark(id)
}

// Borne tells whether a request has come through the service: its own have.
func (m LoopMark) Borne(lines []string) bool {
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
func (m LoopMark) Refuse(h http.Header) { h[statusHeader] = []string{m.refusal()} }

func (m LoopMark) refusal() string { return string(m) + "; error=proxy_loop_detected" }

// refused tells such an answer. Whoever made it up has its own link refused.
func (m LoopMark) refused(h http.Header) bool {
	return m != "" && slices.Contains(h[statusHeader], m.refusal())
}

// maxLoop bounds the services like this one that are told of when a request is
// sent on.
const maxLoop = 8

// LoopOf lists the services like this one that a request has come through; ""
// for none. Others, such as the network that a service is delivered by, hear of
// requests that were sent on, which ours are not: many callers wait for one.
func LoopOf(lines []string) string {
	var known []string
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			name := loopName(member)
			if id, ok := strings.CutPrefix(name, loopFamily); ok && CheckLoopID(id) && len(known) < maxLoop {
				known = append(known, name)
			}
		}
	}
	return strings.Join(known, ", ")
}

// CheckLoopID accepts 1 to 64 letters, digits, dots, hyphens and underscores.
func CheckLoopID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

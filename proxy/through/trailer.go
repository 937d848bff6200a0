package through

import (
	"maps"
	"net/http"
	"slices"

	"sundry/cache/web"
)

// notInTrailers are fields that mean something before a body only: who reads them behind one may take them for the header's
// (RFC 9110, section 6.5.1).
var notInTrailers = [...]string{
	"Authorization", "Cache-Control", "Cdn-Loop", "Content-Encoding", "Content-Length", "Content-Range", "Content-Type", "Cookie", "Expect", "Host",
	"Max-Forwards", "Set-Cookie", "Trailer", "Via",
}

// cleanTrailer removes from a trailer what neither clients nor origins may get in one. nil has no fields.
func cleanTrailer(trailer http.Header) {
	web.RemoveConnectionFields(trailer)
	maps.DeleteFunc(trailer, func(name string, _ []string) bool {
		return slices.Contains(notInTrailers[:], name) || isProxys(name) || isDisguised(name) || web.IsRouting(name)
	})
}

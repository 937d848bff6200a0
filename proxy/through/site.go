package through

import (
	"cmp"
	"net"
	"net/http"
	"slices"
	"strings"

	"sundry/cache/web"
	"sundry/proxy/uri"
)

// site is the address at which a client has reached the API, according to a trusted proxy or else to the connection.
type site struct {
	scheme, host string
}

// siteOf returns the site of a request with a Host. secure means that the request came over TLS. proxys are the fields of a trusted proxy; nil
// means that the request did not come through one.
func siteOf(host string, secure bool, proxys web.Fields) site {
	s := site{"http", host}
	if secure {
		s.scheme = "https"
	}
	if proxys == nil {
		return s
	}
	told := toldIn(first(proxys.Lines("Forwarded")))
	scheme := cmp.Or(first(proxys.Lines("X-Forwarded-Proto")), told.scheme)
	if scheme = strings.ToLower(scheme); scheme == "http" || scheme == "https" {
		s.scheme = scheme
	}
	if name := cmp.Or(first(proxys.Lines("X-Forwarded-Host")), told.host); uri.ValidHost(name) {
		s.host = name
	}
	return s
}

// first returns the first member of a list; "" if there is none.
func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	member, _, _ := strings.Cut(lines[0], ",")
	return strings.TrimSpace(member)
}

// toldIn returns the site in an element of Forwarded (RFC 7239, section 4).
func toldIn(element string) (s site) {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "host":
			s.host = value
		case "proto":
			s.scheme = value
		}
	}
	return s
}

// tells says which parts of a site the origin is told.
type tells struct{ host, scheme bool }

// tellsOf returns the tells of an origin. The file of an API may remove the fields, or set them itself.
func tellsOf(s *Settings, origin *Origin) tells {
	sent := func(name string) bool { return !slices.Contains(s.Rules.Replaced, name) }
	t := tells{host: sent("Forwarded") || sent("X-Forwarded-Host"), scheme: sent("Forwarded") || sent("X-Forwarded-Proto")}
	if origin != nil && slices.ContainsFunc(origin.targets, func(t Target) bool { return t.Sent == "" }) {
		t.host = true
	}
	return t
}

// Site returns the site of a request with a Host for web.Selector. It has everything that the origin is told about the address at which the
// client has reached the API. Otherwise, clients of another address would get links to this one. secure means that the request came over
// TLS. proxys are the fields of a trusted proxy; nil means that the request did not come through one.
func (h *Handler) Site(host string, secure bool, proxys web.Fields) string {
	return h.told(siteOf(host, secure, proxys), host)
}

// told returns the Site of requests from a site with a Host.
func (h *Handler) told(s site, host string) string {
	switch {
	case !h.tells.host && !h.tells.scheme:
		return ""
	case !h.tells.host:
		return s.scheme + ":"
	case s.host == host:
		return s.scheme + "://" + host
	}
	return s.scheme + "://" + s.host + " " + host
}

// siteOfRequest returns the site of a request, which has the fields that heard leaves.
func siteOfRequest(r *http.Request, trusted bool) site {
	if !trusted {
		return siteOf(r.Host, r.TLS != nil, nil)
	}
	return siteOf(r.Host, r.TLS != nil, web.FieldsOf(r.Header))
}

// tellSite adds the address of the client, and the site, to the fields for the origin.
func (c *call) tellSite(h http.Header) {
	hops := members(h["X-Forwarded-For"])
	if len(hops) == 0 {
		hops = hopsOf(h["Forwarded"])
	}
	if peer, _, err := net.SplitHostPort(c.r.RemoteAddr); err == nil {
		hops = append(hops, peer)
		h["X-Forwarded-For"] = append(h["X-Forwarded-For"], peer)
	}
	if h["X-Forwarded-Host"] == nil && c.site.host != "" {
		h["X-Forwarded-Host"] = []string{c.site.host}
	}
	if h["X-Forwarded-Proto"] == nil {
		h["X-Forwarded-Proto"] = []string{c.site.scheme}
	}
	if c.Prefix != "" {
		h["X-Forwarded-Prefix"] = []string{strings.TrimSuffix(first(h["X-Forwarded-Prefix"]), "/") + c.Prefix}
	}
	h["Forwarded"] = []string{forwardedOf(hops[max(0, len(hops)-mostHops):], c.site)}
}

// mostHops limits the hops in Forwarded to the last ones.
const mostHops = 20

func members(lines []string) (all []string) {
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			all = append(all, strings.TrimSpace(member))
		}
	}
	return all
}

// hopsOf returns the nodes that the elements of Forwarded have in their for parameter.
func hopsOf(lines []string) (hops []string) {
	for _, element := range members(lines) {
		for pair := range strings.SplitSeq(element, ";") {
			if name, node, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
				hops = append(hops, strings.Trim(node, `"`))
			}
		}
	}
	return hops
}

// forwardedOf returns the value of Forwarded: an element for each hop. The first element has the site.
func forwardedOf(hops []string, s site) string {
	if len(hops) == 0 {
		hops = []string{""} // unknown
	}
	b := make([]byte, 0, 128)
	for i, hop := range hops {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendNode(append(b, "for="...), hop)
		if i > 0 {
			continue
		}
		if s.host != "" {
			b = append(append(append(b, `;host="`...), s.host...), '"')
		}
		b = append(append(b, ";proto="...), s.scheme...)
	}
	return string(b)
}

// appendNode appends an address, with or without a port, as a node of Forwarded (RFC 7239, section 6).
func appendNode(b []byte, hop string) []byte {
	switch address := uri.ParseHop(hop); {
	case !address.IsValid():
		return append(b, "unknown"...)
	case address.Is4():
		return address.AppendTo(b)
	default:
		return append(address.AppendTo(append(b, `"[`...)), `]"`...)
	}
}

package through

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// relocate makes the references of a response lead here, as ProxyPassReverse does: callers need not reach the address that was asked, and
// would get past here. It does not depend on the caller, because responses are stored. Bodies are not changed.
func (h *Handler) relocate(fields http.Header, asked *Target) {
	for _, name := range [...]string{"Location", "Content-Location"} {
		if lines := fields[name]; len(lines) > 0 {
			fields[name] = []string{h.reference(lines[0], asked)}
		}
	}
	changeLines(fields, "Link", func(line string) string { return h.links(line, asked) })
	changeLines(fields, "Refresh", func(line string) string { return h.refresh(line, asked) })
	changeLines(fields, "Set-Cookie", func(line string) string { return h.cookie(line, asked) })
}

func changeLines(fields http.Header, name string, change func(string) string) {
	for i, line := range fields[name] {
		fields[name][i] = change(line)
	}
}

// reference makes a reference to the address that was asked one below this API. One to another scheme or address stays, or who is told to
// use TLS would come back here again and again; so does one without a path, and one that has the prefix already.
func (h *Handler) reference(text string, asked *Target) string {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return text
	}
	isPath := u.Scheme == "" && u.Host == ""
	if isPath && (!strings.HasPrefix(text, "/") || !h.moves(asked)) {
		return text
	}
	place := ""
	if full := asked.URL.ResolveReference(u); !isPath && !asked.isAt(full) {
		if !asked.isCallers(full) {
			return text
		}
		place = full.Scheme + "://" + full.Host // for example with https, which the client is to use
	}
	path, ok := asked.below(cmp.Or(u.EscapedPath(), "/"))
	if ok && h.Prefix != "" && strings.HasPrefix(path, h.Prefix+"/") {
		return text // it knows where callers reach it
	}
	if path = h.Prefix + path; !ok || strings.HasPrefix(path, "//") { // which would be another host
		return text
	}
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		path += "#" + u.EscapedFragment()
	}
	return place + path
}

// moves reports whether callers reach the API at another path than its own.
func (h *Handler) moves(asked *Target) bool {
	return h.Prefix != "" || strings.TrimSuffix(asked.URL.Path, "/") != ""
}

// links changes the targets of a Link (RFC 8288, section 3), which are in angle brackets outside of quoted strings.
func (h *Handler) links(line string, asked *Target) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\' && i+1 < len(line):
			out.WriteByte(c)
			i++
		case c == '"':
			quoted = !quoted
		case c == '<' && !quoted:
			end := strings.IndexByte(line[i:], '>')
			if end < 0 { // nor will there be one later
				out.WriteString(line[i:])
				return out.String()
			}
			out.WriteString("<" + h.reference(line[i+1:i+end], asked))
			i += end
		}
		out.WriteByte(line[i])
	}
	return out.String()
}

// refresh changes the URL of a Refresh (HTML, section 4.2.5.3), such as "5; url=/next".
func (h *Handler) refresh(line string, asked *Target) string {
	at := strings.Index(strings.ToLower(line), "url=")
	if at < 0 || strings.Trim(line[:at], "0123456789.;, \t") != "" {
		return line
	}
	at += len("url=")
	quote, text := "", line[at:]
	if strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'") {
		quote = text[:1]
		text = strings.TrimSuffix(text[1:], quote)
	}
	return line[:at] + quote + h.reference(text, asked) + quote
}

// cookie changes Path and Domain of a Set-Cookie. A Domain of the address that holds for no name of this API is removed, because browsers
// would refuse the cookie; then it is for the name alone that the caller has asked for.
func (h *Handler) cookie(line string, asked *Target) string {
	parts := strings.Split(line, ";")
	kept := parts[:1]
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "path":
			part = " Path=" + h.cookiePath(value, asked)
		case "domain":
			known := func(name string) bool { return isInDomain(name, value) }
			if asked.isIn(value) && (!asked.caller || !known(asked.Sent)) && !slices.ContainsFunc(h.Hosts, known) {
				continue
			}
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ";")
}

// cookiePath is the path of a cookie as callers have it. One above the path of the address is for all of the API.
func (h *Handler) cookiePath(path string, asked *Target) string {
	base := strings.TrimSuffix(asked.URL.Path, "/")
	switch {
	case !strings.HasPrefix(path, "/"), !h.moves(asked), h.Prefix != "" && strings.HasPrefix(path+"/", h.Prefix+"/"):
		return path
	case strings.HasPrefix(base+"/", strings.TrimSuffix(path, "/")+"/"):
		return h.Prefix + "/"
	}
	if rest, ok := strings.CutPrefix(path, base+"/"); ok {
		return h.Prefix + "/" + rest
	}
	return path
}

// isIn reports whether the address is in a domain.
func (t *Target) isIn(domain string) bool {
	return isInDomain(t.URL.Host, domain) || isInDomain(t.Sent, domain)
}

// isInDomain reports whether a Host is that of a domain, or below it (RFC 6265, section 5.1.3).
func isInDomain(host, domain string) bool {
	name := (&url.URL{Host: host}).Hostname()
	name, nameErr := httpguts.PunycodeHostPort(strings.ToLower(name))
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	return nameErr == nil && domain != "" && (name == domain || strings.HasSuffix(name, "."+domain))
}

// destinationAt makes the Destination of a COPY or MOVE (RFC 4918, section 10.3), which has the address by which callers reach this API, one
// at the address that is asked. Another one stays.
func (h *Handler) destinationAt(text, caller string, asked *Target) string {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host != "" && !strings.EqualFold(u.Host, caller) {
		return text
	}
	path := cutPrefix(u.EscapedPath(), h.Prefix)
	if h.Prefix != "" && path == u.EscapedPath() || !strings.HasPrefix(path, "/") {
		return text // it leads elsewhere
	}
	return asked.URL.Scheme + "://" + cmp.Or(asked.Sent, asked.URL.Host) + strings.TrimSuffix(asked.URL.EscapedPath(), "/") + path
}

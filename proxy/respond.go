package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"sundry/cache"
	"sundry/upstreams/catalog"
	"sundry/upstreams/plainjson"
)

// Content types of what the server writes itself.
const (
	contentJSON = "application/json; charset=utf-8"
	contentText = "text/plain; charset=utf-8"
	contentPNG  = "image/png"
	contentSVG  = "image/svg+xml"
)

// privateMax bounds max-age of an answer that depends on the caller's address:
// a mobile client gets another address soon.
const privateMax = time.Minute

// presetHeaders are constant header values, allocated once; nothing may append to
// them.
type presetHeaders struct {
	anyone, nosniff, vary, gzip, zstd, noReferrer, sandbox, script, close, interstitial []string
	text, json, noStore, varyAccept                                                     []string
}

func newPresetHeaders() *presetHeaders {
	return &presetHeaders{
		varyAccept: []string{"Accept"},
		anyone:     []string{"*"}, nosniff: []string{"nosniff"}, vary: []string{"Accept-Encoding"},
		gzip: []string{"gzip"}, zstd: []string{"zstd"}, noReferrer: []string{"no-referrer"},
		sandbox:      []string{"default-src 'none'; style-src 'unsafe-inline'; sandbox"},
		interstitial: []string{"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
		script:       []string{"text/javascript; charset=utf-8"}, close: []string{"close"},
		text: []string{contentText}, json: []string{contentJSON}, noStore: []string{"no-store"},
	}
}

// setCommonHeaders sets the headers that every answer has.
func (s *Server) setCommonHeaders(h http.Header, id string) {
	h["X-Request-Id"], h["X-Content-Type-Options"] = []string{id}, s.preset.nosniff
	h["Access-Control-Allow-Origin"] = s.preset.anyone
}

// headerText collects the header values that differ from answer to answer in one
// buffer, so that they become one string with one allocation.
type headerText struct {
	buf  []byte
	ends [6]int
	n    int
}

func (t *headerText) end() { t.ends[t.n] = len(t.buf); t.n++ }

// respond writes an answer from the cache.
func (s *Server) respond(req *request) (status, sent int) {
	in, rep := &req.in, &req.hit.Rep
	prefix, suffix := "", ""
	switch {
	case in.Callback != "" && in.Form.Kind == "json":
		prefix, suffix = "/**/"+in.Callback+"(", ");"
	case in.Tail != "" && in.Form.Kind == "text":
		suffix = in.Tail + "\n" // after the text's last line
	case in.Form.Kind == "script":
		prefix, suffix = script(in.Selector)
	}
	s.writeHeaders(req.w.Header(), in, &req.hit, req.id, len(prefix)+len(rep.Data)+len(suffix))
	if rep.ETag != "" && rep.Status == http.StatusOK && matches(req.r.Header["If-None-Match"], rep.ETag) {
		delete(req.w.Header(), "Content-Length")
		delete(req.w.Header(), "Content-Type")
		req.begin(http.StatusNotModified)
		return http.StatusNotModified, 0
	}
	req.begin(rep.Status)
	if req.r.Method == http.MethodHead {
		return rep.Status, 0
	}
	if suffix == "" {
		sent, _ = req.w.Write(rep.Data) // a failed write has no reader
		return rep.Status, sent
	}
	sent, _ = req.w.Write([]byte(prefix + string(rep.Data) + suffix))
	return rep.Status, sent
}

// script is what stands around the text of a script form: a call that writes it into
// the page, without leaving a name behind.
func script(selector string) (prefix, suffix string) {
	literal := strings.ReplaceAll(string(plainjson.AppendString(nil, selector)), ">", `\u003e`)
	return "(function(text){var element=document.querySelector(" + literal + ");if(element){element.innerText=text}})(", ");\n"
}

// begin writes the response header.
func (req *request) begin(status int) {
	req.w.WriteHeader(status)
	req.headerSent = true
}

// writeHeaders assigns slices of one array under canonical names: Header.Set would
// canonicalise each name and allocate a slice for each value.
func (s *Server) writeHeaders(h http.Header, in *catalog.Input, hit *cache.Hit, id string, length int) {
	rep := &hit.Rep
	t := headerText{buf: make([]byte, 0, 256)}
	t.buf = appendCacheControl(t.buf, in, hit)
	t.end()
	t.buf = appendCacheStatus(t.buf, hit)
	t.end()
	t.buf = strconv.AppendInt(t.buf, int64(length), 10)
	t.end()
	t.buf = strconv.AppendInt(t.buf, int64(hit.Age/time.Second), 10)
	t.end()
	all := string(t.buf)
	values := [...]string{
		all[:t.ends[0]], all[t.ends[0]:t.ends[1]], all[t.ends[1]:t.ends[2]], all[t.ends[2]:t.ends[3]],
		id, hit.Meta.Source, rep.Type, rep.ETag, rep.Location,
	}
	v := values[:] // one allocation
	h["Cache-Control"], h["Cache-Status"], h["Content-Length"] = v[0:1:1], v[1:2:2], v[2:3:3]
	h["X-Request-Id"] = v[4:5:5]
	h["Access-Control-Allow-Origin"], h["X-Content-Type-Options"] = s.preset.anyone, s.preset.nosniff
	h["Content-Type"] = v[6:7:7]
	if hit.State != cache.Absent {
		h["Age"] = v[3:4:4]
	}
	if hit.Meta.Source != "" {
		h["Sundry-Source"] = v[5:6:6]
	}
	if rep.ETag != "" {
		h["Etag"] = v[7:8:8]
	}
	if rep.Location != "" {
		h["Location"], h["Referrer-Policy"] = v[8:9:9], s.preset.noReferrer
	}
	s.writeVariant(h, in, rep)
}

// writeVariant sets the headers that only some forms and codings have.
func (s *Server) writeVariant(h http.Header, in *catalog.Input, rep *cache.Rep) {
	switch {
	case in.Callback != "" && in.Form.Kind == "json":
		h["Content-Type"] = s.preset.script
	case in.Form.Kind == "interstitial":
		h["Content-Security-Policy"], h["Referrer-Policy"] = s.preset.interstitial, s.preset.noReferrer
	case rep.Type == "image/svg+xml":
		h["Content-Security-Policy"] = s.preset.sandbox
	}
	if rep.Varies {
		h["Vary"] = s.preset.vary
	}
	switch rep.Coding {
	case cache.Gzip:
		h["Content-Encoding"] = s.preset.gzip
	case cache.Zstd:
		h["Content-Encoding"] = s.preset.zstd
	case cache.Identity:
	}
}

// appendCacheControl says for how long downstream caches may store the answer. A
// random answer is not stored; one that depends on the caller's address is private
// and short-lived.
func appendCacheControl(b []byte, in *catalog.Input, hit *cache.Hit) []byte {
	if in.Form.Pool || hit.State == cache.Absent {
		return append(b, "no-store"...)
	}
	b = appendMaxAge(b, in, hit)
	if in.Private {
		return b
	}
	p := in.Endpoint().Policy
	b = appendStale(b, ", stale-while-revalidate=", p.Grace, hit)
	return appendStale(b, ", stale-if-error=", p.StaleIfError, hit)
}

// appendNegativeControl is the same for a negative answer, which must not be used
// once it is stale.
func appendNegativeControl(b []byte, in *catalog.Input, hit *cache.Hit) []byte {
	if hit.State == cache.Absent || hit.Left <= 0 {
		return append(b, "no-store"...)
	}
	return appendMaxAge(b, in, hit)
}

// appendMaxAge appends public or private, and max-age.
func appendMaxAge(b []byte, in *catalog.Input, hit *cache.Hit) []byte {
	left := hit.Left
	if in.Private {
		b, left = append(b, "private, max-age="...), min(left, privateMax)
	} else {
		b = append(b, "public, max-age="...)
	}
	return strconv.AppendInt(b, lifetime(hit.Age, left), 10)
}

// lifetime is the freshness lifetime in seconds (RFC 9111, 4.2): minus Age it is
// the time that remains, or nothing once the answer is stale. Age and the rest are
// rounded down separately, as Age is in its header, so that no cache counts a
// second too many.
func lifetime(age, left time.Duration) int64 {
	if left < 0 {
		return int64(max(0, age+left) / time.Second)
	}
	return int64(age/time.Second) + int64(left/time.Second)
}

// appendStale says how long a stale answer may be used: not after its content
// expires, as signed links do.
func appendStale(b []byte, directive string, span time.Duration, hit *cache.Hit) []byte {
	if end := hit.Meta.Expires; !end.IsZero() {
		span = min(span, end.Sub(hit.Meta.Created)-hit.Age-hit.Left)
	}
	if span < time.Second {
		return b
	}
	return strconv.AppendInt(append(b, directive...), int64(span/time.Second), 10)
}

// appendCacheStatus says how the cache came to the answer (RFC 9211). A parameter
// of our own marks answers of a last_resort source.
func appendCacheStatus(b []byte, hit *cache.Hit) []byte {
	b = appendForward(append(b, "sundry; "...), hit)
	if hit.State != cache.Absent {
		b = strconv.AppendInt(append(b, "; ttl="...), int64(hit.Left/time.Second), 10)
		if hit.Tier != cache.Upstream {
			b = append(append(b, "; detail="...), hit.Tier.String()...)
		}
	}
	if hit.Meta.LastResort {
		b = append(b, "; sundry-last-resort"...)
	}
	return b
}

// appendForward says whether upstreams were asked, and why (fwd).
func appendForward(b []byte, hit *cache.Hit) []byte {
	switch {
	case hit.State == cache.Absent:
		b = append(b, "fwd=bypass"...)
	case hit.Failed != nil:
		b = append(b, "fwd=stale"...)
	case hit.Tier == cache.Upstream:
		if hit.Refreshed {
			b = append(b, "fwd=stale"...)
		} else {
			b = append(b, "fwd=uri-miss"...)
		}
		if hit.Stored {
			b = append(b, "; stored"...)
		}
		if hit.Coalesced {
			b = append(b, "; collapsed"...)
		}
	default:
		b = append(b, "hit"...)
	}
	return b
}

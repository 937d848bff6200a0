package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/proxy/express"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
)

// Content types of what the server writes itself.
const (
	contentJSON   = "application/json; charset=utf-8"
	contentText   = "text/plain; charset=utf-8"
	contentPNG    = "image/png"
	contentSVG    = "image/svg+xml"
	contentScript = "text/javascript; charset=utf-8"
)

// privateMax bounds max-age of an answer that depends on the caller's address:
// a mobile client gets another address soon.
const privateMax = time.Minute

// Content security policies: of pictures that could hold a script, and of the page
// that shows where a link leads.
const (
	sandboxPolicy      = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
	interstitialPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// presetHeaders are constant header values, allocated once; nothing may append to
// them.
type presetHeaders struct {
	anyone, nosniff, vary, sandbox, script, close []string
	text, json, noStore                           []string
	varyAccept, varyLanguage, varyAcceptLanguage  []string
	languages                                     [2][]string // Content-Language, by language
}

func newPresetHeaders() *presetHeaders {
	return &presetHeaders{
		varyAccept: []string{"Accept"}, varyLanguage: []string{"Accept-Language"}, varyAcceptLanguage: []string{"Accept, Accept-Language"},
		languages: [2][]string{i18n.English: {i18n.English.Tag()}, i18n.Chinese: {i18n.Chinese.Tag()}},
		anyone:    []string{"*"}, nosniff: []string{"nosniff"}, vary: []string{"Accept-Encoding"},
		sandbox: []string{sandboxPolicy}, script: []string{contentScript}, close: []string{"close"},
		text: []string{contentText}, json: []string{contentJSON}, noStore: []string{"no-store"},
	}
}

// setCommonHeaders sets the headers that every answer has.
func (s *Server) setCommonHeaders(h http.Header, id string) {
	h["X-Request-Id"], h["X-Content-Type-Options"] = []string{id}, s.preset.nosniff
	h["Access-Control-Allow-Origin"] = s.preset.anyone
}

// reply is an answer from the cache as it goes to the caller.
type reply struct {
	status int
	head   head
	body   wrapped // what GET gets; without one, answers to HEAD and 304 have none
}

// compose makes the reply to a request for in, of which found is what the cache has.
// The two may not change before it is written.
func (rp *reply) compose(in *catalog.Input, found *cache.Answer, id requestID, ifNoneMatch []string) {
	rep := &found.Rep
	rp.status = rep.Status
	rp.head.reset()
	rp.body.wrap(in, rep.Data)
	rp.head.describe(in, found, id, rp.body.length())
	if rep.ETag != "" && rep.Status == http.StatusOK && matches(ifNoneMatch, rep.ETag) {
		rp.status = http.StatusNotModified
		rp.head.drop(fieldContentLength)
		rp.head.drop(fieldContentType)
	}
}

// appendTo appends the reply byte for byte as net/http writes it, with the line of the
// field Date, for a GET or HEAD request. What is to follow is rest.
func (rp *reply) appendTo(b []byte, date string, head bool) (joined, rest []byte) {
	b = strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(rp.status), 10)
	b = append(append(append(b, ' '), http.StatusText(rp.status)...), "\r\n"...)
	b = append(append(rp.head.appendTo(b), date...), "\r\n"...)
	if head || rp.status == http.StatusNotModified {
		return b, nil
	}
	return rp.body.join(b)
}

// respond writes an answer from the cache, unless the client has too many others that it has not read: then it fails with
// express.ErrUnsent.
func (s *Server) respond(req *request) error {
	var rp reply
	rp.compose(req.in, &req.answer, req.id, req.r.Header["If-None-Match"])
	hasBody := rp.status != http.StatusNotModified && req.r.Method != http.MethodHead
	if data := rp.body.data; hasBody {
		if err := s.cfg.Unsent.Hold(req.clientID(), data); err != nil {
			return fmt.Errorf("body of %d bytes: %w", len(data), err)
		}
		defer s.cfg.Unsent.Release(req.clientID(), data)
	}
	req.route.settings.limiter.describe(&rp.head, &req.allowed)
	rp.head.setOn(req.w.Header())
	req.status = rp.status
	req.begin(rp.status)
	if hasBody {
		req.sent = rp.body.writeTo(req.w)
	}
	return nil
}

// wrapped is a body with what stands around it for this request alone: a JSONP call,
// a script, a tail.
type wrapped struct {
	before, after [3]string
	data          []byte
}

func (b *wrapped) wrap(in *catalog.Input, data []byte) {
	*b = wrapped{data: data}
	switch {
	case in.Callback != "" && in.Form.Kind == "json":
		b.before, b.after[0] = [3]string{"/**/", in.Callback, "("}, ");"
	case in.Tail != "" && in.Form.Kind == "text":
		b.after = [3]string{in.Tail, "\n"} // after the text's last line
	case in.Form.Kind == "script":
		b.before, b.after[0] = script(in.Selector), ");\n"
	}
}

// script is what stands before the text of a script form: a call that writes it into
// the page, without leaving a name behind.
func script(selector string) [3]string {
	literal := strings.ReplaceAll(string(plainjson.AppendString(nil, selector)), ">", `\u003e`)
	return [3]string{"(function(text){var element=document.querySelector(", literal, ");if(element){element.innerText=text}})("}
}

func (b *wrapped) length() int {
	n := len(b.data)
	for i := range b.before {
		n += len(b.before[i]) + len(b.after[i])
	}
	return n
}

// WriteTimeout is what the server of this handler has for an answer, and each piece of a large one.
const WriteTimeout = time.Minute

// writeTo writes the parts one after the other: net/http gathers them.
func (b *wrapped) writeTo(w http.ResponseWriter) (sent int) {
	sent = writeStrings(w, &b.before)
	n, _ := express.Write(w, b.data, WriteTimeout) // a failed write has no reader
	return sent + n + writeStrings(w, &b.after)
}

// join appends the same to a buffer, without the data if they come last: those are rest.
func (b *wrapped) join(buf []byte) (joined, rest []byte) {
	buf = appendStrings(buf, &b.before)
	if b.after == [3]string{} {
		return buf, b.data
	}
	return appendStrings(append(buf, b.data...), &b.after), nil
}

func appendStrings(buf []byte, parts *[3]string) []byte {
	for _, part := range parts {
		buf = append(buf, part...)
	}
	return buf
}

func writeStrings(w http.ResponseWriter, parts *[3]string) (sent int) {
	for _, part := range parts {
		if part != "" {
			n, _ := io.WriteString(w, part) // a failed write has no reader
			sent += n
		}
	}
	return sent
}

// begin writes the response header.
func (req *request) begin(status int) {
	req.w.WriteHeader(status)
	req.headerSent = true
}

// describe sets the fields of an answer whose body has that length.
func (h *head) describe(in *catalog.Input, found *cache.Answer, id requestID, length int) {
	rep := &found.Rep
	h.put(fieldAllowOrigin, "*")
	h.put(fieldContentTypeOptions, "nosniff")
	if id.given != "" {
		h.put(fieldRequestID, id.given)
	} else {
		h.end(fieldRequestID, id.appendTo(h.begin()))
	}
	h.end(fieldCacheControl, appendCacheControl(h.begin(), in, found))
	h.end(fieldCacheStatus, appendCacheStatus(h.begin(), found))
	h.end(fieldContentLength, strconv.AppendInt(h.begin(), int64(length), 10))
	if found.State != policy.Absent {
		h.end(fieldAge, strconv.AppendInt(h.begin(), int64(found.Age/time.Second), 10))
	}
	h.put(fieldContentType, rep.Type)
	if found.Meta.Source != "" {
		h.put(fieldSource, found.Meta.Source)
	}
	if rep.ETag != "" {
		h.put(fieldETag, rep.ETag)
	}
	if rep.Location != "" {
		h.put(fieldLocation, rep.Location)
		h.put(fieldReferrerPolicy, "no-referrer")
	}
	h.describeVariant(in, rep)
}

// describeVariant sets the fields that only some forms and codings have.
func (h *head) describeVariant(in *catalog.Input, rep *entry.Rep) {
	switch {
	case in.Callback != "" && in.Form.Kind == "json":
		h.put(fieldContentType, contentScript)
	case in.Form.Kind == "interstitial":
		h.put(fieldContentSecurityPolicy, interstitialPolicy)
		h.put(fieldReferrerPolicy, "no-referrer")
	case rep.Type == contentSVG:
		h.put(fieldContentSecurityPolicy, sandboxPolicy)
	}
	switch byLanguage := in.Form.English != nil; {
	case rep.Varies && byLanguage:
		h.put(fieldVary, "Accept-Encoding, Accept-Language")
	case rep.Varies:
		h.put(fieldVary, "Accept-Encoding")
	case byLanguage:
		h.put(fieldVary, "Accept-Language")
	}
	if rep.Coding != entry.Identity {
		h.put(fieldContentEncoding, rep.Coding.String())
	}
}

// appendCacheControl says for how long downstream caches may store the answer. A
// random answer is not stored; one that depends on the caller's address is private
// and short-lived.
func appendCacheControl(b []byte, in *catalog.Input, answer *cache.Answer) []byte {
	if in.Form.Pool || answer.State == policy.Absent {
		return append(b, "no-store"...)
	}
	b = appendMaxAge(b, in, answer)
	if in.Private {
		return b
	}
	p := in.Endpoint.Policy
	b = appendStale(b, ", stale-while-revalidate=", p.Grace, answer)
	return appendStale(b, ", stale-if-error=", p.StaleIfError, answer)
}

// appendNegativeControl is the same for a negative answer, which must not be used
// once it is stale.
func appendNegativeControl(b []byte, in *catalog.Input, answer *cache.Answer) []byte {
	if answer.State == policy.Absent || answer.Left <= 0 {
		return append(b, "no-store"...)
	}
	return appendMaxAge(b, in, answer)
}

// appendMaxAge appends public or private, and max-age.
func appendMaxAge(b []byte, in *catalog.Input, answer *cache.Answer) []byte {
	left := answer.Left
	if in.Private {
		b, left = append(b, "private, max-age="...), min(left, privateMax)
	} else {
		b = append(b, "public, max-age="...)
	}
	return strconv.AppendInt(b, lifetime(answer.Age, left), 10)
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
func appendStale(b []byte, directive string, span time.Duration, answer *cache.Answer) []byte {
	if end := answer.Meta.Expires; !end.IsZero() {
		span = min(span, end.Sub(answer.Meta.Created)-answer.Age-answer.Left)
	}
	if span < time.Second {
		return b
	}
	return strconv.AppendInt(append(b, directive...), int64(span/time.Second), 10)
}

// appendCacheStatus says how the cache came to the answer (RFC 9211). A parameter
// of our own marks answers of a last_resort source.
func appendCacheStatus(b []byte, answer *cache.Answer) []byte {
	b = appendForward(append(b, "sundry; "...), answer)
	if answer.State != policy.Absent {
		b = strconv.AppendInt(append(b, "; ttl="...), int64(answer.Left/time.Second), 10)
		if answer.Tier != cache.Upstream {
			b = append(append(b, "; detail="...), answer.Tier.String()...)
		}
	}
	if answer.Meta.LastResort {
		b = append(b, "; sundry-last-resort"...)
	}
	return b
}

// appendForward says whether upstreams were asked, and why (fwd).
func appendForward(b []byte, answer *cache.Answer) []byte {
	switch {
	case answer.State == policy.Absent:
		b = append(b, "fwd=bypass"...)
	case answer.Failed != nil:
		b = append(b, "fwd=stale"...)
	case answer.Tier == cache.Upstream:
		if answer.Refreshed {
			b = append(b, "fwd=stale"...)
		} else {
			b = append(b, "fwd=uri-miss"...)
		}
		if answer.Stored {
			b = append(b, "; stored"...)
		}
		if answer.Coalesced {
			b = append(b, "; collapsed"...)
		}
	default:
		b = append(b, "hit"...)
	}
	return b
}

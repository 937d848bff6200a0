package through

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"sundry/cache/web"
)

// Deciding are the request fields by which something else than a fresh response may be the answer, or another one.
func Deciding() []string {
	return []string{"Cache-Control", "Pragma", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Authorization"}
}

// Ready appends the head of an answer that lies ready, byte for byte as net/http writes it, and returns it with the body, which
// must not be changed. The request is a GET or HEAD of target, its path and query, and has none of the fields Deciding;
// selects, which heeds those of web.Routing that IsHeard, says whether it selects a response, and whether it can tell; its selector is
// that of Selector. false: ServeHTTP answers it.
func (h *Handler) Ready(buf []byte, target string, selects func(*web.Object) (yes, known bool), now time.Time) (head, body []byte, r Result, ok bool) {
	o := h.store.Ready(h.Name+target, &h.Rules, now, selects)
	if o == nil || http.StatusText(o.Status) == "" || o.Header["Content-Length"] == nil {
		return buf, nil, r, false
	}
	made, ok := o.Made.Load().(*madeHead)
	if !ok {
		made = h.makeHead(o, now)
		o.Made.Store(made)
	}
	r = Result{Cache: web.CacheStatus{Hit: true, TTL: o.Left(now)}, Code: o.Status, Age: o.Age(now)}
	buf = append(buf, made.untilAge...)
	buf = strconv.AppendInt(buf, int64(r.Age/time.Second), 10)
	buf = append(buf, made.untilTTL...)
	buf = strconv.AppendInt(buf, int64(r.Cache.TTL/time.Second), 10)
	return append(buf, made.rest...), o.Body, r, true
}

// Selector is the store's for a request, of which routed are the fields of web.Routing that it has.
func (h *Handler) Selector(request web.Fields, routed []string) web.Selector {
	return h.store.SelectorOf(request, routed, &h.Rules)
}

// madeHead is the head of an answer that is reused, around its age and the time for which it is still fresh.
type madeHead struct{ untilAge, untilTTL, rest []byte }

// makeHead writes the head as net/http does, with the fields in the order of their names. It fits the body by construction.
func (h *Handler) makeHead(o *web.Object, now time.Time) *madeHead {
	fields := http.Header{}
	h.setFields(fields, o, true, now)
	web.RemoveConnectionFields(fields)
	maps.DeleteFunc(fields, func(name string, _ []string) bool { return http.CanonicalHeaderKey(name) != name })
	fields["Content-Length"] = []string{strconv.Itoa(len(o.Body))} // whatever the object says
	const mark = "0"
	fields["Age"] = []string{mark}
	status := web.CacheStatus{Hit: true, Detail: "memory"}
	fields["Cache-Status"] = append(slices.Clip(fields["Cache-Status"]), status.String())
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(o.Status) + " " + http.StatusText(o.Status) + "\r\n")
	m := &madeHead{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		_ = http.Header{name: fields[name]}.Write(&b) // a buffer takes everything
		switch name {
		case "Age":
			m.untilAge = bytes.Clone(bytes.TrimSuffix(b.Bytes(), []byte(mark+"\r\n")))
			b.Reset()
			b.WriteString("\r\n")
		case "Cache-Status":
			at := bytes.LastIndex(b.Bytes(), []byte("ttl=")) + len("ttl=")
			m.untilTTL = bytes.Clone(b.Bytes()[:at])
			rest := bytes.Clone(b.Bytes()[at+len(mark):])
			b.Reset()
			b.Write(rest)
		}
	}
	b.WriteString("\r\n")
	m.rest = b.Bytes()
	return m
}

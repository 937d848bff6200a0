package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Range is a range of bytes, the last one included.
type Range struct{ First, Last int64 }

// Length is how many bytes it has.
func (r Range) Length() int64 { return r.Last - r.First + 1 }

// ContentRange is how a response says which part of how many bytes it has; total -1: it is not known.
func (r Range) ContentRange(total int64) string {
	if total < 0 {
		return fmt.Sprintf("bytes %d-%d/*", r.First, r.Last)
	}
	return fmt.Sprintf("bytes %d-%d/%d", r.First, r.Last, total)
}

// Wanted is the one range that a request asks for, as it says it (RFC 9110, section 14.1.2).
type Wanted struct {
	First int64 // -1: the last bytes, Last of them
	Last  int64 // -1: to the end
}

func (w Wanted) suffix() bool { return w.First < 0 }

// WantedRange reads the Range of a request. false: there is none, or it is of several or invalid: then the whole is sent,
// which every caller understands (RFC 9110, section 14.2).
func WantedRange(h http.Header) (w Wanted, ok bool) {
	lines := h["Range"]
	if len(lines) != 1 {
		return w, false
	}
	set, ok := strings.CutPrefix(lines[0], "bytes=")
	from, to, dash := strings.Cut(strings.TrimSpace(set), "-")
	if !ok || !dash || strings.Contains(set, ",") {
		return w, false
	}
	first, hasFirst := digits(from)
	last, hasLast := digits(to)
	switch {
	case hasFirst && hasLast && first <= last:
		return Wanted{First: first, Last: last}, true
	case hasFirst && to == "":
		return Wanted{First: first, Last: -1}, true
	case from == "" && hasLast:
		return Wanted{First: -1, Last: last}, true
	}
	return w, false
}

func digits(s string) (n int64, ok bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// Of is the range of a body of that length; false: it has none of it, and the answer is 416.
func (w Wanted) Of(total int64) (r Range, ok bool) {
	switch {
	case w.suffix() && w.Last > 0 && total > 0:
		return Range{max(0, total-w.Last), total - 1}, true
	case w.suffix(), w.First >= total:
		return Range{}, false
	case w.Last < 0:
		return Range{w.First, total - 1}, true
	}
	return Range{w.First, min(w.Last, total-1)}, true
}

// Part is what of a body is stored.
type Part struct {
	Range
	Total int64 // of the whole body; -1: not known
	// ToEnd: by its own account it reaches to the end of the whole, even if it came with fewer bytes than it says.
	ToEnd bool
	// Elsewhere means that it begins elsewhere than the range that was requested.
	Elsewhere bool
	said      int64 // its last byte by that account
}

// StoredPart is what a 206 holds that came with this many bytes: they lie from its first one on, whatever number
// Content-Range promises. false: it cannot be told.
func StoredPart(h http.Header, length int64) (p Part, ok bool) {
	spec, ok := strings.CutPrefix(h.Get("Content-Range"), "bytes ")
	span, total, slash := strings.Cut(spec, "/")
	from, to, dash := strings.Cut(span, "-")
	first, okFirst := digits(from)
	last, okLast := digits(to)
	if !ok || !slash || !dash || !okFirst || !okLast || first > last || length <= 0 || first > math.MaxInt64-length {
		return p, false
	}
	p = Part{Range: Range{first, first + length - 1}, Total: -1, said: last}
	if total != "*" {
		var known bool
		if p.Total, known = digits(total); !known || p.Last >= p.Total {
			return p, false
		}
		p.ToEnd = last == p.Total-1
	}
	return p, true
}

// IsWholePart reports whether a 206 that came with this many bytes has as many as its Content-Range promises.
func IsWholePart(h http.Header, length int64) bool {
	p, ok := StoredPart(h, length)
	return ok && p.Last == p.said
}

// Holds reports whether the part has all of a range that a request asks for, and which that is. What reaches to the end is
// what the part has up to there.
func (p Part) Holds(w Wanted) (r Range, ok bool) {
	switch {
	case w.suffix() && p.ToEnd:
		r = Range{p.Last - w.Last + 1, p.Last}
	case w.suffix(), w.Last < 0 && !p.ToEnd:
		return r, false
	case w.Last < 0:
		r = Range{w.First, p.Last}
	case p.ToEnd:
		r = Range{w.First, min(w.Last, p.Last)}
	default:
		r = Range(w)
	}
	return r, p.First <= r.First && r.First <= r.Last && r.Last <= p.Last
}

// BeginsElsewhere reports whether a part begins elsewhere than the range that its request asks for.
func (p Part) BeginsElsewhere(request http.Header) bool {
	wanted, ranged := WantedRange(request)
	r, ok := wanted.Of(p.Total)
	return ranged && ok && r.First != p.First
}

// contains reports whether a part has all of another range.
func (p Part) contains(r Range) bool { return p.First <= r.First && r.Last <= p.Last }

// IsCompletable reports whether a request for the rest of a body, of which the object has the beginning, is as good as one for all of it.
// The rest is of use with a strong ETag alone (RFC 9111, section 3.4). Without one, an origin that gives the range that is requested would
// have to be asked twice; one that does not may give all of it.
func (o *Object) IsCompletable() bool {
	return o.Part.First == 0 && o.Part.Last+1 < o.Part.Total && (isStrong(o.Tag()) || o.Part.Elsewhere)
}

// PartAnswers reports whether a stored part has what a request asks for, and may be sent to it.
func (o *Object) PartAnswers(request http.Header) bool {
	wanted, ranged := WantedRange(request)
	_, holds := o.Part.Holds(wanted)
	return ranged && holds && IfRange(request, o.Header)
}

// IfRange reports whether a range of a stored response may be sent to a request: it has no If-Range, or one that is that
// response's strong tag or its date (RFC 9110, section 13.1.5).
func IfRange(request, stored http.Header) bool {
	line, ok := first(request, "If-Range")
	if !ok {
		return true
	}
	if tag := stored.Get("Etag"); strings.HasSuffix(line, `"`) {
		return isStrong(line) && line == tag
	}
	return line == stored.Get("Last-Modified") && line != "" && stored["Content-Encoding"] == nil // or the same date is that of other bytes
}

// Continues reports whether a 206 is the rest that was asked for of a body with this tag, up to its end if rest.Last is -1,
// and of that many bytes unless total is -1. Only a strong tag says that it is the same body (RFC 9111, section 3.4).
func Continues(tag string, rest Range, total int64, next http.Header) bool {
	p, ok := StoredPart(next, 1)
	if !ok || p.First != rest.First || !isStrong(tag) || next.Get("Etag") != tag || total >= 0 && p.Total != total {
		return false
	}
	return rest.Last < 0 && p.ToEnd || rest.Last >= 0 && p.said == rest.Last
}

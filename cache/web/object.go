package web

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sundry/cache/clients"
)

// Object is a stored response. It is never changed; what a validation says makes another one.
type Object struct {
	Response
	Terms
	// Names are the request fields that select it. Selected are the values of those that its request had: normalised, or as a digest.
	Names    []string
	Selected map[string]string
	// Site is the site of its request (see Selector). Only requests with the same site select the response.
	Site string
	Body []byte
	// Part is what of the whole the body is; nil: all of it.
	Part *Part
	Tags []string
	// Groups are the cache groups that the response is in (RFC 9875).
	Groups []string
	// Made is what who serves it makes of it, once.
	Made atomic.Value
	// selecting is the key of Site and Selected.
	selecting string
	// hash is that of the key of its URI and of selecting, once it is stored.
	hash uint64
	// client is the one whose request stored it here.
	client clients.ID
	origin string // see Rules
	// outage is the number of the last outage in which it was not marked as far as a look tells (see Missed).
	outage atomic.Int64
	// inGroups is the number of changes of groupPurges that are known not to concern the response.
	inGroups atomic.Int64
	// failed is when its validation last failed, in nanoseconds of Unix; 0: it has not.
	failed atomic.Int64
	// outdated: see Outdate.
	outdated atomic.Bool
}

// Outdate notes that the origin gave another response when it was validated, which is not kept. So none takes its place, and it is not
// served for as long as that takes any more; it still is where the origin is in trouble.
func (o *Object) Outdate() { o.outdated.Store(true) }

// Judge is Terms.Judge, and heeds Outdate.
func (o *Object) Judge(request *Directives, now time.Time) Verdict {
	v := o.Terms.Judge(request, now)
	if v == ReuseAndRefresh && o.outdated.Load() && !request.OnlyIfCached {
		return Validate
	}
	return v
}

// restTime is how long an object rests whose validation has failed.
const restTime = time.Second

// Failed notes that its validation has failed.
func (o *Object) Failed(now time.Time) { o.failed.Store(now.UnixNano()) }

// Rests reports whether its validation failed a moment ago, so that an origin in trouble need not be asked again already.
func (o *Object) Rests(now time.Time) bool {
	failed := o.failed.Load()
	return failed != 0 && now.Sub(time.Unix(0, failed)) < restTime
}

// clone is a copy that may be changed until it is stored.
func (o *Object) clone() *Object {
	return &Object{Response: o.Response, Terms: o.Terms, Names: o.Names, Selected: o.Selected, Site: o.Site, Body: o.Body, Part: o.Part, Tags: o.Tags, Groups: o.Groups, selecting: o.selecting, hash: o.hash, client: o.client, origin: o.origin}
}

// With is the object with its body, which is a part of the whole unless that is nil. A whole one says how long it is.
func (o *Object) With(body []byte, part *Part) *Object {
	next := o.clone()
	next.Body, next.Part = body, part
	if _, told := o.Header["Content-Length"]; !told && part == nil && bodyAllowed(o.Status) {
		next.Header = maps.Clone(o.Header)
		next.Header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	return next
}

func bodyAllowed(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified
}

// ForAll is the object without the fields of one caller, which are not kept.
func (o *Object) ForAll() *Object {
	if len(o.PrivateFields) == 0 {
		return o
	}
	next := o.clone()
	next.Header = o.Header.Clone()
	remove(next.Header, o.PrivateFields)
	return next
}

// overhead is what an object takes beside its bytes.
const overhead = 600

// Weight is how many bytes of memory it takes, about.
func (o *Object) Weight() int {
	n := overhead + len(o.Body) + len(o.selecting)
	for _, names := range [...][]string{o.Tags, o.Groups} {
		for _, name := range names {
			n += len(name) + 16
		}
	}
	for name, value := range o.Selected {
		n += len(name) + len(value) + 40
	}
	for name, lines := range o.Header { // twice, because of what is made of it
		n += 2 * (len(name) + 40)
		for _, line := range lines {
			n += 2 * (len(line) + 16)
		}
	}
	return n
}

// asInJSON is a text as JSON keeps it, which has no octets that are no UTF-8.
func asInJSON(text string) string { return string([]rune(text)) }

// NewObject makes the object of a response to a request, whose header it takes over, without what may not be kept.
func NewObject(r *Response, t *Terms, request *Selector, rules *Rules) *Object {
	names, _ := varyFields(r.Header, rules.Ignored) // with an error it is not storable
	o := &Object{Response: *r, Terms: *t, Names: withRouting(names, request.routed), Site: request.Site, client: request.Client, origin: rules.Origin, Groups: GroupsIn(r.Header["Cache-Groups"])}
	RemoveConnectionFields(o.Header)
	delete(o.Header, "Age")
	o.Selected = request.selected(o.Names)
	o.selecting = o.keyFor(o.Names)
	for _, name := range rules.Tags {
		for _, m := range r.Header[name] {
			o.Tags = append(o.Tags, strings.FieldsFunc(asInJSON(m), func(c rune) bool { return c == ',' || c == ' ' })...)
		}
		delete(o.Header, name)
	}
	return o
}

// keyFor returns the key of the request for which the object was sent.
func (o *Object) keyFor(names []string) string {
	return selectingKey(o.Site, names, func(name string) (string, bool) {
		text, ok := o.Selected[name]
		return text, ok
	})
}

// covers reports whether the request for which another object was sent selects this one.
func (o *Object) covers(other *Object) bool {
	for name := range other.Selected {
		if IsRouting(name) && !slices.Contains(o.Names, name) {
			return false
		}
	}
	return other.keyFor(o.Names) == o.selecting // which includes the site
}

// Tag is its entity tag; "": it has none.
func (o *Object) Tag() string { return o.Header.Get("Etag") }

// keepsOut reports whether an object keeps out an older one that it covers. A part keeps out no more than what it has, or a whole of
// another version: who asks for parts again and again would else keep out what takes longer to arrive.
func (o *Object) keepsOut(older *Object) bool {
	switch {
	case o.Part == nil:
		return true
	case older.Part == nil:
		return differ(o.Tag(), older.Tag()) || differ(o.Header.Get("Last-Modified"), older.Header.Get("Last-Modified"))
	}
	return o.Part.contains(older.Part.Range)
}

// differ reports whether both of two validators are there, and are not the same.
func differ(one, other string) bool { return one != "" && other != "" && one != other }

// Resumes reports whether its origin gives the rest of the same body to who has its beginning: it says that it has ranges
// (RFC 9110, section 14.3), and by a strong tag what they are of.
func (o *Object) Resumes() bool {
	return isStrong(o.Tag()) && strings.EqualFold(o.Header.Get("Accept-Ranges"), "bytes")
}

// Variants are the stored responses of one URI, the newest first. They are never changed.
type Variants []*Object

// Of are the variants that were kept under the same Origin: after a reload others may be there until all are purged, or be found in Redis
// by a request that began before.
func (v Variants) Of(rules *Rules) Variants {
	another := func(o *Object) bool { return o.origin != rules.Origin }
	if !slices.ContainsFunc(v, another) {
		return v
	}
	return slices.DeleteFunc(slices.Clone(v), another)
}

// Select returns the variant that answers a request: the newest that it selects, or with languages one in the language that it
// prefers; nil if there is none. A part that does not have what is requested is only selected if there is nothing else.
func (v Variants) Select(request *Selector, languages bool) *Object {
	o := v.first(request, (*Selector).Selects)
	if o == nil && languages {
		o = v.first(request, (*Selector).prefersLanguageOf)
	}
	return o
}

func (v Variants) first(request *Selector, selects func(*Selector, *Object) bool) (part *Object) {
	for _, o := range v {
		switch {
		case !selects(request, o):
		case o.Part == nil || o.PartAnswers(http.Header{"Range": request.fields.Lines("Range"), "If-Range": request.fields.Lines("If-Range")}):
			return o
		case part == nil:
			part = o
		}
	}
	return part
}

// Tags returns the ETags of the variants that an origin may name in the response to a request that selects none of them, each once.
func (v Variants) Tags(request *Selector) []string {
	var tags []string
	for _, o := range v {
		if tag := o.Tag(); request.mayGet(o) && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// Tagged returns the variant that an origin has named by its ETag; nil if there is none.
func (v Variants) Tagged(tag string, request *Selector) *Object {
	for _, o := range v {
		if o.Tag() == tag && request.mayGet(o) {
			return o
		}
	}
	return nil
}

// mayGet reports whether an origin may name a variant for a request that does not select it. It must be complete, and have a strong and
// short ETag: a weak one is often that of each coding. Many origins compare ETags before they choose a coding or write links, so the
// coding, the site and the routing fields must be the same.
func (s *Selector) mayGet(o *Object) bool {
	const longest = 200
	another := func(name string) bool { return (name == codingField || IsRouting(name)) && !s.agrees(o, name) }
	return o.Part == nil && isStrong(o.Tag()) && len(o.Tag()) <= longest && o.Site == s.Site && containsAll(o.Names, s.routed) &&
		!slices.ContainsFunc(o.Names, another)
}

// mostSites is the limit for the variants of all sites, in multiples of that for one site.
const mostSites = 20

// With returns the variants with o in the place of those that it replaces. It keeps at most that many of a site, and at most that many
// bytes unless o alone has more.
func (v Variants) With(o *Object, most int, bytes int64) Variants {
	next := Variants{o}
	for _, old := range v {
		if !o.replaces(old) {
			next = append(next, old)
		}
	}
	one := func(*Object) int { return 1 }
	ofSite := func(old *Object) bool { return old.Site == o.Site }
	for next.count(ofSite) > most {
		next = next.evict(ofSite, one)
	}
	for len(next) > most*mostSites {
		next = next.evict(all, one)
	}
	for len(next) > 1 && int64(next.Weight()) > bytes {
		next = next.evict(all, (*Object).Weight)
	}
	return next
}

// replaces reports whether the same requests select both objects, and this one has all of the other.
func (o *Object) replaces(old *Object) bool {
	return slices.Equal(old.Names, o.Names) && old.selecting == o.selecting && (o.Part == nil || old.Part != nil && o.Part.contains(old.Part.Range))
}

func all(*Object) bool { return true }

func (v Variants) count(among func(*Object) bool) (n int) {
	for _, o := range v {
		if among(o) {
			n++
		}
	}
	return n
}

// evict removes one of the objects that among accepts, but never the first object: the oldest object of the client with the largest size in
// total. So no client evicts the objects of others by many requests of its own. among must accept an object besides the first.
func (v Variants) evict(among func(*Object) bool, size func(*Object) int) Variants {
	sizes := map[clients.ID]int{}
	for _, o := range v {
		if among(o) {
			sizes[o.client] += size(o)
		}
	}
	last := 0
	for i := len(v) - 1; i > 0; i-- {
		if among(v[i]) && (last == 0 || sizes[v[i].client] > sizes[v[last].client]) {
			last = i
		}
	}
	return slices.Delete(v, last, last+1)
}

// Weight is that of all.
func (v Variants) Weight() int {
	n := 0
	for _, o := range v {
		n += o.Weight()
	}
	return n
}

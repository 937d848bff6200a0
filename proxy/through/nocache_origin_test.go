package through

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sundry/cache/web"
)

// terms are what a response of the origin says about caching, and what that means: nothing is read by who judges.
type terms struct {
	control                         string
	lifetime, staleWhile, staleIf   time.Duration
	explicit                        bool // or the lifetime follows from Last-Modified
	never                           bool // stored
	noCache, must, shared, sharedIf bool // s-maxage; storable for a caller with Authorization
	private, noCacheField           bool // of the fields X-P, X-C
}

const sec = time.Second

// allTerms are those that resources have.
func allTerms() []terms {
	return []terms{
		{control: "max-age=5", lifetime: 5 * sec, explicit: true},
		{control: "max-age=2, stale-while-revalidate=4", lifetime: 2 * sec, staleWhile: 4 * sec, explicit: true},
		{control: "max-age=2, stale-if-error=10", lifetime: 2 * sec, staleIf: 10 * sec, explicit: true},
		{control: "max-age=60, s-maxage=3", lifetime: 3 * sec, explicit: true, shared: true, sharedIf: true},
		{control: "max-age=5, no-cache", lifetime: 5 * sec, explicit: true, noCache: true},
		{control: "max-age=5, no-store", never: true},
		{control: "max-age=5, private", never: true},
		{control: "max-age=2, must-revalidate", lifetime: 2 * sec, explicit: true, must: true, sharedIf: true},
		{control: "max-age=2, proxy-revalidate, stale-if-error=10", lifetime: 2 * sec, explicit: true, must: true, staleIf: 10 * sec},
		{control: ""},
		{control: "public, max-age=60, immutable", lifetime: 60 * sec, explicit: true, sharedIf: true},
		{control: "max-age=0", explicit: true},
		{control: `max-age=4, private="x-p"`, lifetime: 4 * sec, explicit: true, private: true},
		{control: `max-age=4, no-cache="x-c"`, lifetime: 4 * sec, explicit: true, noCacheField: true},
		{control: "max-age=100", lifetime: 100 * sec, explicit: true},
	}
}

// resource is what the origin has at a path. Its version changes.
type resource struct {
	terms
	tag     string // "", strong, weak
	dated   bool
	varies  []string
	star    bool
	age     int
	status  int
	ranges  bool
	length  bool // the length is told
	version int
}

func (r *resource) etag(variant string) string {
	t := fmt.Sprintf(`"%d-%s"`, r.version, variant)
	if r.tag == "weak" {
		return "W/" + t
	}
	return t
}

// sent is a response that the origin has given, and to what.
type sent struct {
	resource
	id, asker    int // asker is the number of the caller's request
	path, method string
	request      http.Header
	code         int
	header       http.Header
	whole, body  string
	language     string
	asked, known time.Time
	first        time.Time // asked, but where net/http has asked again over another connection
}

// versioned is an origin whose resources change, and which remembers all that it has said.
type versioned struct {
	mu        sync.Mutex
	resources map[string]*resource
	log       []*sent
	mode      byte                      // how it fails; 0: not at all
	slow      time.Duration             // before the head
	drip      time.Duration             // before the body
	troubles  map[string][][2]time.Time // from when to when it failed or was slow
	dropped   map[string]time.Time      // when a caller's request first came that got no answer
}

// language is what the origin takes a preference for.
func language(h http.Header) string {
	switch h.Get("Accept-Language") {
	case "fr", "FR":
		return "fr"
	}
	return "en"
}

// trouble notes that a request is in trouble until ended is called.
func (o *versioned) trouble(path string) (ended func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	began, at := time.Now(), len(o.troubles[path])
	o.troubles[path] = append(o.troubles[path], [2]time.Time{began, began.Add(time.Hour)})
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.troubles[path][at][1] = time.Now()
	}
}

// Modes in which the origin fails.
const (
	modeDrops = 1 + iota
	mode503
	modeCuts
	modes
)

func (o *versioned) serve(w http.ResponseWriter, r *http.Request) {
	asked := time.Now()
	o.mu.Lock()
	mode, slow, drip := o.mode, o.slow, o.drip
	o.mu.Unlock()
	if slow >= patience || mode != 0 {
		defer o.trouble(r.URL.Path)()
	}
	time.Sleep(slow)
	if mode == modeDrops {
		o.drop(r.Header.Get("X-Req"), asked)
	}
	s := o.answer(r, asked, mode)
	maps.Copy(w.Header(), s.header)
	w.WriteHeader(s.code)
	if s.body == "" || r.Method == http.MethodHead {
		return
	}
	half := len(s.body) / 2
	fmt.Fprint(w, s.body[:half])
	if !s.length || drip > 0 || mode == modeCuts {
		_ = http.NewResponseController(w).Flush()
		time.Sleep(drip)
	}
	if mode == modeCuts {
		panic(http.ErrAbortHandler)
	}
	fmt.Fprint(w, s.body[half:])
}

// drop gives no answer.
func (o *versioned) drop(asker string, asked time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, again := o.dropped[asker]; !again {
		o.dropped[asker] = asked
	}
	panic(http.ErrAbortHandler)
}

// answer makes a response, and remembers it.
func (o *versioned) answer(r *http.Request, asked time.Time, mode byte) *sent {
	o.mu.Lock()
	defer o.mu.Unlock()
	res := o.resources[r.URL.Path]
	unsafe := r.Method != http.MethodGet && r.Method != http.MethodHead
	if unsafe && mode == 0 {
		res.version++
	}
	asker, _ := strconv.Atoi(r.Header.Get("X-Req"))
	s := &sent{resource: *res, id: len(o.log) + 1, asker: asker, path: r.URL.Path, method: r.Method, request: r.Header.Clone(), asked: asked, known: time.Now(), first: asked, language: language(r.Header)}
	if first, again := o.dropped[r.Header.Get("X-Req")]; again {
		s.first = first
	}
	o.log = append(o.log, s)
	h := http.Header{"X-Id": {strconv.Itoa(s.id)}}
	s.header = h
	if mode == mode503 {
		s.code, s.body = http.StatusServiceUnavailable, "trouble"
		return s
	}
	if s.code = http.StatusNoContent; unsafe {
		return s
	}
	s.represent(r)
	return s
}

// represent makes the response to a GET or HEAD.
func (s *sent) represent(r *http.Request) {
	h, variant := s.header, ""
	if slices.Contains(s.varies, "Accept-Language") {
		h.Set("Content-Language", s.language)
		variant += s.language
	}
	if slices.Contains(s.varies, "X-A") {
		variant += strings.Join(r.Header["X-A"], "")
	}
	for name, value := range map[string]string{"Cache-Control": s.control, "Vary": strings.Join(s.varies, ", ")} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if s.star {
		h.Set("Vary", "*")
	}
	if s.age > 0 {
		h.Set("Age", strconv.Itoa(s.age))
	}
	if s.tag != "" {
		h.Set("Etag", s.etag(variant))
	}
	if s.dated {
		h.Set("Last-Modified", s.modified())
	}
	s.code = s.status
	if s.status == http.StatusOK && s.unchanged(r) {
		s.code = http.StatusNotModified
		return
	}
	if r.Method == http.MethodGet {
		h.Set("X-Full", strconv.Itoa(s.id))
		h.Set("X-P", strconv.Itoa(s.asker))
		h.Set("X-C", strconv.Itoa(s.asker))
	}
	s.body = fmt.Sprintf("%s in version %d for %s", s.path, s.version, variant)
	s.whole = s.body
	if s.length {
		h.Set("Content-Length", strconv.Itoa(len(s.body)))
	}
	wanted, ranged := web.WantedRange(r.Header)
	if !ranged || !s.ranges || s.status != http.StatusOK || r.Method != http.MethodGet || r.Header.Get("If-Range") != "" && r.Header.Get("If-Range") != h.Get("Etag") {
		return
	}
	if part, ok := wanted.Of(int64(len(s.body))); ok {
		s.code = http.StatusPartialContent
		h.Set("Content-Range", part.ContentRange(int64(len(s.body))))
		h.Set("Content-Length", strconv.FormatInt(part.Length(), 10))
		s.body = s.body[part.First : part.Last+1]
	}
}

// modified is when a version began: each at another second, about an hour before all.
func (r *resource) modified() string {
	return time.Date(1999, 12, 31, 23, 0, r.version, 0, time.UTC).Format(http.TimeFormat)
}

// unchanged reports whether the conditions of a request say that its sender has it.
func (s *sent) unchanged(r *http.Request) bool {
	if tags := r.Header.Get("If-None-Match"); tags != "" {
		return s.tag != "" && slices.Contains(strings.Split(tags, ", "), s.header.Get("Etag")) || tags == "*"
	}
	return s.dated && r.Header.Get("If-Modified-Since") == s.header.Get("Last-Modified")
}

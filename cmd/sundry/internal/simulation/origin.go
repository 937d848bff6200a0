package simulation

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// originAddress is where the sources and the origin of the API are.
const originAddress = "10.0.0.2:80"

// load is one call that the origin answered, or is answering.
type load struct {
	number   int
	target   string // the path with its query, and the language of the variant
	began    time.Time
	ended    time.Time // zero while it goes on
	status   int
	given    bool // a complete response of status 200
	instance string
}

// origin is what the sources and the API of the fleet answer with. What it does is a function of the seed, the target and how many
// calls there were for it, so that a schedule can be shortened while all else remains.
type origin struct {
	seed uint64
	mu   sync.Mutex
	// loads has the loads by their number, which begins at 1.
	loads  []*load
	counts map[string]int
	down   bool
}

// behaviour is how long a call takes, and what it returns.
type behaviour struct {
	takes  time.Duration
	status int
	empty  bool // the body lacks what it should have
}

// behave returns what becomes of a call, by its hash.
func behave(h uint64) behaviour {
	b := behaviour{takes: time.Duration(5+h%60) * time.Millisecond, status: http.StatusOK}
	switch h >> 8 % 100 {
	case 0, 1, 2, 3:
		b.takes = time.Duration(500+h>>20%2500) * time.Millisecond
	case 4, 5:
		b.takes = 8 * time.Second // beyond every time-out
	}
	switch h >> 40 % 100 {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		b.status = http.StatusInternalServerError
	case 8, 9, 10:
		b.status = http.StatusNotFound
	case 11, 12:
		b.empty = true
	}
	return b
}

func (o *origin) begin(target, instance string) (*load, behaviour) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.counts[target]++
	hash := fnv.New64a()
	_, _ = fmt.Fprint(hash, o.seed, " ", target, " ", o.counts[target])
	b := behave(mix(hash.Sum64()))
	if o.down {
		b.status, b.empty = http.StatusServiceUnavailable, false
	}
	l := &load{number: len(o.loads) + 1, target: target, began: time.Now(), instance: instance}
	o.loads = append(o.loads, l)
	return l, b
}

// mix spreads a hash over all bits.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func (o *origin) end(l *load, status int, given bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l.ended, l.status, l.given = time.Now(), status, given
}

// cutOff reports whether a load of an instance was cut off in the second before a time, or goes on.
func (o *origin) cutOff(instance string, at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.loads, func(l *load) bool {
		return l.instance == instance && l.status == 0 && (l.ended.IsZero() || l.ended.After(at.Add(-time.Second)))
	})
}

// ServeHTTP implements http.Handler.
func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.WriteHeader(http.StatusNoContent) // an unsafe request, which changes what the target has
		return
	}
	target := r.URL.RequestURI()
	if lang := r.Header.Get("Accept-Language"); lang != "" && isAPI(r.URL.Path) {
		target += " " + lang
	}
	l, b := o.begin(target, r.RemoteAddr)
	select {
	case <-time.After(b.takes):
	case <-r.Context().Done():
		o.end(l, 0, false)
		return
	}
	o.end(l, b.status, b.status == http.StatusOK && !b.empty)
	answer(w, r, l, b)
}

// isAPI reports whether a path is that of the API, not of a source.
func isAPI(path string) bool { return len(path) > 3 && path[:3] == "/p/" }

// isRated reports whether a target is one of the endpoint whose source has a rate.
func isRated(target string) bool { return strings.HasPrefix(target, "/rated") }

// answer writes the response of a load.
func answer(w http.ResponseWriter, r *http.Request, l *load, b behaviour) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if isAPI(r.URL.Path) && b.status == http.StatusOK {
		maxAge := map[string]string{"1": "5", "2": "20", "3": "60"}[r.URL.Path[len("/p/"):]]
		h.Set("Cache-Control", "max-age="+maxAge+", stale-while-revalidate=10, stale-if-error=30")
		h.Set("Vary", "Accept-Language")
		h.Set("Cache-Tag", "t"+r.URL.Path[len("/p/"):])
	}
	w.WriteHeader(b.status)
	switch {
	case b.empty:
		_, _ = fmt.Fprint(w, `{}`)
	case b.status == http.StatusOK:
		_, _ = fmt.Fprintf(w, `{"id":%q,"load":%d}`, r.URL.Query().Get("id"), l.number) //nolint:gosec // JSON
	}
}

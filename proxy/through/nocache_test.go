package through

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/web"
	"sundry/upstreams/lib/longtest"
)

// question is a request of a caller, and what the judge of its answer has to know.
type question struct {
	method, path            string
	lines                   []string
	language, a             string // as it selects; "-": the field is not there
	control                 string
	maxAge, minFresh, stale time.Duration // -1: not asked for
	noCache, noStore, only  bool
	authorized, conditional bool
	asker                   int
	start, end              time.Time
	purged                  time.Time // the last purge of its path, or success of an unsafe method, before it
	softened                time.Time // the last soft one
}

// game is a sequence of what callers, the origin and the time do. The cache is right if each answer is one that the origin
// has given, and that may be given now.
type game struct {
	t        *testing.T
	s        *world
	origin   *versioned
	mu       sync.Mutex
	purged   map[string]time.Time
	softened map[string]time.Time
	asked    int
	hits     int
	story    []string
	all      sync.WaitGroup
}

// moves are bytes that say what happens; without more of them all are 0.
type moves struct{ rest []byte }

func (m *moves) next(n int) int {
	if len(m.rest) == 0 {
		return 0
	}
	b := int(m.rest[0])
	m.rest = m.rest[1:]
	return b % n
}

func (m *moves) resource(all []terms) *resource {
	return &resource{
		terms: all[m.next(len(all))], tag: []string{"", "strong", "weak"}[m.next(3)], dated: m.next(2) == 1,
		varies: [][]string{nil, nil, {"Accept-Language"}, {"X-A"}, {"Accept-Language", "X-A"}}[m.next(5)], star: m.next(12) == 11,
		age: []int{0, 0, 0, 1, 100}[m.next(5)], status: []int{200, 200, 200, 404, 301}[m.next(5)], ranges: m.next(2) == 1, length: m.next(2) == 1, version: 1,
	}
}

// play plays a game, and returns how many answers were given without the origin.
func play(t *testing.T, data []byte) (hits int) {
	m := &moves{data}
	g := &game{t: t, origin: &versioned{resources: map[string]*resource{}, troubles: map[string][][2]time.Time{}, dropped: map[string]time.Time{}}, purged: map[string]time.Time{}, softened: map[string]time.Time{}}
	for i := range 3 {
		g.origin.resources[fmt.Sprint("/", i)] = m.resource(allTerms())
	}
	g.s = newWorld(t, g.origin.serve, func(s *Settings) { s.Rules.Languages, s.Idle = true, time.Hour })
	for n := 0; len(m.rest) > 0 && n < 60; n++ {
		time.Sleep(time.Millisecond)
		g.move(m)
	}
	g.all.Wait()
	time.Sleep(time.Minute) // what goes on behind the callers ends
	if t.Failed() {
		for path, r := range g.origin.resources {
			t.Logf("%s: %+v", path, *r)
		}
		t.Log(strings.Join(g.story, "\n"))
	}
	return g.hits
}

func (g *game) tell(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.story = append(g.story, time.Now().Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

// move is one move.
func (g *game) move(m *moves) {
	path := fmt.Sprint("/", m.next(3))
	switch kind := m.next(20); kind {
	case 10, 11:
		g.ask(g.question(m, http.MethodHead, path))
	case 12:
		q := g.question(m, []string{http.MethodPut, http.MethodPost, http.MethodDelete, "PATCH"}[m.next(4)], path)
		q.lines = q.lines[:1] // who asks
		g.ask(q)
	case 13, 14:
		d := []time.Duration{500 * time.Millisecond, sec, 1500 * time.Millisecond, 2 * sec, 3 * sec, 6 * sec, 20 * sec, 100 * sec}[m.next(8)]
		g.tell("%s pass", d)
		time.Sleep(d)
	case 15:
		g.tell("%s has another version", path)
		g.origin.mu.Lock()
		g.origin.resources[path].version++
		g.origin.mu.Unlock()
	case 16:
		g.purge(m, path)
	case 17:
		g.origin.mu.Lock()
		g.origin.mode = byte(m.next(modes))
		g.origin.slow = []time.Duration{0, 0, 500 * time.Millisecond, 1500 * time.Millisecond, 8 * sec}[m.next(5)]
		g.origin.drip = []time.Duration{0, 0, sec, 4 * sec}[m.next(4)]
		text := fmt.Sprintf("the origin is in mode %d, takes %s and %s", g.origin.mode, g.origin.slow, g.origin.drip)
		g.origin.mu.Unlock()
		g.tell("%s", text)
	case 18, 19:
		q := g.question(m, http.MethodGet, path)
		g.all.Go(func() { g.ask(q) })
		synctest.Wait()
	default:
		g.ask(g.question(m, http.MethodGet, path))
	}
}

func (g *game) purge(m *moves, path string) {
	p := web.Purge{At: time.Now(), Key: g.s.h.Name + path, Soft: m.next(2) == 1}
	if m.next(4) == 0 {
		p.Key, p.Prefix = "", g.s.h.Name+"/"
	}
	g.tell("purge %q %q, soft %v", p.Key, p.Prefix, p.Soft)
	g.s.store.Purge(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	for other := range g.origin.resources {
		if p.Key == "" || other == path {
			if p.Soft {
				g.softened[other] = p.At
			} else {
				g.purged[other] = p.At
			}
		}
	}
}

// question makes a request.
func (g *game) question(m *moves, method, path string) *question {
	g.asked++
	q := &question{method: method, path: path, language: "-", a: "-", maxAge: -1, minFresh: -1, stale: -1, asker: g.asked}
	add := func(name, value string) { q.lines = append(q.lines, name+": "+value) }
	add("X-Req", strconv.Itoa(q.asker))
	if l := m.next(8); l < 5 {
		add("Accept-Language", []string{"en", "fr", "FR", "en, fr;q=0.5", "fr;q=0.5,en"}[l])
		q.language = []string{"en", "fr", "fr", "both", "both"}[l]
	}
	if a := m.next(4); a < 2 {
		q.a = strconv.Itoa(a)
		add("X-A", q.a)
	}
	if c := m.next(20); c < 8 {
		q.control = []string{"no-cache", "max-age=0", "max-age=2", "min-fresh=1", "max-stale", "max-stale=3", "no-store", "only-if-cached"}[c]
		add("Cache-Control", q.control)
		switch c {
		case 0:
			q.noCache = true
		case 1, 2:
			q.maxAge = time.Duration(c-1) * 2 * sec
		case 3:
			q.minFresh = sec
		case 4, 5:
			q.stale = []time.Duration{time.Hour * 1000, 3 * sec}[c-4]
		case 6:
			q.noStore = true
		case 7:
			q.only = true
		}
	}
	g.condition(m, q, add)
	if m.next(10) == 9 {
		q.authorized = true
		add("Authorization", "x")
	}
	return q
}

// condition makes a request conditional, or one for a part, by what its resource is now or was before.
func (g *game) condition(m *moves, q *question, add func(name, value string)) {
	g.origin.mu.Lock()
	defer g.origin.mu.Unlock()
	now := *g.origin.resources[q.path]
	now.version -= m.next(2)
	switch m.next(16) {
	case 0:
		add("If-None-Match", now.etag(""))
	case 1:
		add("If-None-Match", now.etag("en"))
	case 2:
		add("If-None-Match", "*")
	case 3:
		add("If-Modified-Since", now.modified())
	case 4, 5, 6:
		add("Range", []string{"bytes=0-4", "bytes=5-", "bytes=-3", "bytes=1000-", "bytes=2-9"}[m.next(5)])
	case 7:
		add("Range", "bytes=2-9")
		add("If-Range", now.etag(""))
	default:
		return
	}
	q.conditional = true
}

// ask makes a request and judges its answer.
func (g *game) ask(q *question) {
	q.start = time.Now()
	g.mu.Lock()
	q.purged, q.softened = g.purged[q.path], g.softened[q.path]
	g.mu.Unlock()
	a := g.s.ask(q.method, q.path, "", q.lines...)
	q.end = time.Now()
	why := g.judge(q, &a)
	text := fmt.Sprintf("%s %s %v from %s: %d %q %v %v", q.method, q.path, q.lines, q.start.Format("04:05.000"), a.status, a.body, a.header, a.err)
	g.tell("%s", text)
	if why != nil {
		g.t.Errorf("%v\n%s", why, text)
	}
	if q.method != http.MethodGet && q.method != http.MethodHead && a.status >= 200 && a.status < 400 {
		g.mu.Lock()
		g.purged[q.path] = q.end
		g.mu.Unlock()
	}
}

// judge says what is wrong with an answer; nil: nothing.
func (g *game) judge(q *question, a *asked) error {
	g.origin.mu.Lock()
	defer g.origin.mu.Unlock()
	troubled := slices.ContainsFunc(g.origin.troubles[q.path], func(at [2]time.Time) bool {
		return !at[1].Before(q.start.Add(-sec)) && !at[0].After(q.end)
	})
	id, _ := strconv.Atoi(a.header.Get("X-Id"))
	switch {
	case a.err != nil || a.status == http.StatusBadGateway:
		if !troubled {
			return fmt.Errorf("an error without a reason")
		}
		return nil
	case a.status == http.StatusGatewayTimeout && id == 0:
		if !q.only {
			return errors.New("the origin was not asked")
		}
		return nil
	case id < 1 || id > len(g.origin.log):
		return errors.New("the origin has not said that")
	}
	said := g.origin.log[id-1]
	if said.path != q.path {
		return errors.New("another resource's")
	}
	if said.asker != q.asker {
		g.hits++
		if why := q.mayHave(said, a, troubled); why != nil {
			return fmt.Errorf("of %s, known %s: %w", said.asked.Format("04:05.000"), said.known.Format("04:05.000"), why)
		}
	}
	return q.isWhat(said, a, g.origin.log)
}

// mayHave says why a response to another request may not be the answer to this one.
func (q *question) mayHave(said *sent, a *asked, troubled bool) error {
	t := said.terms
	if said.control == "" && said.dated {
		modified, _ := time.Parse(http.TimeFormat, said.modified())
		t.lifetime = min(time.Hour, said.known.Truncate(sec).Sub(modified)/10)
	}
	switch {
	case q.method != http.MethodGet && q.method != http.MethodHead, said.method != http.MethodGet && said.method != http.MethodHead:
		return errors.New("a method is not answered for another one")
	case said.code == http.StatusServiceUnavailable:
		return errors.New("trouble is not kept")
	case t.never, t.noCache, said.star:
		return errors.New("it is for nobody else")
	case strings.Contains(strings.Join(said.request["Cache-Control"], ""), "no-store"):
		return errors.New("it was not to be stored")
	case said.request["Authorization"] != nil && !t.sharedIf:
		return errors.New("it is for the authorized only")
	case !t.explicit && said.status == http.StatusServiceUnavailable:
		return errors.New("nothing lets it be stored")
	case !q.selects(said):
		return errors.New("another variant's")
	case !said.asked.After(q.purged) && !q.purged.IsZero():
		return errors.New("it was purged")
	case t.private && a.header["X-P"] != nil, t.noCacheField && a.header["X-C"] != nil:
		return errors.New("a field of another caller")
	}
	return q.isFresh(said, &t, a, troubled)
}

// selects reports whether a request selects a response, as the origin sees it.
func (q *question) selects(said *sent) bool {
	a := "-"
	if lines, ok := said.request["X-A"]; ok {
		a = lines[0]
	}
	if slices.Contains(said.varies, "X-A") && q.a != a {
		return false
	}
	if !slices.Contains(said.varies, "Accept-Language") {
		return true
	}
	as := map[string]string{"": "-", "en": "en", "fr": "fr", "FR": "fr", "en, fr;q=0.5": "both", "fr;q=0.5,en": "both"}[said.request.Get("Accept-Language")]
	prefers := map[string]string{"-": "", "both": "en"}
	likes, ok := prefers[q.language]
	if !ok {
		likes = q.language
	}
	return as == q.language || likes == said.language
}

// isFresh says why a response may not be reused now.
func (q *question) isFresh(said *sent, t *terms, a *asked, troubled bool) error {
	born := said.known.Add(-said.known.Sub(said.asked) - time.Duration(said.age)*sec)
	if lines, ok := a.header["Age"]; ok {
		age, err := strconv.Atoi(lines[0])
		if least, most := int(q.start.Sub(born)/sec), int(q.end.Sub(born.Add(said.first.Sub(said.asked)))/sec); err != nil || age < least || age > most {
			return fmt.Errorf("its age is %d to %d", least, most)
		}
	} else if q.start.After(said.known) {
		return errors.New("its age is not told")
	}
	if !q.start.After(said.known) && t.lifetime > time.Duration(said.age)*sec {
		return nil // they have waited together
	}
	lifetime := t.lifetime
	if !said.asked.After(q.softened) && !q.softened.IsZero() {
		lifetime = min(lifetime, q.softened.Sub(born))
	}
	left, stale := lifetime-q.start.Sub(born), q.end.Sub(born)-lifetime
	strict := q.noCache || q.maxAge >= 0 && q.start.Sub(born) > q.maxAge || q.minFresh >= 0 && left < q.minFresh
	switch {
	case left > 0 && !strict, t.control == "public, max-age=60, immutable" && left > 0 && !q.noCache && q.minFresh < 0:
		return nil
	case left > 0 && troubled:
		return nil
	case t.must:
		return errors.New("it must be validated")
	case !strict && !t.shared && q.stale >= 0 && -left <= q.stale:
		return nil
	case !strict && stale-q.end.Sub(q.start) < t.staleWhile:
		return nil
	case troubled && t.staleIf > 0:
		if stale-q.end.Sub(q.start) < t.staleIf {
			return nil
		}
	case troubled && !t.shared:
		return nil
	}
	return fmt.Errorf("it is stale since %s", stale)
}

// isWhat says why an answer is not what the origin has said, for this request.
func (q *question) isWhat(said *sent, a *asked, log []*sent) error {
	if q.method != http.MethodGet && q.method != http.MethodHead || said.code == http.StatusServiceUnavailable {
		if a.status != said.code || q.method != http.MethodHead && a.body != said.body {
			return errors.New("the origin has said something else")
		}
		return nil
	}
	if a.header.Get("Etag") != said.header.Get("Etag") && a.status != http.StatusRequestedRangeNotSatisfiable || a.header.Get("Cache-Control") != said.control {
		return errors.New("fields of something else")
	}
	if a.status == http.StatusNotModified {
		if said.status == http.StatusOK && q.has(said) {
			return nil
		}
		return errors.New("the caller has something else")
	}
	whole := said
	if id, _ := strconv.Atoi(a.header.Get("X-Full")); q.method == http.MethodGet {
		if id < 1 || id > len(log) {
			return errors.New("of nothing that the origin has sent")
		}
		whole = log[id-1]
		if whole.path != q.path || whole.version != said.version {
			return fmt.Errorf("version %d with what was said of %d", whole.version, said.version)
		}
	}
	return q.isBody(whole, a)
}

// has reports whether a request's conditions are met by a response.
func (q *question) has(said *sent) bool {
	for _, line := range q.lines {
		if tags, ok := strings.CutPrefix(line, "If-None-Match: "); ok {
			return tags == "*" || said.tag != "" && strings.TrimPrefix(tags, "W/") == strings.TrimPrefix(said.header.Get("Etag"), "W/")
		}
	}
	for _, line := range q.lines {
		if text, ok := strings.CutPrefix(line, "If-Modified-Since: "); ok {
			since, _ := time.Parse(http.TimeFormat, text)
			modified, _ := time.Parse(http.TimeFormat, said.modified())
			return said.dated && !modified.After(since)
		}
	}
	return false
}

// isBody says why a body is not that of a response, or the part of it that was asked for.
func (q *question) isBody(whole *sent, a *asked) error {
	var first, last, total int
	body := whole.whole
	switch {
	case a.status == http.StatusRequestedRangeNotSatisfiable:
		if a.header.Get("Content-Range") != fmt.Sprintf("bytes */%d", len(body)) || !strings.Contains(strings.Join(q.lines, " "), "=1000-") {
			return errors.New("there is such a range")
		}
		return nil
	case a.status == http.StatusPartialContent:
		_, err := fmt.Sscanf(a.header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
		if err != nil || total != len(body) || first > last || last >= total {
			return errors.New("no such range")
		}
		if wanted, ok := web.WantedRange(http.Header{"Range": {q.ranges()}}); ok {
			if r, ok := wanted.Of(int64(total)); ok && r.First == int64(first) && r.Last == int64(last) && a.body == body[first:last+1] {
				return nil
			}
		}
		return errors.New("another part")
	case a.status != whole.status:
		return errors.New("another status")
	case q.method == http.MethodHead:
		return nil
	case a.body != body:
		return fmt.Errorf("another body than %q", body)
	}
	return nil
}

func (q *question) ranges() string {
	for _, line := range q.lines {
		if r, ok := strings.CutPrefix(line, "Range: "); ok {
			return r
		}
	}
	return ""
}

// FuzzAgainstNoCache plays games in which each answer must be one that the origin has given, and that HTTP allows to give now.
func FuzzAgainstNoCache(f *testing.F) {
	longtest.NotShort(f, "it takes a second")
	for n := range 150 {
		f.Add(seed(n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1000 {
			return
		}
		synctest.Test(t, func(t *testing.T) { play(t, data) })
	})
}

// seed is a game, always the same.
func seed(n int) []byte {
	b, x := make([]byte, 400), uint64(n)*0x9e3779b97f4a7c15+1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x >> 32)
	}
	return b
}

// TestGamesHaveHits: a cache that keeps nothing is always right.
func TestGamesHaveHits(t *testing.T) {
	hits := 0
	for n := range 50 {
		synctest.Test(t, func(t *testing.T) { hits += play(t, seed(n)) })
	}
	if hits < 200 {
		t.Errorf("%d answers without the origin in 50 games", hits)
	}
}

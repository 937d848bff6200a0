package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// sessions is an upstream that answers to whoever is logged in.
type sessions struct {
	*httptest.Server
	single bool // a login ends the session before
	lasts  int  // calls that a session is good for; 0: until expire

	mu       sync.Mutex
	calls    map[string]int // of the sessions that are good
	logins   int
	needless int // logins while a session was good
	wave     *wave
}

// wave holds refusals back until so many callers are refused, and the last of them until
// the others have their answers.
type wave struct {
	callers     int64
	refused     atomic.Int64
	all, others chan struct{}
}

func newSessions(t *testing.T, single bool, lasts int) *sessions {
	t.Helper()
	s := &sessions{single: single, lasts: lasts, calls: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/login", s.login)
	mux.HandleFunc("/call", s.call)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *sessions) login(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) > 0 {
		s.needless++
	}
	if s.single {
		clear(s.calls)
	}
	s.logins++
	session := fmt.Sprintf("s%d", s.logins)
	s.calls[session] = 0
	_, _ = fmt.Fprintf(w, `{"session":%q}`, session)
}

func (s *sessions) call(w http.ResponseWriter, r *http.Request) {
	if s.accepts(r.FormValue("session")) {
		_, _ = fmt.Fprintf(w, `{"code":0,"id":%q}`, r.FormValue("id"))
		return
	}
	s.mu.Lock()
	held := s.wave
	s.mu.Unlock()
	held.hold(r.Context().Done())
	_, _ = io.WriteString(w, `{"code":-101}`)
}

// accepts counts a call of a session, if that is good.
func (s *sessions) accepts(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, good := s.calls[session]
	if !good {
		return false
	}
	if s.calls[session] = n + 1; n+1 == s.lasts {
		delete(s.calls, session)
	}
	return true
}

// expire ends all sessions, and holds the refusals of so many callers back.
func (s *sessions) expire(callers int) *wave {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.calls)
	s.wave = &wave{callers: int64(callers), all: make(chan struct{}), others: make(chan struct{})}
	return s.wave
}

func (w *wave) hold(gone <-chan struct{}) {
	if w == nil {
		return
	}
	until := w.all
	if n := w.refused.Add(1); n == w.callers {
		close(w.all)
		until = w.others
	}
	select {
	case <-until:
	case <-gone:
	}
}

// serveSessions serves an endpoint whose source logs in.
func serveSessions(t *testing.T, s *sessions) *instance {
	t.Helper()
	dir := t.TempDir()
	writeSources(t, dir, "own", "ttl: 1h", `sources:
  - name: up
    timeout: 20s
    before:
      - {name: session, http: {url: "`+s.URL+`/login"}, keep: .session, for: 1h, shared: true, renew: true}
    http: {url: "`+s.URL+`/call", query: {session: "{session}", id: "{id}"}}
    judge: [{if: .code != 0, is: limited}]
    map: "{id}"
`)
	return serve(t, "--catalog", dir)
}

// eachSessionIsLoggedInOnce reports what went wrong.
func (s *sessions) eachSessionIsLoggedInOnce(t *testing.T, sessions int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logins != sessions || s.needless > 0 {
		t.Errorf("%d logins for %d sessions, %d of them while one was good", s.logins, sessions, s.needless)
	}
}

// TestWhoeverIsRefusedGetsTheNextSession: callers whose session ends under them are all
// answered, one login makes the next, and whoever is told late that the old one ended does
// not end the new one.
func TestWhoeverIsRefusedGetsTheNextSession(t *testing.T) {
	t.Parallel()
	const callers, waves = 20, 4
	for name, single := range map[string]bool{"sessions end by themselves": false, "a login ends the session before": true} {
		t.Run(name, func(t *testing.T) {
			service := newSessions(t, single, 0)
			p := serveSessions(t, service)
			mustGet(t, p.public+"/api/own?id=1")
			for n := range waves {
				held, statuses := service.expire(callers), make(chan int)
				for i := range callers {
					go func() { statuses <- answerStatus(fmt.Sprintf("%s/api/own?id=%d", p.public, 100*(n+1)+i)) }()
				}
				for i := range callers {
					if status := <-statuses; status != http.StatusOK {
						t.Errorf("wave %d: status %d", n, status)
					}
					if i == callers-2 {
						close(held.others)
					}
				}
			}
			service.eachSessionIsLoggedInOnce(t, 1+waves)
		})
	}
}

// TestSessionsThatEndUnderLoad: sessions are good for so many calls, and callers never pause.
func TestSessionsThatEndUnderLoad(t *testing.T) {
	t.Parallel()
	const callers, each, lasts = 20, 60, 200
	for name, single := range map[string]bool{"sessions end by themselves": false, "a login ends the session before": true} {
		t.Run(name, func(t *testing.T) {
			service := newSessions(t, single, lasts)
			p := serveSessions(t, service)
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					for n := range each {
						status, header, body, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, 1+i*each+n))
						if err != nil || status != http.StatusOK {
							t.Errorf("caller %d, call %d: %d %v %s %v", i, n, status, header, body, err)
						}
					}
				})
			}
			all.Wait()
			service.eachSessionIsLoggedInOnce(t, callers*each/lasts)
		})
	}
}

// answerStatus is the status of an answer; 0: there was none.
func answerStatus(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

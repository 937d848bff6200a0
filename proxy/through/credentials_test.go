package through

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/web"
)

// byDefault has each response that says nothing fresh for a minute.
func byDefault(s *Settings) {
	s.Rules.Default = map[int]time.Duration{200: time.Minute, 404: time.Minute}
}

// identifying are fields of requests by which an origin may know who sends them.
func identifying() []string {
	return []string{"Cookie: session=%s", "Authorization: Bearer %s", "X-Api-Key: %s", "X-Auth-Token: %s"}
}

// answersEach answers each client with its own fields, and says of caching what the path does.
func answersEach(w http.ResponseWriter, r *http.Request) {
	switch strings.Trim(r.URL.Path, "/") {
	case "dated":
		w.Header().Set("Last-Modified", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
	case "tagged":
		w.Header().Set("Etag", `"a"`)
	case "revalidated":
		w.Header().Set("Cache-Control", "must-revalidate")
	case "missing":
		w.WriteHeader(http.StatusNotFound)
	}
	fmt.Fprint(w, r.Header["Cookie"], r.Header["Authorization"], r.Header["X-Api-Key"], r.Header["X-Auth-Token"])
}

// TestADefaultIsForRequestsWithoutCredentials: who has some gets no response of another client, and gives none to others, with whatever a
// default comes together.
func TestADefaultIsForRequestsWithoutCredentials(t *testing.T) {
	for _, path := range []string{"/plain", "/dated", "/tagged", "/revalidated", "/missing"} {
		for _, field := range identifying() {
			t.Run(path[1:]+" "+field[:6], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newWorld(t, answersEach, byDefault)
					for _, who := range []string{"", "ann", "bob"} {
						want, lines := "[] [] [] []", []string(nil)
						if who != "" {
							want, lines = who, []string{fmt.Sprintf(field, who)}
						}
						for range 2 {
							if a := s.get(path, lines...); a.err != nil || !strings.Contains(a.body, want) {
								t.Errorf("%q gets %s: %v", who, a.body, a.err)
							}
						}
					}
					if a := s.get(path); a.body != "[] [] [] []" || !strings.Contains(a.header.Get("Cache-Status"), "; hit") {
						t.Errorf("%s %v: what has no credentials is not kept", a.body, a.header)
					}
					s.wantCalls(5)
				})
			})
		}
	}
}

// TestCredentialsAreShared where the operator says so, and where the origin does not get them from clients.
func TestCredentialsAreShared(t *testing.T) {
	for name, rules := range map[string]func(*web.Rules){
		"shared":   func(r *web.Rules) { r.CredentialsShared = true },
		"replaced": func(r *web.Rules) { r.Replaced = []string{"Cookie"} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, answersEach, byDefault, func(s *Settings) { rules(&s.Rules) })
				for _, who := range []string{"ann", "bob"} {
					s.get("/plain", "Cookie: "+who)
				}
				s.get("/plain")
				s.wantCalls(1)
			})
		})
	}
}

// TestRequestsWithCredentialsHinderNoOthers: neither do others wait for what such a request alone gets, nor does that end the sharing of
// what they get.
func TestRequestsWithCredentialsHinderNoOthers(t *testing.T) {
	for _, field := range identifying() {
		t.Run(field[:6], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, r *http.Request) {
					if len(r.Header["Cookie"])+len(r.Header["Authorization"])+len(r.Header["X-Api-Key"])+len(r.Header["X-Auth-Token"]) > 0 {
						w.Header().Set("Cache-Control", "private")
						time.Sleep(5 * time.Second)
					}
					fmt.Fprint(w, "answer")
				}), byDefault)
				var all sync.WaitGroup
				for i := range 2 {
					all.Go(func() { s.get("/a", fmt.Sprintf(field, "ann")) })
					synctest.Wait()
					if i == 1 {
						break
					}
					for range 20 {
						all.Go(func() {
							if a := s.get("/a"); a.took > time.Second {
								t.Errorf("a client without credentials waits for %s", a.took)
							}
						})
					}
					all.Wait()
					s.store.Purge(web.Purge{At: time.Now()})
					time.Sleep(time.Second)
				}
				for range 20 {
					all.Go(func() { s.get("/a") })
				}
				all.Wait()
				s.wantCalls(4)
			})
		})
	}
}

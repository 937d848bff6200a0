package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/proxy/logmarks"
	"sundry/upstreams/lib/waittest"
)

// hushed are fields that may be secret, by which responses vary.
func hushed(value string) http.Header {
	h := http.Header{}
	for _, name := range []string{"Cookie", "X-Token", "X-Api-Key", "User-Agent", "Accept-Language"} {
		h.Set(name, "hush="+value)
	}
	return h
}

// varying is an API whose responses vary by the fields of hushed. It counts its calls.
func varying(t *testing.T) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Vary", "Cookie, X-Token, X-Api-Key, User-Agent, Accept-Language")
		_, _ = fmt.Fprint(w, calls.Add(1))
	}))
	t.Cleanup(origin.Close)
	return origin.URL, calls
}

// getWith requests a URL with these fields.
func getWith(t *testing.T, url string, h http.Header) (header http.Header, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header, r.Host = h, clientName
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header, string(b)
}

// wantHushed requires that an instance tells nothing of what fields of clients have, but a digest.
func (p *instance) wantHushed(t *testing.T) {
	t.Helper()
	_, kept := p.ask(http.MethodGet, "apis/api/entries", "")
	facts, _ := explained(t, p, "/a", "-H", "Cookie: hush=1", "-H", "X-Token: hush=1", "-H", "X-Api-Key: hush=1", "-H", "User-Agent: hush=1", "-H", "Accept-Language: hush=1")
	for what, text := range map[string]string{"entries": fmt.Sprint(kept), "explain": fmt.Sprint(facts)} {
		if strings.Contains(text, "hush") || strings.Count(text, "digest ") < 5 {
			t.Errorf("%s: %s", what, text)
		}
	}
	if log := p.stderr.String(); strings.Contains(log, "hush") {
		t.Errorf("%s", log)
	}
}

// TestFieldsOfClientsStandNowhereInAFleet, though its instances share the responses that vary by them.
func TestFieldsOfClientsStandNowhereInAFleet(t *testing.T) {
	t.Parallel()
	for name, password := range map[string]string{"without a password": "", "with a password": "longenough"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t)
			url := redis.URL()
			if password != "" {
				redis.Must("ACL SETUSER service on >" + password + " ~* &* +@all")
				url = strings.Replace(url, "://", "://service:"+password+"@", 1)
			}
			origin, calls := varying(t)
			start := func() *instance { return serve(t, "--to", origin, "--redis", patient(url)) }
			one, two := start(), start()
			for _, value := range []string{"1", "2"} {
				getWith(t, one.public+"/a", hushed(value))
			}
			waittest.Until(t, "both variants in Redis", func() bool { return redis.Must(`EVAL "return #redis.call('keys', '*web:api/a*')" 0`) == ":3\r\n" })
			if found := redis.Must(`EVAL "local n = 0 for _, k in ipairs(redis.call('keys', '*')) do local v = redis.pcall('get', k) if string.find(k, 'hush') or type(v) == 'string' and string.find(v, 'hush') then n = n + 1 end end return n" 0`); found != ":0\r\n" {
				t.Errorf("%s keys of Redis tell what a client has sent", found)
			}
			for _, value := range []string{"1", "2"} {
				if _, body := getWith(t, two.public+"/a", hushed(value)); body != value {
					t.Errorf("%s gets %s", value, body)
				}
			}
			if n := calls.Load(); n != 2 {
				t.Errorf("%d calls: the instances share nothing", n)
			}
			two.wantHushed(t)
		})
	}
}

// TestFieldsOfClientsStandInNoFile, though what varies by them outlives a restart.
func TestFieldsOfClientsStandInNoFile(t *testing.T) {
	t.Parallel()
	origin, calls := varying(t)
	data := t.TempDir()
	env := keptIn(data)
	p := serveWith(t, env, "--to", origin)
	getWith(t, p.public+"/a", hushed("1"))
	p.end()
	if b, err := os.ReadFile(filepath.Join(data, "snapshot")); err != nil || strings.Contains(string(b), "hush") || strings.Count(string(b), "digest ") != 5 {
		t.Errorf("%s %v", b, err)
	}
	p = serveWith(t, env, "--to", origin)
	getWith(t, p.public+"/a", hushed("1"))
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls: it was not kept", n)
	}
	p.wantHushed(t)
}

// TestDigestsNeedThePassword of Redis, if there is one: its secret alone does not make them.
func TestDigestsNeedThePassword(t *testing.T) {
	t.Parallel()
	made := map[[32]byte]bool{}
	for _, secret := range []logmarks.Secret{{}, {1}} {
		for _, password := range []string{"", "a", "b"} {
			key, err := digestKey(secret, password)
			if err != nil || key == secret {
				t.Errorf("%v", err)
			}
			made[key] = true
		}
	}
	if len(made) != 6 {
		t.Errorf("%d keys of 6", len(made))
	}
}

// TestCredentialsShareNothingByDefault: a default of a file is for requests without them, unless the file says that they make no other
// response. check explains that, and explain and try say why nothing is stored.
func TestCredentialsShareNothingByDefault(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "for ", r.Header.Get("Cookie"))
	}))
	t.Cleanup(origin.Close)
	dir := t.TempDir()
	for name, more := range map[string]string{"own": "", "shared": ", credentials: shared"} {
		write(t, dir, name+".yaml", "version: 1\nname: "+name+"\nproxy: {to: '"+origin.URL+"', cache: {default: {200: 1m}"+more+"}}\n")
	}
	p := serve(t, "--catalog", dir)
	for name, want := range map[string]string{"own": "for b", "shared": "for a"} {
		for _, cookie := range []string{"a", "b"} {
			_, body := getWith(t, p.public+"/api/"+name+"/x", http.Header{"Cookie": {cookie}})
			if cookie == "b" && body != want {
				t.Errorf("%s: %q, want %q", name, body, want)
			}
		}
	}
	mustGet(t, p.public+"/api/own/x")
	facts, outcome := explained(t, p, "/api/own/x", "-H", "Cookie: b")
	if outcome != "miss" || !strings.Contains(facts["key variant"], "cache: default, which is for requests without a cookie or a key") || !strings.Contains(facts["policy rule"], "cache: default is only for requests without") {
		t.Errorf("%s %v", outcome, facts)
	}
	if _, outcome := explained(t, p, "/api/own/x"); outcome != "hit" {
		t.Errorf("%s without a cookie", outcome)
	}
	_, errs, err := call(t, onlyIn(t), "check", "--catalog", dir)
	if err != nil || !strings.Contains(errs, "shared.yaml:2: proxy: cache: credentials: shared: responses that do not say how long they are fresh are stored and given to all clients") || strings.Contains(errs, "own.yaml") {
		t.Errorf("%v %s", err, errs)
	}
}

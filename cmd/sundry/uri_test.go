package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// paths is an API that remembers the targets of its requests.
type paths struct {
	mu   sync.Mutex
	seen []string
}

func (p *paths) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, r.RequestURI)
	w.Header().Set("Cache-Control", "max-age=60")
	w.Header().Set("Etag", fmt.Sprintf(`"%d"`, len(p.seen)))
	fmt.Fprint(w, r.RequestURI)
}

// take returns what was requested since the last call.
func (p *paths) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := strings.Join(p.seen, " ")
	p.seen = nil
	return seen
}

// servePaths serves such an API below /v1 of its origin: in the place of endpoints by its name, or by a Host name.
func servePaths(t *testing.T, config string) (*instance, *paths) {
	t.Helper()
	api := &paths{}
	origin := httptest.NewServer(api)
	t.Cleanup(origin.Close)
	dir := t.TempDir()
	write(t, dir, "apt.yaml", "version: 1\nname: apt\nproxy: {to: '"+origin.URL+"/v1'}\n")
	write(t, dir, "named.yaml", "version: 1\nname: named\nproxy: {to: '"+origin.URL+"/v1', hosts: [named.example]}\n")
	return serve(t, "--catalog", dir, "--config", write(t, t.TempDir(), "few.yaml", only("sfz")+config)), api
}

// TestSpellingsOfAPath make no difference: neither to the key, nor to what the origin is asked for, nor to a purge.
func TestSpellingsOfAPath(t *testing.T) {
	t.Parallel()
	p, api := servePaths(t, "")
	c, admin := keep(t, p.public), keep(t, p.admin)
	for _, row := range []struct{ host, target, origin string }{
		{"x", "/api/apt/./Packages", "/v1/Packages"},
		{"x", "/api/apt/%2e/Packages?a=/./b", "/v1/Packages?a=/./b"},
		{"x", "/api/apt/a/./././%2E/b", "/v1/a/b"},
		{"x", "/api/apt/a/.", "/v1/a/"},
		{"x", "/api/apt/.", "/v1/"},
		{"x", "/api/apt/a/./%41", "/v1/a/A"},
		{"x", "/api/apt/x/%79%7e%2d", "/v1/x/y~-"},
		{"x", "/api/apt/x%2fy%c3%bc", "/v1/x%2Fy%C3%BC"},
		{"named.example", "/%78%2f", "/v1/x%2F"},
		{"x", "/api/apt/a/.//b", "/v1/a//b"},
		{"x", "/api/./apt/./c", "/v1/c"},
		{"x", "/./api/%2e/apt/d/./", "/v1/d/"},
		{"named.example", "/./Packages.gz", "/v1/Packages.gz"},
		{"named.example", "/.//a", "/v1//a"},
		{"named.example", "http://named.example/./e", "/v1/e"},
	} {
		plain, prefix := strings.TrimPrefix(row.origin, "/v1"), ""
		if row.host == "x" {
			prefix = "/api/apt"
		}
		for _, target := range []string{row.target, prefix + plain} {
			status, _, body := c.send("GET " + target + " HTTP/1.1\r\nHost: " + row.host + "\r\n\r\n")
			if status != http.StatusOK || body != row.origin {
				t.Errorf("%s: %d %q", target, status, body)
			}
		}
		if seen := api.take(); seen != row.origin {
			t.Errorf("%s: the origin is asked for %q", row.target, seen)
		}
		purged := row.target
		if strings.HasPrefix(purged, "http:") {
			purged = "/./e"
		}
		if status, _, body := admin.send("PURGE " + purged + " HTTP/1.1\r\nHost: " + strings.Replace(row.host, "x", "localhost", 1) + "\r\n\r\n"); row.host == "x" && (status != http.StatusOK || !strings.Contains(body, `"entries":1,`)) {
			t.Errorf("PURGE %s: %d %s", purged, status, body)
		}
	}
	for _, endpoint := range []string{"/api/./sfz", "/api/sfz/.", "/%2e/healthz"} {
		status, _, _ := c.send("GET " + endpoint + " HTTP/1.1\r\nHost: x\r\n\r\n")
		plain, _, _ := c.send("GET " + strings.NewReplacer("/./", "/", "/%2e/", "/", "/.", "/").Replace(endpoint) + " HTTP/1.1\r\nHost: x\r\n\r\n")
		if status != plain {
			t.Errorf("%s: %d instead of %d", endpoint, status, plain)
		}
	}
	if status, _, _ := admin.send("GET /./readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"); status != http.StatusOK {
		t.Errorf("/./readyz: %d", status)
	}
}

// TestPurgesInAnySpelling by the admin API, which has URLs and prefixes, and what is foretold.
func TestPurgesInAnySpelling(t *testing.T) {
	t.Parallel()
	p, _ := servePaths(t, "")
	for _, row := range []struct{ field, value string }{
		{"url", "/./a/b"}, {"url", "/a/%2e/b"}, {"prefix", "/a/./"}, {"prefix", "/./a/b"}, {"prefix", "/./a"}, {"url", "/%61/%62"}, {"prefix", "/%61/%62"}, {"prefix", "/%61/"},
	} {
		mustGet(t, p.public+"/api/apt/a/b")
		if _, outcome := explained(t, p, "/./api/apt/%2e/a/b"); outcome != "hit" {
			t.Errorf("it is foretold to be a %s", outcome)
		}
		_, v := p.ask(http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":"apt",%q:%q,"mode":"hard"}`, row.field, row.value))
		if v["entries"] != 1.0 {
			t.Errorf("%s: %v", row, v)
		}
	}
	mustGet(t, p.public+"/api/apt/a/b")
	if _, v := p.ask(http.MethodPost, "purge", `{"endpoint":"apt","prefix":"/.","mode":"hard"}`); v["entries"] != 0.0 {
		t.Errorf("what begins with a dot, and no more, is purged: %v", v)
	}
}

// TestSegmentsThatLeadUp are refused everywhere, in every spelling that an origin may understand.
func TestSegmentsThatLeadUp(t *testing.T) {
	t.Parallel()
	p, api := servePaths(t, "")
	for _, up := range []string{"/../secret", "/..", "/%2e%2e/secret", "/.%2E/secret", "/./../secret", "/a/%2e/../../secret", "/..;a=b/secret", "/a%2f..%2f..%2fsecret", "/..%2fsecret", `/..\secret`, "/..%5csecret",
		"/%252e%252e/secret", "/%25252e%25252e%25252fsecret", "/%c0%ae%c0%ae/secret", "/..%c0%afsecret", "/..%00/secret", "/..%20/secret", "/.;a/secret", "/.%2fsecret"} {
		for _, row := range []struct{ addr, host, prefix string }{
			{p.public, "x", "/api/apt"}, {p.public, "named.example", ""}, {p.public, "x", "/api"}, {p.public, "x", ""}, {p.admin, "localhost", ""}, {p.admin, "localhost", "/api/apt"}, {p.admin, "localhost", "/admin"},
		} {
			for _, method := range []string{"GET", "POST", "PURGE"} {
				status, _, body := keep(t, row.addr).send(method + " " + row.prefix + up + " HTTP/1.1\r\nHost: " + row.host + "\r\nContent-Length: 0\r\n\r\n")
				if status != http.StatusBadRequest || !strings.Contains(body, "..") {
					t.Errorf("%s %s%s of %s: %d %s", method, row.prefix, up, row.addr, status, body)
				}
			}
		}
	}
	if seen := api.take(); seen != "" {
		t.Errorf("the origin is asked for %s", seen)
	}
}

// TestPathsThatAskForTheToken do so with segments that have no effect.
func TestPathsThatAskForTheToken(t *testing.T) {
	t.Parallel()
	p := serveWith(t, map[string]string{"SUNDRY_ADMIN_TOKEN": "0123456789abcdef"}, "--catalog", t.TempDir())
	for _, path := range []string{"/admin/api/overview", "/admin/./api/overview", "/admin/%2e/api/overview", "/./admin/./api/./overview", "/admin/./././api/overview"} {
		if status, _, body := keep(t, p.admin).send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// hosts of requests that are malformed.
func badHosts() []string {
	return []string{"a:b:c", "a:abc", "[::1", "::1]", "[::1]x", "[::1]:x", "[::1%25lo]", "[1.2.3.4]", "[]", "::1", "a,b", "a, b", "a b", "a\tb", "u@a", "u:p@a", ":80", "a:65536", "a:+80", "a:8 0", "a/b", "a?b", "a#b", `a\b`, "a;b", "a=b",
		"*", "%zz", "a%", "%00", "%0d%0a", "a%2fb", "\x01", "a\x7f", "\xff", "é", strings.Repeat("a:", 100)}
}

// TestMalformedHosts are refused for endpoints and APIs, also where the answer lies ready, and by the admin listener.
func TestMalformedHosts(t *testing.T) {
	t.Parallel()
	for config, name := range map[string]string{"": "with the lane", "express: false\n": "without"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := servePaths(t, config)
			for range 3 { // the answers lie ready
				mustGet(t, p.public+"/api/apt/a")
			}
			targets := []struct{ addr, target string }{{p.public, "/api/apt/a"}, {p.public, "/api/apt/miss"}, {p.public, "/api/sfz?id=1"}, {p.public, "/"}, {p.public, "/nothing"}, {p.admin, "/readyz"}, {p.admin, "/admin/api/overview"}}
			for _, host := range badHosts() {
				for _, to := range targets {
					for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
						text := method + " " + to.target + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\n\r\n"
						if method != "POST" {
							text = strings.Replace(text, "Content-Length: 0\r\n", "", 1)
						}
						if status, _, _ := keep(t, to.addr).send(text); status != http.StatusBadRequest {
							t.Errorf("%q: %d", text, status)
						}
					}
				}
			}
			for _, text := range []string{"Host: a\r\nHost: a\r\n", "Host: a\r\nhost: b\r\n", "Host : a\r\n", "", "Host:\ta\x00\r\n"} {
				for _, to := range targets {
					if status, _, _ := keep(t, to.addr).send("GET " + to.target + " HTTP/1.1\r\n" + text + "\r\n"); status != http.StatusBadRequest {
						t.Errorf("%s with %q: %d", to.target, text, status)
					}
				}
			}
			for _, authority := range []string{"a:b:c", "a,b", "[::1", "u@a", "u:p@a", "", ":80", "a:65536", "%2f", "a b"} {
				for _, to := range targets {
					if status, _, _ := keep(t, to.addr).send("GET http://" + authority + to.target + " HTTP/1.1\r\nHost: a\r\n\r\n"); status != http.StatusBadRequest {
						t.Errorf("http://%s%s: %d", authority, to.target, status)
					}
				}
			}
			for _, host := range []string{"a", "a:", "a:80", "A_b.example.", "[::1]", "[::1]:80", "127.0.0.1:65535", "%C3%A9", "", "  a  "} {
				if status, _, _ := keep(t, p.public).send("GET /api/apt/a HTTP/1.1\r\nHost: " + host + "\r\n\r\n"); status != http.StatusOK {
					t.Errorf("%q: %d", host, status)
				}
			}
		})
	}
}

// TestEmptyLinesBeforeTheFirstRequest are ignored, a few of them, however they arrive.
func TestEmptyLinesBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	for config, name := range map[string]string{"": "with the lane", "express: false\n": "without"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := servePaths(t, config)
			mustGet(t, p.public+"/api/apt/a") // the answer lies ready
			for _, to := range []struct{ addr, request string }{
				{p.public, "GET /api/apt/a HTTP/1.1\r\nHost: x\r\n\r\n"}, {p.public, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"}, {p.admin, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"},
				{p.public, "POST /api/apt/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"},
			} {
				for lines, want := range map[string]int{
					"": 200, "\r\n": 200, "\n": 200, "\r\n\r\n": 200, "\n\r\n\n": 200, strings.Repeat("\r\n", 8): 200, strings.Repeat("\r\n", 9): 400, strings.Repeat("\n", 1000): 400,
					"\r": 400, "\r\r\n": 400, " \r\n": 400, "\r\n \r\n": 400, "\r\n\r": 400, "\x00\r\n": 400,
				} {
					c := keep(t, to.addr)
					if status, _, body := c.send(lines + to.request); status != want {
						t.Errorf("%q before %q: %d %s", lines, to.request, status, body)
					} else if status, _, _ = c.send(to.request); want == 200 && status != 200 {
						t.Errorf("%q before %q: the next is answered by %d", lines, to.request, status)
					}
					c = keep(t, to.addr)
					for _, octet := range []byte(lines) {
						_, _ = c.Write([]byte{octet})
					}
					if status, _, _ := c.send(to.request); status != want && (want == 200 || status != 0) { // the end may come before the rest is sent
						t.Errorf("%q by octets before %q: %d", lines, to.request, status)
					}
				}
			}
		})
	}
}

// TestManyFields are refused, also where the answer lies ready. Many lines of one field are not.
func TestManyFields(t *testing.T) {
	t.Parallel()
	for config, name := range map[string]string{"": "with the lane", "express: false\n": "without"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := servePaths(t, config)
			mustGet(t, p.public+"/api/apt/a")
			for _, target := range []string{p.public + " /api/apt/a", p.public + " /api/apt/miss", p.public + " /api/sfz?id=1", p.public + " /healthz", p.admin + " /readyz"} {
				addr, path, _ := strings.Cut(target, " ")
				for line, want := range map[string]bool{"A%d: b\r\n": true, "A: b\r\n": false} {
					for n, refused := range map[int]bool{200: false, 201: want, 2000: want} {
						var fields strings.Builder
						for i := range n {
							fields.WriteString(strings.ReplaceAll(line, "%d", fmt.Sprint(i)))
						}
						if status, _, _ := keep(t, addr).send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields.String() + "\r\n"); (status == http.StatusRequestHeaderFieldsTooLarge) != refused || status == 0 {
							t.Errorf("%s with %d lines %q: %d", target, n, line, status)
						}
					}
				}
			}
		})
	}
}

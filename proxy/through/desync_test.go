package through

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sundry/cache/clients"
	"sundry/cache/web"
	"sundry/upstreams/lib/peertest"
	"sundry/upstreams/lib/waittest"
)

// gullible is an origin that takes a request for what any of its fields says that it is, and says nothing of it in Vary.
func gullible(w http.ResponseWriter, r *http.Request) {
	method, host, target := r.Method, r.Host, r.RequestURI
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lines := r.Header[name]
		switch {
		case strings.Contains(name, "Method"):
			method = lines[0]
		case strings.Contains(name, "Url"), strings.Contains(name, "Uri"), strings.Contains(name, "Path"), strings.Contains(name, "Prefix"):
			target = lines[0]
		case strings.HasPrefix(name, "X-Forwarded-") && name != "X-Forwarded-For", strings.Contains(name, "Host"), name == "X-Url-Scheme", name == "Front-End-Https":
			host += " " + lines[0]
		case name == "Forwarded":
			s := toldIn(first(lines))
			host += " " + s.scheme + " " + s.host
		}
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Cache-Control", "max-age=60")
	w.Header().Set("Vary", "Accept-Language, Accept, X-Tenant")
	selecting := [][]string{r.Header["Accept-Language"], r.Header["Accept"], r.Header["X-Tenant"]}
	fmt.Fprintf(w, "%s %s at %s for %q of %s with %q", method, target, host, selecting, r.Host, body)
}

// attacks are what is sent before a victim asks for %s, byte by byte. Each is on a connection of its own.
func attacks() map[string]string {
	const plain = "GET %[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n"
	all := map[string]string{
		"a body":                      plain + "Content-Length: 5\r\n\r\nq=bad",
		"a body in chunks":            plain + "Transfer-Encoding: chunked\r\n\r\n5\r\nq=bad\r\n0\r\n\r\n",
		"length and chunks":           plain + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunks and a request":        plain + "Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil\r\n\r\n",
		"two lengths":                 plain + "Content-Length: 0\r\nContent-Length: 44\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"a length of two":             plain + "Content-Length: 0, 44\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: api.test\r\n\r\n",
		"a signed length":             plain + "Content-Length: +5\r\n\r\nq=bad",
		"an odd coding":               plain + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"an odd coding with a length": plain + "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nq=bad",
		"two codings":                 plain + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"a coding before a tab":       plain + "Transfer-Encoding:\tchunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"a space before a colon":      plain + "Transfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"a folded coding":             plain + "Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"an extension of a chunk":     plain + "Transfer-Encoding: chunked\r\n\r\n0;\nGET /smuggled HTTP/1.1\r\n\r\n",
		"a HEAD with a body":          "HEAD %[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\nContent-Length: 5\r\n\r\nq=bad",
		"a POST":                      "POST %[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\nContent-Length: 5\r\n\r\nq=bad",
		"a POST for another method":   "POST %[1]s HTTP/1.1\r\nHost: api.test\r\nX-Http-Method-Override: GET\r\nConnection: close\r\nContent-Length: 5\r\n\r\nq=bad",
		"a CR in a field":             plain + "X-A: a\rX-Forwarded-Host: evil\r\n\r\n",
		"a LF in a field":             plain + "X-A: a\nX-Forwarded-Host: evil\r\n\r\n",
		"a NUL in a field":            plain + "X-A: a\x00b\r\n\r\n",
		"a space in a name":           plain + "X-Forwarded-Host : evil\r\n\r\n",
		"no field":                    plain + "X-Forwarded-Host\r\n\r\n",
		"a folded field":              plain + "X-A: a\r\n X-Forwarded-Host: evil\r\n\r\n",
		"an underscore":               plain + "X_Forwarded_Host: evil\r\n\r\n",
		"a field of the connection":   "GET %[1]s HTTP/1.1\r\nHost: api.test\r\nAccept-Language: fr\r\nConnection: close, Accept-Language\r\n\r\n",
		"another host":                "GET %[1]s HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
		"a host in upper case":        "GET %[1]s HTTP/1.1\r\nHost: API.TEST\r\nConnection: close\r\n\r\n",
		"a host with a port":          "GET %[1]s HTTP/1.1\r\nHost: api.test:1234\r\nConnection: close\r\n\r\n",
		"a host with a dot":           "GET %[1]s HTTP/1.1\r\nHost: api.test.\r\nConnection: close\r\n\r\n",
		"a host with a user":          "GET %[1]s HTTP/1.1\r\nHost: evil@api.test\r\nConnection: close\r\n\r\n",
		"two hosts":                   "GET %[1]s HTTP/1.1\r\nHost: api.test\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
		"no host":                     "GET %[1]s HTTP/1.1\r\nConnection: close\r\n\r\n",
		"HTTP/1.0":                    "GET %[1]s HTTP/1.0\r\n\r\n",
		"HTTP/0.9":                    "GET %[1]s\r\n\r\n",
		"the absolute form":           "GET http://evil.test%[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n",
		"the absolute form with user": "GET http://u:p@evil.test%[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n",
		"another protocol":            "GET %[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
		"a POST and a protocol":       "POST %[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 5\r\n\r\nq=bad",
		"a range":                     plain + "Range: bytes=0-1\r\n\r\n",
		"a condition":                 plain + "If-None-Match: *\r\n\r\n",
		"an empty member":             plain + "X-Tenant: a,, b\r\n\r\n",
		"an empty member at the end":  plain + "X-Tenant: a, b,\r\n\r\n",
		"an empty preference":         plain + "Accept-Language: fr,\r\n\r\n",
		"another parameter":           plain + "Accept: text/html;level=a\r\n\r\n",
		"an odd weight":               plain + "Accept-Language: en;q=0x1p-1\r\n\r\n",
		"a signed weight":             plain + "Accept-Language: en;q=+0.5\r\n\r\n",
		"a long weight":               plain + "Accept-Language: en;q=0.50001\r\n\r\n",
		"a weight too many":           plain + "Accept-Language: en;q=0.5;q=0.4\r\n\r\n",
		"no weight":                   plain + "Accept-Language: fr;q=x\r\n\r\n",
	}
	for _, name := range append(web.Routing(), "Forwarded", "X-Real-Ip") {
		all[name] = plain + name + ": evil\r\n\r\n"
		all["HEAD with "+name] = "HEAD %[1]s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n" + name + ": evil\r\n\r\n"
	}
	for _, spelling := range []string{"%[1]s/", "/%[1]s", "/.%[1]s", "/x/..%[1]s", "/%%2e%[1]s", "/x/%%2e%%2e%[1]s", "/x%%2f..%[1]s", "%[1]s/.", "%[1]s.", "%[1]s;a=b", "%[1]s%%00",
		"%[1]s%%20", "%[1]s?", "%[1]s?q=bad", "%[1]s#bad", "%[1]s%%23bad", "%[1]s%%3fq=bad", "%[1]s\\", "%[1]s%%5c", "/%%61/1", "%[1]s%%2f", "%[1]s%%252f", "\\%[1]s", "%[1]s\t"} {
		all["the path "+spelling] = "GET " + spelling + " HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n"
	}
	return all
}

// front is a TCP address at which the handler is asked, and the origin behind it.
type front struct {
	addr, origin string
	handler      *Handler
}

// newFront serves an origin over real connections. trusted: as if all came by a proxy that is believed. Unless caller, the origin gets
// its own address as Host, else that of each request.
func newFront(t *testing.T, back net.Listener, keepAlive, trusted, caller bool) *front {
	t.Helper()
	origin := back.Addr().String()
	h := newHandler(t, origin, keepAlive, (&net.Dialer{}).DialContext, func(s *Settings) {
		s.Rules.Languages = true
		if trusted {
			s.Client = func(*http.Request) (client clients.ID, trusted bool) { return clients.Nobody, true }
		}
	})
	if caller {
		h.origin.targets[0].Sent = ""
	}
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = silent
	server.Start()
	t.Cleanup(server.Close)
	return &front{server.Listener.Addr().String(), origin, h}
}

// awhile is how long the end of a connection is waited for that there may be none of.
const awhile = time.Second

// send sends bytes on a connection of their own, and returns what comes back until the connection ends or patience is over.
func send(t *testing.T, addr, text string, patience time.Duration) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		return ""
	}
	b, _ := io.ReadAll(c)
	return string(b)
}

// victim is the status and body of the final answer to a plain request.
func victim(t *testing.T, addr, host, path string, lines ...string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, strings.Join(append(lines, ""), "\r\n"))
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	for err == nil && resp.StatusCode < http.StatusOK {
		resp, err = http.ReadResponse(in, nil)
	}
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return fmt.Sprintln(resp.StatusCode, string(b), err)
}

// TestAttacksPoisonNothing: whatever others have sent before, a plain request gets what the origin answers to one. By
// themselves, from a proxy that is believed, and with nginx in front; with the origin's own name as Host, and with that of the caller.
func TestAttacksPoisonNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ trusted, caller, nginx bool }{
		"by itself": {}, "by a trusted proxy": {trusted: true}, "nginx": {trusted: true, nginx: true},
		"host: caller": {caller: true}, "host: caller, by a trusted proxy": {trusted: true, caller: true}, "host: caller, nginx": {trusted: true, caller: true, nginx: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nginx string
			if row.nginx {
				nginx = peertest.Program(t, "nginx", "nginx-light", "nginx")
			}
			origin := httptest.NewServer(http.HandlerFunc(gullible))
			t.Cleanup(origin.Close)
			f := newFront(t, origin.Listener, true, row.trusted, row.caller)
			if nginx != "" {
				f.addr = startNginx(t, nginx, f.addr)
			}
			var n atomic.Int64
			for name, text := range attacks() {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					f.attack(t, text, fmt.Sprint("/a/", n.Add(1)), row.caller)
				})
			}
		})
	}
}

func (f *front) attack(t *testing.T, text, path string, caller bool) {
	host, told := f.origin, []string{"X-Forwarded-Host: api.test", "X-Forwarded-Proto: http", "Forwarded: for=127.0.0.1;host=api.test;proto=http"}
	if caller {
		host = "api.test"
	}
	got := send(t, f.addr, fmt.Sprintf(text, path), awhile)
	for _, lines := range [][]string{nil, nil, {"Accept-Language: fr"}, {"Accept-Language: en;q=0.5"}, {"X-Tenant: a, b"}, {"Accept: text/html;level=A"}} {
		want := victim(t, f.origin, host, path, append(lines, told...)...)
		if answer := victim(t, f.addr, "api.test", path, lines...); answer != want {
			t.Errorf("after\n%s\n%s\na victim gets %s instead of %s", text, got, answer, want)
		}
	}
}

// startNginx puts nginx in front of an address, and returns its own. A port that is free may be taken by somebody else before nginx
// listens: then it ends, and is started at another one.
func startNginx(t *testing.T, nginx, backend string) (addr string) {
	t.Helper()
	for range 5 {
		addr = freeAddress(t)
		ended := runNginx(t, nginx, nginxConfig(t, addr, backend))
		listens := false
		waittest.Until(t, "nginx listens, or has ended", func() bool {
			select {
			case <-ended:
				return true
			default:
			}
			c, err := net.Dial("tcp", addr)
			listens = err == nil && c.Close() == nil
			return listens
		})
		select {
		case <-ended: // somebody else listens
		default:
			return addr
		}
	}
	t.Fatal("nginx does not listen")
	return ""
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// nginxConfig is the file for an nginx at an address.
func nginxConfig(t *testing.T, addr, backend string) (file string) {
	t.Helper()
	dir := t.TempDir()
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "  %s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	file = filepath.Join(dir, "nginx.conf")
	text := "daemon off;\nmaster_process off;\npid " + dir + "/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + temporary.String() +
		"upstream sundry { server " + backend + "; keepalive 4; }\nserver { listen " + addr + ";\nlocation / { proxy_pass http://sundry; proxy_http_version 1.1;\n" +
		"proxy_set_header Connection \"\"; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; } } }\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// runNginx runs nginx until the test ends, or until it ends by itself.
func runNginx(t *testing.T, nginx, config string) (ended <-chan struct{}) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background()) //nolint:usetesting // t's own has ended when nginx is stopped
	cmd := exec.CommandContext(ctx, nginx, "-p", filepath.Dir(config), "-e", "stderr", "-c", config)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { stop(); <-done })
	return done
}

// splits are answers of an origin that end where they should not, or nowhere.
func splits() map[string]string {
	const poison = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 6\r\n\r\npoison"
	const ok = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
	return map[string]string{
		"more than its length":   ok + "Content-Length: 2\r\n\r\nok" + poison,
		"after chunks":           ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + poison,
		"a body of 204":          "HTTP/1.1 204 No Content\r\n\r\n" + poison,
		"a body of 304":          "HTTP/1.1 304 Not Modified\r\n\r\n" + poison,
		"a body of 100":          "HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok" + poison,
		"two lengths":            ok + "Content-Length: 2\r\nContent-Length: 90\r\n\r\nok" + poison,
		"a length of two":        ok + "Content-Length: 2, 90\r\n\r\nok" + poison,
		"a negative length":      ok + "Content-Length: -1\r\n\r\nok" + poison,
		"length and chunks":      ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + poison,
		"an odd coding":          ok + "Content-Length: 2\r\nTransfer-Encoding: xchunked\r\n\r\nok" + poison,
		"two codings":            ok + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + poison,
		"a folded field":         ok + "X-A: a\r\n Content-Length: 2\r\n\r\nok" + poison,
		"a CR in a field":        ok + "X-A: a\rSet-Cookie: evil\r\nContent-Length: 2\r\n\r\nok" + poison,
		"a protocol unasked for": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" + poison,
		"a bad chunk":            ok + "Transfer-Encoding: chunked\r\n\r\n2x\r\nok\r\n0\r\n\r\n" + poison,
	}
}

// TestSplitResponsesPoisonNothing: what an origin sends beyond one answer is not taken for the next one. Over connections that
// are used again that can only be so once it has arrived, so the victim comes when the connection is done with.
func TestSplitResponsesPoisonNothing(t *testing.T) {
	t.Parallel()
	for name, text := range splits() {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(name+" to "+method, func(t *testing.T) {
				t.Parallel()
				splitOrigin(t, method, text)
			})
		}
	}
}

func splitOrigin(t *testing.T, method, text string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var ended atomic.Bool
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if r.URL.Path == "/split" {
						_, _ = io.WriteString(c, text)
						_, _ = io.Copy(io.Discard, in) // a request of a victim here is lost
						ended.Store(true)
						return
					}
					fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n%s", len(r.URL.Path), r.URL.Path)
				}
			}()
		}
	}()
	f := newFront(t, l, true, false, false)
	got := send(t, f.addr, method+" /split HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", time.Minute)
	if strings.Contains(got, "\r\nSet-Cookie:") || strings.Contains(got, " 101 ") ||
		strings.Contains(text, "gzip, chunked") && !strings.Contains(got, " 502 ") {
		t.Errorf("it is answered by %q", got)
	}
	waittest.Until(t, "the end of the connection", ended.Load)
	for i := range 3 {
		path := fmt.Sprint("/plain/", i)
		if got, want := victim(t, f.addr, "x", path), fmt.Sprintln(200, path, nil); got != want {
			t.Errorf("a victim gets %s instead of %s", got, want)
		}
	}
	plain := f.handler.store.Selector(nil, &f.handler.Rules)
	if o := f.handler.store.Get("test/split").Select(&plain, false); o != nil && !slices.Contains([]string{"ok", ""}, string(o.Body)) {
		t.Errorf("%q is kept", o.Body)
	}
}

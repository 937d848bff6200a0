package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// expecting sends the header of a PUT with Expect, and the body once a 100 has come. It returns the responses in their order, and how
// long the first one took.
func expecting(t *testing.T, public, path, body string) (got []string, first time.Duration) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(public, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	began := time.Now()
	fmt.Fprintf(c, "PUT %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", path, len(body))
	in := bufio.NewReader(c)
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		if first == 0 {
			first = time.Since(began)
		}
		told, _ := io.ReadAll(resp.Body)
		got = append(got, fmt.Sprintf("%d %s", resp.StatusCode, told))
		if resp.StatusCode != http.StatusContinue {
			return got, first
		}
		if _, err := io.WriteString(c, body); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBodiesAreSentOnlyIfTheOriginWantsThem: a client that waits for 100 (RFC 9110, section 10.1.1) gets the refusal of the origin in its place, and
// so sends nothing. The test repeats this, because it once depended on timing.
func TestBodiesAreSentOnlyIfTheOriginWantsThem(t *testing.T) {
	t.Parallel()
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := 0
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &status); err == nil {
			w.WriteHeader(status)
			return
		}
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	})
	plain, secure := httptest.NewServer(answers), httptest.NewUnstartedServer(answers)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	cleartext := httptest.NewUnstartedServer(answers)
	cleartext.Config.Protocols = new(http.Protocols)
	cleartext.Config.Protocols.SetUnencryptedHTTP2(true)
	cleartext.Start()
	for _, origin := range []*httptest.Server{plain, secure, cleartext} {
		t.Cleanup(origin.Close)
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close() // nothing listens there
	dir := t.TempDir()
	for name, to := range map[string]string{"plain": plain.URL, "secure": secure.URL, "clear": strings.Replace(cleartext.URL, "http:", "h2c:", 1)} {
		unverified := ""
		if name == "secure" {
			unverified = ", tls: {verify: false}"
		}
		write(t, dir, name+".yaml", fmt.Sprintf("version: 1\nname: %s\nproxy: {to: ['http://%s', '%s']%s}\n", name, gone.Addr(), to, unverified))
	}
	p := serve(t, "--catalog", dir)
	large := strings.Repeat("x", 200_000)
	for _, api := range []string{"plain", "secure", "clear"} {
		for _, body := range []string{"small", large} {
			for _, status := range []int{401, 413, 417} {
				for range 10 {
					if got, _ := expecting(t, p.public, fmt.Sprintf("/api/%s/%d", api, status), body); fmt.Sprint(got) != fmt.Sprintf("[%d ]", status) {
						t.Errorf("%s, %d bytes: %q, want %d alone", api, len(body), got, status)
					}
				}
			}
			if got, took := expecting(t, p.public, "/api/"+api+"/wanted", body); fmt.Sprint(got) != fmt.Sprintf("[100  200 %d <nil>]", len(body)) || took > 900*time.Millisecond {
				t.Errorf("%s, %d bytes: %q after %v", api, len(body), got, took)
			}
		}
	}
}

// TestAnOriginThatDoesNotKnowExpect gets the body after a second.
func TestAnOriginThatDoesNotKnowExpect(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				length := 0
				for line := ""; line != "\r\n"; {
					if line, err = in.ReadString('\n'); err != nil {
						return
					}
					_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
				}
				n, _ := io.CopyN(io.Discard, in, int64(length))
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%d", n)
			}()
		}
	}()
	p := serve(t, "--to", "http://"+l.Addr().String())
	if got, took := expecting(t, p.public, "/a", "body"); fmt.Sprint(got) != "[100  200 4]" || took < 900*time.Millisecond {
		t.Errorf("%q after %v", got, took)
	}
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// badFraming are the fields of requests, with what follows, whose end is not certain (RFC 9112, sections 6.1 and 6.3).
func badFraming() map[string]string {
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
	const chunks = "2\r\nok\r\n0\r\n\r\n"
	return map[string]string{
		"a length and chunks":       "Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"chunks and a length":       "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n" + chunks,
		"chunks, a length and more": "Transfer-Encoding: chunked\r\nContent-Length: 55\r\n\r\n" + chunks + smuggled,
		"chunks and two lengths":    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" + chunks,
		"in other case":             "content-length: 12\r\ntransfer-encoding: Chunked\r\n\r\n" + chunks,
		"with an empty length":      "Content-Length:\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"with a field between":      "Content-Length: 12\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"lines without CR":          "Content-Length: 12\nTransfer-Encoding: chunked\n\n" + chunks,
		"two lengths":               "Content-Length: 2\r\nContent-Length: 4\r\n\r\nokok",
		"a list":                    "Content-Length: 2, 4\r\n\r\nokok",
		"a list of the same":        "Content-Length: 2, 2\r\n\r\nok",
		"a list before a space":     "Content-Length:  5, 5\r\n\r\n12345",
		"a sign":                    "Content-Length: +5\r\n\r\n12345",
		"a negative length":         "Content-Length: -5\r\n\r\n12345",
		"a hexadecimal length":      "Content-Length: 0x5\r\n\r\n12345",
		"an empty length":           "Content-Length:\r\n\r\n",
		"a length in words":         "Content-Length: five\r\n\r\n12345",
		"a length in two parts":     "Content-Length: 1 0\r\n\r\n1234567890",
		"a length before a space":   "Content-Length : 5\r\n\r\n12345",
		"a folded length":           "Content-Length: 1\r\n 0\r\n\r\n1234567890",
		"2^63":                      "Content-Length: 9223372036854775808\r\n\r\n",
		"2^64+5":                    "Content-Length: 18446744073709551621\r\n\r\n12345",
		"30 digits":                 "Content-Length: 100000000000000000000000000005\r\n\r\n12345",
		"chunks before a space":     "Transfer-Encoding : chunked\r\n\r\n" + chunks,
		"chunks behind a VT":        "Transfer-Encoding: \x0bchunked\r\n\r\n" + chunks,
		"folded chunks":             "Transfer-Encoding:\r\n identity, chunked\r\n\r\n" + chunks,
		"chunks at first, folded":   "X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n" + chunks,
		"chunks in two lines":       "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"chunks twice":              "Transfer-Encoding: chunked, chunked\r\n\r\n" + chunks,
		"a coding and chunks":       "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
		"a coding then chunks":      "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks,
		"chunks then a coding":      "Transfer-Encoding: chunked, gzip\r\n\r\n" + chunks,
		"an odd coding":             "Transfer-Encoding: xchunked\r\n\r\n" + chunks,
		"identity":                  "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
		"no coding":                 "Transfer-Encoding:\r\n\r\n" + chunks,
		"quoted chunks":             "Transfer-Encoding: \"chunked\"\r\n\r\n" + chunks,
		"a parameter":               "Transfer-Encoding: chunked;a=b\r\n\r\n" + chunks,
		"a sign before a chunk":     "Transfer-Encoding: chunked\r\n\r\n+2\r\nok\r\n0\r\n\r\n",
		"a negative chunk":          "Transfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
		"a chunk of 0x2":            "Transfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n",
		"a chunk of 17 digits":      "Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\nok\r\n0\r\n\r\n",
		"a chunk of 20 digits":      "Transfer-Encoding: chunked\r\n\r\n00000000000000000002\r\nok\r\n0\r\n\r\n",
		"a chunk without a size":    "Transfer-Encoding: chunked\r\n\r\n\r\nok\r\n0\r\n\r\n",
		"a chunk with a word":       "Transfer-Encoding: chunked\r\n\r\ntwo\r\nok\r\n0\r\n\r\n",
		"a chunk that is too long":  "Transfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
		"a chunk before a LF":       "Transfer-Encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n",
		"a huge extension":          "Transfer-Encoding: chunked\r\n\r\n2;a=" + strings.Repeat("b", 100_000) + "\r\nok\r\n0\r\n\r\n",
		"many extensions":           "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;a="+strings.Repeat("b", 1000)+"\r\nx\r\n", 1000) + "0\r\n\r\n",
		"a trailer without a colon": "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A\r\n\r\n",
		"a trailer of a length":     "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 5\r\n\r\n",
		"a bad chunk behind 100 kB": "Transfer-Encoding: chunked\r\n\r\n186a0\r\n" + strings.Repeat("x", 100_000) + "\r\n-2\r\nok\r\n0\r\n\r\n",
	}
}

// TestRequestsWithoutACertainEnd get 400, on a new connection, and behind a request that the fast path has answered.
func TestRequestsWithoutACertainEnd(t *testing.T) {
	t.Parallel()
	var smuggled atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "smuggled") {
			smuggled.Add(1)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, r.URL.Path)
	}))
	t.Cleanup(api.Close)
	p, plain := serve(t, "--to", api.URL), serveWith(t, map[string]string{"SUNDRY_EXPRESS": "false"}, "--to", api.URL)
	const before = "GET /kept HTTP/1.1\r\nHost: localhost\r\n\r\n"
	const upload = "PUT /upload HTTP/1.1\r\nHost: localhost\r\n"
	befores := map[string][]string{
		"at first":          nil,
		"behind a hit":      {before, before},
		"behind an upload":  {upload + "Content-Length: 2\r\n\r\nok"},
		"behind two":        {before, upload + "Content-Length: 2\r\n\r\nok", upload + "Content-Length: 0\r\n\r\n"},
		"behind an old one": {"GET /kept HTTP/1.0\r\nConnection: keep-alive\r\nHost: localhost\r\n\r\n"},
	}
	for name, text := range badFraming() {
		for method, path := range map[string]string{"GET": "/kept", "POST": "/posted", "DELETE": "/deleted"} {
			for where, requests := range befores {
				for _, pipelined := range []bool{false, true} {
					request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\n%s", method, path, text)
					if status := lastStatus(t, p.public, append(slices.Clip(requests), request), pipelined); status != http.StatusBadRequest {
						t.Errorf("%s, %s with %s, pipelined: %v: %d", where, method, name, pipelined, status)
					}
				}
			}
		}
	}
	for name, text := range badFraming() {
		if status := lastStatus(t, plain.public, []string{before, "POST /posted HTTP/1.1\r\nHost: localhost\r\n" + text}, false); status != http.StatusBadRequest {
			t.Errorf("without the fast path, %s: %d", name, status)
		}
	}
	const old = "POST /posted HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	for _, public := range []string{p.public, plain.public} {
		if status := lastStatus(t, public, []string{old}, false); status != http.StatusBadRequest {
			t.Errorf("chunks in HTTP/1.0: %d", status)
		}
	}
	if n := smuggled.Load(); n > 0 {
		t.Errorf("%d requests were smuggled", n)
	}
}

// lastStatus sends requests on one connection, and returns the status of the last one's response; 0: there is none.
func lastStatus(t *testing.T, public string, requests []string, pipelined bool) (status int) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(public, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if pipelined {
		_, _ = io.WriteString(c, strings.Join(requests, "")) // or it is refused before its end
	}
	in := bufio.NewReader(c)
	for _, request := range requests {
		if !pipelined {
			_, _ = io.WriteString(c, request)
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Log(err)
			return 0
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		status = resp.StatusCode
	}
	return status
}

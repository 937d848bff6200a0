package through

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"testing"
	"time"

	"sundry/cache/web"
)

// TestAReadyHeadFitsItsBody whatever the object says.
func TestAReadyHeadFitsItsBody(t *testing.T) {
	const body = "the body\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
	statuses := []int{-1, 0, 99, 100, 101, 103, 199, 200, 203, 204, 205, 206, 301, 304, 404, 416, 500, 599, 600, 999, 1000, 99999}
	fields := map[string][]string{
		"Content-Length": {"0", "1", "1000", "-1", "x", fmt.Sprint(len(body))}, "Transfer-Encoding": {"chunked", "identity", "gzip, chunked"},
		"Connection": {"close", "Content-Length, Date"}, "Trailer": {"Content-Length"}, "Upgrade": {"h2c"}, "Te": {"trailers"}, "Keep-Alive": {"timeout=1"},
		"X-A": {"a\r\nContent-Length: 1", "a\nTransfer-Encoding: chunked", "a\r\n\r\n"}, "X-A\r\nTransfer-Encoding": {"chunked"},
		"transfer-encoding": {"chunked"}, "content-length": {"1"}, "connection": {"close"}, "Age": {"x\r\n\r\n"}, "Date": {"\r\n\r\n"}, "Via": {"\r\n\r\n"},
	}
	ready := 0
	for _, status := range statuses {
		for name, values := range fields {
			for _, value := range values {
				head, ok := readyHead(t, status, http.Header{name: {value}}, body)
				if !ok {
					continue
				}
				ready++
				wantFraming(t, fmt.Sprintf("%d with %q: %q", status, name, value), append(head, body...), body)
			}
		}
	}
	if ready == 0 {
		t.Error("nothing lies ready")
	}
}

// readyHead is the head of a stored response with more fields than it was received with.
func readyHead(t *testing.T, status int, more http.Header, body string) (head []byte, ok bool) {
	t.Helper()
	h, now := newHandler(t, "origin.test", true, nil), time.Now()
	r := &web.Response{Status: status, Header: http.Header{"Cache-Control": {"max-age=60"}}, Requested: now, Received: now}
	terms, plain := web.TermsOf(r, &h.Rules), h.store.Selector(nil, &h.Rules)
	o := web.NewObject(r, &terms, &plain, &h.Rules).With([]byte(body), nil)
	maps.Copy(o.Header, more)
	if !h.store.Put("test/a", o) {
		t.Fatal("not stored")
	}
	head, _, _, ok = h.Ready(nil, "/a", func(*web.Object) (yes, known bool) { return true, true }, now)
	return head, ok
}

// wantFraming requires that a client reads one response from what was sent, with a body, and then another one behind it.
func wantFraming(t *testing.T, name string, sent []byte, body string) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(append(sent, "HTTP/1.1 204 No Content\r\n\r\n"...)))
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, sent)
		return
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != body || resp.ContentLength != int64(len(body)) || resp.Close || resp.TransferEncoding != nil {
		t.Errorf("%s: %d bytes, %+v %v\n%s", name, len(got), resp, err, sent)
		return
	}
	if next, err := http.ReadResponse(in, nil); err != nil || next.StatusCode != http.StatusNoContent {
		t.Errorf("%s: %v behind it\n%s", name, err, sent)
	}
}

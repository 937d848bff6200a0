package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAmbiguousFramingClosesTheConnection: where a proxy in front may see another
// end of a request than we do, what follows on the connection may be the rest of it
// (RFC 9112, 6.1 and 9.3).
func TestAmbiguousFramingClosesTheConnection(t *testing.T) {
	f := newFront(t, nil, replaying("ip", "sfz"))
	const chunks = "0\r\n\r\n"
	for name, r := range map[string]struct {
		request string
		ends    bool
	}{
		"both lengths":         {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, true},
		"chunks":               {"GET /api/sfz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, true},
		"both, at an endpoint": {"POST /api/ip HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + chunks, true},
		"1.0 with a body":      {"GET /healthz HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nab", true},
		"no body":              {"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", false},
		"a length":             {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", false},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(conn, r.request+"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		b := bufio.NewReader(conn)
		first, err := http.ReadResponse(b, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, _ = io.Copy(io.Discard, first.Body)
		_, err = http.ReadResponse(b, nil)
		if first.Close != r.ends || (err != nil) != r.ends {
			t.Errorf("%s: the connection ends: %v, and what follows on it: %v", name, first.Close, err)
		}
		_ = conn.Close()
	}
}

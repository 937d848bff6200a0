package through

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"sundry/upstreams/lib/costtest"
)

// rawOrigin answers each request, once its head has come, byte by byte, and keeps the connection.
func rawOrigin(t *testing.T, answer func(c net.Conn, in *bufio.Reader)) *world {
	back := newMemory()
	t.Cleanup(func() { _ = back.Close() })
	go func() {
		for {
			c, err := back.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			go func() {
				for in := bufio.NewReader(c); ; {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					answer(c, in)
				}
			}()
		}
	}()
	return serveWorld(t, back.dial)
}

// TestStatusesBelow200 are no answers: the caller is told that there is none.
func TestStatusesBelow200(t *testing.T) {
	for _, status := range []string{"099 Odd", "000 None", "101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade"} {
		synctest.Test(t, func(t *testing.T) {
			s := rawOrigin(t, func(c net.Conn, _ *bufio.Reader) {
				fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Length: 1\r\n\r\nx", status)
				_ = c.Close()
			})
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
				if a := s.ask(method, "/a", ""); a.err != nil || a.status != http.StatusBadGateway {
					t.Errorf("%s, %q: %d %v", method, status, a.status, a.err)
				}
			}
		})
	}
}

// TestHeads of an origin end where net/http has them end, and may be so long and no longer.
func TestHeads(t *testing.T) {
	const long = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Long: "
	for name, row := range map[string]struct {
		text string
		want int
	}{
		"lines without CR":      {"HTTP/1.1 200 OK\nTransfer-Encoding: identity\nContent-Length: 2\n\nok", 200},
		"some lines without CR": {"HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok", 200},
		"interim responses":     {"HTTP/1.1 103 Early Hints\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200},
		"long":                  {long + strings.Repeat("a", maxHead/2) + "\r\n\r\nok", 200},
		"too long":              {long + strings.Repeat("a", maxHead) + "\r\n\r\nok", 502},
		"many":                  {long + fieldLines(maxFields-3) + "\r\n\r\nok", 200},
		"too many":              {long + fieldLines(maxFields) + "\r\n\r\nok", 502},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rawOrigin(t, func(c net.Conn, _ *bufio.Reader) { _, _ = io.WriteString(c, row.text) })
				for range 2 {
					if a := s.get("/a"); a.status != row.want || row.want == 200 && a.body != "ok" || a.took > 0 {
						t.Errorf("%d %q after %v: %v", a.status, a.body, a.took, a.err)
					}
				}
			})
		})
	}
}

// TestTheEndOfAHeadIsFoundInLinearTime: an origin may send one long line octet by octet.
func TestTheEndOfAHeadIsFoundInLinearTime(t *testing.T) {
	costtest.LinearInLength(t, func(length int) {
		line, c := bytes.Repeat([]byte("a"), length), &headFilter{}
		for n := range line {
			if c.headEnd(line[:n+1]) >= 0 {
				t.Fatal("a line without an end is a header")
			}
		}
	})
}

// fieldLines are the lines of so many fields, behind another one.
func fieldLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\r\nA%d: b", i)
	}
	return b.String()
}

// TestARequestInABody is none, after which a head would begin: not in an upload that is answered already, nor in another protocol.
func TestARequestInABody(t *testing.T) {
	const line = "GET / HTTP/1.1\r\n"
	t.Run("upload", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				control := http.NewResponseController(w)
				_ = control.EnableFullDuplex()
				w.Header().Set("Content-Length", "4")
				_ = control.Flush()
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(w, "done")
			})
			if a := s.ask(http.MethodPost, "/a", strings.Repeat(line, 10_000)); a.body != "done" || a.took > 0 {
				t.Errorf("%d %q after %v: %v", a.status, a.body, a.took, a.err)
			}
		})
	})
	t.Run("protocol", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := rawOrigin(t, func(c net.Conn, in *bufio.Reader) {
				_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
				_, _ = in.ReadString('\n')
				_, _ = io.WriteString(c, "heard\n")
			})
			c, err := s.front.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			in := bufio.NewReader(c)
			if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
				t.Fatal(resp, err)
			}
			go func() { _, _ = io.WriteString(c, line) }()
			if got, err := in.ReadString('\n'); got != "heard\n" {
				t.Errorf("%q, %v", got, err)
			}
		})
	})
}

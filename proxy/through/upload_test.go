package through

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"
	"sundry/upstreams/host"
)

// TestUploadsAreLimited sends bodies up to the limit and beyond, with and without Content-Length. Larger ones get 413, and the API never
// takes a truncated one for complete.
func TestUploadsAreLimited(t *testing.T) {
	t.Parallel()
	const most = 100_000 // more than what arrives before the request is sent
	for name, row := range map[string]struct {
		length  int
		chunked bool
		want    int
		asks    int64
	}{
		"the largest":          {most, false, 200, 1},
		"the largest, chunked": {most, true, 200, 1},
		"a byte more":          {most + 1, false, 413, 0},
		"a byte more, chunked": {most + 1, true, 413, 1},
		"none":                 {0, false, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				if n, err := io.Copy(io.Discard, r.Body); err == nil && n != int64(row.length) {
					t.Errorf("the API takes %d bytes for the whole", n)
				}
			}, func(s *Settings) { s.Upload = most })
			body := io.Reader(strings.NewReader(strings.Repeat("x", row.length)))
			if row.chunked {
				body = struct{ io.Reader }{body}
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test/a", body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := s.client.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			told, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != row.want {
				t.Errorf("%d %s, %v", resp.StatusCode, told, err)
			}
			if row.want == 413 && !strings.Contains(string(told), "at most 100000 bytes") {
				t.Errorf("%s", told)
			}
			if s.calls.Load() > row.asks {
				t.Errorf("the API is asked %d times", s.calls.Load())
			}
		})
	}
}

// TestALargeUploadIsRefusedBeforeItIsSent: a client that waits for 100 (RFC 9110, section 10.1.1) gets 413 instead.
func TestALargeUploadIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	s := newWorld(t, func(http.ResponseWriter, *http.Request) {}, func(s *Settings) { s.Upload = 10 })
	c, err := s.front.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprint(c, "PUT /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatal(resp, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the connection goes on, though its next bytes may be the body: %v", err)
	}
	s.wantCalls(0)
}

// TestASlowUploadTakesNothing: until it has arrived, an upload of up to bodyWindow takes no connection, does not count among the waiting
// requests, and takes no slot of the host or of Transfers.
func TestASlowUploadTakesNothing(t *testing.T) {
	for name, length := range map[string]string{"with its length": "Content-Length: 61440\r\n\r\n", "in chunks": "Transfer-Encoding: chunked\r\n\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			var dials, waits atomic.Int64
			var hosts host.Hosts
			transfers, back := clients.NewLimit(100), newMemory()
			s := serveWorld(t, func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return back.dial(ctx, network, address)
			}, func(s *Settings) {
				s.Transfers = transfers
				s.Admit = func(clients.ID, time.Time) bool { waits.Add(1); return true }
				s.Leave = func(clients.ID) {}
			})
			busy := hosts.GetWith("origin.test", 1)
			s.h.origin.targets[0].Host = busy
			serveOrigin(t, back, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n, err := io.Copy(io.Discard, r.Body)
				fmt.Fprint(w, n, err)
			})})
			c, err := s.front.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, "PUT /a HTTP/1.1\r\nHost: x\r\n"+length)
			chunked := strings.HasPrefix(length, "Transfer")
			piece := strings.Repeat("x", 6<<10)
			if chunked {
				piece = fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece)
			}
			for i := range 10 {
				synctest.Wait()
				_, done, err := busy.Enter(t.Context(), 0)
				if err != nil || dials.Load()+waits.Load()+transfers.Used() != 0 {
					t.Fatalf("%s, after %d pieces: %d dials, %d waits, %d transfers, slot %v", name, i, dials.Load(), waits.Load(), transfers.Used(), err)
				}
				done(host.Ignored)
				fmt.Fprint(c, piece)
				time.Sleep(5 * time.Second)
			}
			if chunked {
				fmt.Fprint(c, "0\r\n\r\n")
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(resp.Body); string(body) != "61440 <nil>" || dials.Load() != 1 || waits.Load() != 1 {
				t.Errorf("%s: %s, %d dials, %d waits", name, body, dials.Load(), waits.Load())
			}
		})
	}
}

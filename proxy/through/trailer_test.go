package through

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestTrailersAreNoHeaders: neither an origin nor a client gets a field in a trailer that says where a message goes, ends or comes from.
func TestTrailersAreNoHeaders(t *testing.T) {
	got := make(chan http.Header, 1)
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got <- r.Trailer.Clone()
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		for _, name := range []string{"Content-Length", "Set-Cookie", "Connection", "X-Sum"} {
			w.Header().Set(http.TrailerPrefix+name, "9")
		}
	})
	c, err := s.front.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	names := []string{"X-Forwarded-For", "X_Real_Ip", "Cookie", "Cdn-Loop", "Host", "X-Sum", "X-Http-Method-Override"}
	go fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nTrailer: %s\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n%s: 1\r\n\r\n",
		strings.Join(names, ", "), strings.Join(names, ": 1\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	for side, trailer := range map[string]http.Header{"origin": <-got, "client": resp.Trailer} {
		if len(trailer) != 1 || trailer.Get("X-Sum") == "" {
			t.Errorf("the %s gets %v", side, trailer)
		}
	}
}

// TestTrailersOfEmptyBodies reach the client even if the end of the body has come with the header. The test repeats this, because it depends
// on timing.
func TestTrailersOfEmptyBodies(t *testing.T) {
	s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.WriteHeader(http.StatusOK)
		w.Header().Set("X-Sum", "0")
	})
	for i := range 500 {
		r, err := newRequest(t.Context(), http.MethodPost, fmt.Sprint("http://api.test/", i), "body", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.Trailer.Get("X-Sum") != "0" {
			t.Fatalf("response %d has the trailer %v", i, resp.Trailer)
		}
	}
}

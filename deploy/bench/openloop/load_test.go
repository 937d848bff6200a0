//go:build linux

package openloop

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func serve(t *testing.T, h http.HandlerFunc) *Load {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	address := strings.TrimPrefix(s.URL, "http://")
	return &Load{Address: address, Connections: 4, Requests: [][]byte{
		[]byte("GET /a HTTP/1.1\r\nHost: " + address + "\r\n\r\n"), []byte("GET /b HTTP/1.1\r\nHost: " + address + "\r\n\r\n"),
	}}
}

func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	var a, b atomic.Int64
	l := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a" {
			a.Add(1)
			_, _ = w.Write([]byte(strings.Repeat("x", 2000)))
			return
		}
		b.Add(1)
		w.WriteHeader(http.StatusNotModified)
	})
	got, err := l.Offer(Times(1001))
	if err != nil {
		t.Fatal(err)
	}
	if a.Load() != 501 || b.Load() != 500 || got.Answers() != 1001 || got.Statuses[200] != 501 || got.Statuses[304] != 500 || got.Bytes < 501*2000 {
		t.Errorf("%d and %d requests; %d answers with %v, %d bytes", a.Load(), b.Load(), got.Answers(), got.Statuses, got.Bytes)
	}
}

func TestHeadHasNoBody(t *testing.T) {
	l := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000") })
	l.Head, l.Requests = true, [][]byte{[]byte("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")}
	if got, err := l.Offer(Times(100)); err != nil || got.Statuses[200] != 100 {
		t.Error(got, err)
	}
}

// TestAPauseIsChargedToAllWhoCame stops a server for a while: all requests that were
// due meanwhile have waited, though they were sent afterwards.
func TestAPauseIsChargedToAllWhoCame(t *testing.T) {
	const pause = 200 * time.Millisecond
	var requests atomic.Int64
	var once atomic.Bool
	release := make(chan struct{})
	l := serve(t, func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) > 20 {
			if once.CompareAndSwap(false, true) {
				time.AfterFunc(pause, func() { close(release) })
			}
			<-release
		}
	})
	got, err := l.Offer(Constant(1000, 400*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, took := range got.Took {
		if took > pause/4 {
			late++
		}
	}
	// 200 were due in the pause, and three quarters of them more than a quarter of it before its end.
	if got.Answers() != 400 || late < 100 {
		t.Errorf("%d of %d answers took long", late, got.Answers())
	}
}

func TestABrokenConnectionIsAnError(t *testing.T) {
	l := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	if _, err := l.Offer(Times(10)); err == nil {
		t.Error("no error")
	}
}

func TestQuantile(t *testing.T) {
	took := []time.Duration{5, 1, 4, 2, 3}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 3, 1: 5} {
		if got := Quantile(took, q); got != want {
			t.Errorf("%v: %d, expected %d", q, got, want)
		}
	}
	if Quantile(nil, 0.5) != 0 {
		t.Error("expected 0 of none")
	}
}

func TestConstantIsEven(t *testing.T) {
	var last time.Duration
	n := 0
	for due := range Constant(1000, time.Second) {
		if n > 0 && due-last != time.Millisecond {
			t.Fatalf("%v after %v", due, last)
		}
		last = due
		n++
	}
	if n != 1000 {
		t.Errorf("%d requests, expected 1000", n)
	}
}

func TestPoissonHasItsRate(t *testing.T) {
	n := 0
	for range Poisson(10_000, time.Second) {
		n++
	}
	if n < 9000 || n > 11_000 {
		t.Errorf("%d requests, expected about 10,000", n)
	}
}

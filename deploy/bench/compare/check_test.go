//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sundry/deploy/bench/harness"
)

func newTestBench(t *testing.T) *bench {
	t.Helper()
	h, err := harness.New(t.Context(), io.Discard, &harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &bench{Bench: h, smallest: map[string]int64{}, etags: map[string]string{}}
}

// TestWhatIsNotWhatItSeemsIsNoFigure has a Sundry that counts one thing while the load
// got another.
func TestWhatIsNotWhatItSeemsIsNoFigure(t *testing.T) {
	hits := hit("hit", "", "/", nil)
	for name, c := range map[string]struct {
		row     *row
		server  server // name, and whether a Sundry is behind it
		behind  bool
		counted string // by Sundry, while it was measured
		got     outcome
		want    string // "" is no error
	}{
		"hits":                 {hits, server{name: sundryReplay}, false, `sundry_requests_total{outcome="hit"} 110`, outcome{answers: 100, bytes: 200_000}, ""},
		"a failed request":     {hits, server{name: sundryReplay}, false, `sundry_requests_total{outcome="hit"} 110`, outcome{answers: 100, bytes: 200_000, failed: 1}, "1 of 100 requests failed"},
		"too few answers":      {hits, server{name: sundryReplay}, false, `sundry_requests_total{outcome="hit"} 9`, outcome{answers: 9, bytes: 20_000}, "only 9 answers"},
		"short answers":        {hits, server{name: sundryReplay}, false, `sundry_requests_total{outcome="hit"} 110`, outcome{answers: 100, bytes: 100}, "1 bytes for each answer"},
		"a miss among hits":    {hits, server{name: sundryReplay}, false, "sundry_requests_total{outcome=\"hit\"} 110\nsundry_requests_total{outcome=\"miss\"} 1", outcome{answers: 100, bytes: 200_000}, "miss:1"},
		"hits that nobody saw": {hits, server{name: sundryReplay}, false, `sundry_requests_total{outcome="hit"} 50`, outcome{answers: 100, bytes: 200_000}, "counted 50"},
		"a cache":              {hits, server{name: nginx}, true, "", outcome{answers: 100, bytes: 200_000}, ""},
		"a cache that asks":    {hits, server{name: nginx}, true, `sundry_requests_total{outcome="hit"} 1`, outcome{answers: 100, bytes: 200_000}, "it asked Sundry"},
		"misses":               {&row{name: "miss", once: true, outcomes: []string{"miss"}}, server{name: sundryFetches}, false, `sundry_requests_total{outcome="miss"} 100`, outcome{answers: 100}, ""},
		"misses that are asked again": {&row{name: "miss", once: true, outcomes: []string{"miss"}}, server{name: sundryFetches}, false, `sundry_requests_total{outcome="miss"} 300`,
			outcome{answers: 300}, "some were repeated"},
		"hits of Redis": {hits, server{name: sundryRedis}, false, "sundry_requests_total{outcome=\"hit\"} 100\n# TYPE sundry_far_reads_total counter\nsundry_far_reads_total{result=\"hit\"} 100",
			outcome{answers: 100, bytes: 200_000}, ""},
		"hits of the near tier": {hits, server{name: sundryRedis}, false, "sundry_requests_total{outcome=\"hit\"} 100\n# TYPE sundry_far_reads_total counter\nsundry_far_reads_total{result=\"hit\"} 50",
			outcome{answers: 100, bytes: 200_000}, "only 50 came from Redis"},
	} {
		metrics := ""
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "# TYPE sundry_requests_total counter\n%s\n", metrics)
		}))
		sundry := &server{name: sundryReplay, admin: strings.TrimPrefix(admin.URL, "http://")}
		measured := c.server
		if c.behind {
			measured.origin = sundry
		} else {
			measured.admin = sundry.admin
		}
		b := newTestBench(t)
		b.smallest = map[string]int64{"hit": 1000}
		w, err := b.watch(c.row, &measured)
		if err != nil {
			t.Fatal(err)
		}
		metrics = c.counted
		err = w.check(c.row, &c.got, 200)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
		b.Close()
		admin.Close()
	}
}

// TestAnswersAreLookedAt has a server that answers something else than Sundry does.
func TestAnswersAreLookedAt(t *testing.T) {
	start := func(status int, cacheStatus, body string) *server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Status", cacheStatus)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return &server{address: strings.TrimPrefix(s.URL, "http://")}
	}
	const isHit = "sundry; hit; ttl=1; detail=memory"
	for name, c := range map[string]struct {
		status            int
		cacheStatus, body string
		want              string
	}{
		"the same":     {200, isHit, "body", ""},
		"another body": {200, isHit, "else", "expected the 4 bytes"},
		"an error":     {502, isHit, "body", "expected status 200"},
		"a miss":       {200, "sundry; fwd=miss", "body", "unexpected Cache-Status"},
		"not a Sundry": {200, "", "body", "unexpected Cache-Status"},
	} {
		b := newTestBench(t)
		b.servers = map[string]*server{sundryReplay: start(200, isHit, "body")}
		s := start(c.status, c.cacheStatus, c.body)
		s.name = sundryPlain
		err := b.sample(hit("hit", "", "/", nil), s, "/")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
}

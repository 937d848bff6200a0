// Command overload offers a server more than it can do, half of it what its
// cache has, half QR codes that must be drawn, and tells what comes of each. The
// offered rate does not depend on the answers: requests begin when they are due,
// and their time counts from then. deploy/bench/overload.sh runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sundry/deploy/bench/openloop"
)

func main() {
	base := flag.String("url", "http://127.0.0.1:8080", "server under test, with limits.rate: 0")
	span := flag.Duration("span", 10*time.Second, "time of each step")
	hit := flag.String("hit", "/api/60s/index.php", "what the cache has")
	miss := flag.String("draw", "/api/qrcode/index.php?size=1000&text=", "what must be drawn, with an ever new text behind it")
	flag.Parse()
	l := &load{base: *base, hit: *hit, draw: *miss, run: rand.Uint64(), client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true}, Timeout: 10 * time.Second,
	}}
	if err := l.report(*span); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// load is what is offered.
type load struct {
	client          *http.Client
	base, hit, draw string
	run             uint64 // of texts that no run before drew
	texts           atomic.Uint64
}

// outcome of requests of one kind.
type outcome struct {
	mu     sync.Mutex
	good   []time.Duration // 200
	shed   int             // 503 with Retry-After
	failed int             // anything else
	timely int             // 200 while requests were still offered
}

// report tells the capacity, and what comes of one, two and four times as much.
func (l *load) report(span time.Duration) error {
	if o := l.ask(l.hit); o != good {
		return fmt.Errorf("%s%s is not answered", l.base, l.hit)
	}
	capacity := l.capacity(span)
	fmt.Printf("capacity: %.0f requests a second, half hits, half drawings\n\n", capacity)
	fmt.Println("| offered | hits p50 | hits p99 | hits max | hits shed | drawings p99 | drawings shed | drawn per second | answered per second | failed |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, times := range []float64{0.5, 1, 2, 4} {
		hits, draws := l.offer(times*capacity, span)
		rate := func(n int) float64 { return float64(n) / span.Seconds() }
		fmt.Printf("| %.1f × %.0f/s | %s | %s | %s | %s | %s | %s | %.0f | %.0f | %d |\n", times, capacity,
			quantile(hits.good, 0.5), quantile(hits.good, 0.99), quantile(hits.good, 1), share(hits), quantile(draws.good, 0.99), share(draws),
			rate(draws.timely), rate(hits.timely+draws.timely), hits.failed+draws.failed)
		time.Sleep(2 * time.Second) // until all is quiet
	}
	return nil
}

// capacity is what two callers get who ask one thing after the other: a hit,
// then a drawing.
func (l *load) capacity(span time.Duration) float64 {
	var done atomic.Int64
	var callers sync.WaitGroup
	begin := time.Now()
	for range 2 {
		callers.Go(func() {
			for time.Since(begin) < span {
				for _, path := range []string{l.hit, l.next()} {
					if l.ask(path) == good {
						done.Add(1)
					}
				}
			}
		})
	}
	callers.Wait()
	return float64(done.Load()) / time.Since(begin).Seconds()
}

// offer begins so many requests a second, as they come from many callers who do
// not know of each other.
func (l *load) offer(rate float64, span time.Duration) (hits, draws *outcome) {
	hits, draws = &outcome{}, &outcome{}
	var requests sync.WaitGroup
	begin := time.Now()
	for due := range openloop.Poisson(rate, span) {
		time.Sleep(time.Until(begin.Add(due)))
		path, o := l.hit, hits
		if rand.N(2) == 0 {
			path, o = l.next(), draws
		}
		requests.Go(func() {
			came := l.ask(path)
			o.add(came, time.Since(begin.Add(due)), time.Since(begin) < span)
		})
	}
	requests.Wait()
	return hits, draws
}

func (l *load) next() string { return fmt.Sprintf("%s%x-%d", l.draw, l.run, l.texts.Add(1)) }

// What comes of a request.
const (
	good = iota
	shed
	failed
)

func (l *load) ask(path string) int {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, l.base+path, http.NoBody)
	if err != nil {
		return failed
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return failed
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	_, err = io.Copy(io.Discard, resp.Body)
	switch {
	case err != nil:
		return failed
	case resp.StatusCode == http.StatusOK && !strings.Contains(resp.Header.Get("Content-Type"), "text/plain"):
		return good
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		return shed
	}
	return failed
}

func (o *outcome) add(came int, took time.Duration, timely bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch came {
	case good:
		if timely {
			o.timely++
		}
		o.good = append(o.good, took)
	case shed:
		o.shed++
	default:
		o.failed++
	}
}

func quantile(took []time.Duration, q float64) string {
	if len(took) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", openloop.Quantile(took, q).Seconds()*1000)
}

func share(o *outcome) string {
	if n := len(o.good) + o.shed + o.failed; n > 0 {
		return fmt.Sprintf("%.0f %%", 100*float64(o.shed)/float64(n))
	}
	return "-"
}

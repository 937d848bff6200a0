package suitetest

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

const (
	// every is how often a test begins. They do little but pause, so that many run at the same time, and no two at once.
	every = 25 * time.Millisecond
	// pause is what the suite calls pause_after.
	pause = 3 * time.Second
	// arrival is how long instances have to tell each other what one of them did.
	arrival = 250 * time.Millisecond
)

// Run is the suite with its origin, for a cache in front of it.
type Run struct {
	*origin
	tests     []*test
	transport *http.Transport
	host      string // the Host of all requests, as from a balancer in front
}

// Start starts the origin, or skips the test where the suite is not at hand.
func Start(t *testing.T) *Run {
	t.Helper()
	all := read(t)
	r := &Run{origin: startOrigin(t), tests: all, transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: len(all)}}
	t.Cleanup(r.transport.CloseIdleConnections)
	return r
}

// Over makes the client reach the cache over TLS, by these versions of HTTP.
func (r *Run) Over(config *tls.Config, protocols *http.Protocols) {
	r.transport.TLSClientConfig, r.transport.Protocols = config, protocols
}

// Hold runs the suite against a cache, whose instances have these URLs: the requests of a test take turns.
func (r *Run) Hold(t *testing.T, instances ...string) {
	t.Helper()
	if u, err := url.Parse(instances[0]); err == nil {
		r.host = u.Host
	}
	verdicts := map[string]*failure{}
	var mu sync.Mutex
	var all sync.WaitGroup
	next := time.NewTicker(every)
	defer next.Stop()
	for _, one := range r.tests {
		<-next.C
		all.Go(func() {
			v := r.run(one, instances)
			mu.Lock()
			defer mu.Unlock()
			verdicts[one.ID] = v
		})
	}
	all.Wait()
	judge(t, r.tests, verdicts)
}

// failure is why a test is not passed.
type failure struct {
	setup bool // what failed was to prepare it
	why   string
}

func fails(setup bool, format string, args ...any) *failure {
	return &failure{setup, fmt.Sprintf(format, args...)}
}

// run runs one test; nil: it is passed.
func (r *Run) run(one *test, instances []string) *failure {
	t := &running{test: one, uuid: newUUID()}
	r.begin(t)
	var answers []*answer
	for i, says := range one.Requests {
		var before *answer
		if i > 0 {
			before = answers[i-1]
		}
		a, err := r.ask(t, i, says, before, instances[i%len(instances)])
		if err != nil {
			return fails(true, "request %d: %v", i+1, err)
		}
		answers = append(answers, a)
		if v := t.check(i, says, a); v != nil {
			return v
		}
		if len(instances) > 1 {
			time.Sleep(arrival)
		}
		if says.PauseAfter {
			time.Sleep(pause)
		}
	}
	return t.checkSeen(answers)
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

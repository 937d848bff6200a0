package panics

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
)

// lines are those of a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newCatcher(t *testing.T) (*Catcher, *lines) {
	t.Helper()
	log := &lines{}
	return New(prometheus.NewRegistry(), slog.New(slog.NewTextHandler(log, nil))), log
}

func (c *Catcher) counted(t Task) float64 {
	return testutil.ToFloat64(c.count.WithLabelValues(string(t)))
}

func fails() { panic("it failed") }

// TestPanicIsLoggedAndCounted: with its stack, under its task alone.
func TestPanicIsLoggedAndCounted(t *testing.T) {
	c, log := newCatcher(t)
	if n := testutil.CollectAndCount(c.count); n != len(tasks()) {
		t.Errorf("%d series at zero, want one for each of %d tasks", n, len(tasks()))
	}
	done := make(chan struct{})
	c.Go(History, func() { defer close(done); c.Func(Lease, fails)() })
	<-done
	if c.counted(Lease) != 1 || c.counted(History) != 0 {
		t.Errorf("lease %v, history %v", c.counted(Lease), c.counted(History))
	}
	for _, want := range []string{"level=ERROR", "task=lease", "it failed", "panics.fails"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log)
		}
	}
}

func TestPanicBecomesAnError(t *testing.T) {
	c, _ := newCatcher(t)
	other := errors.New("another")
	for _, row := range []struct {
		name string
		c    *Catcher
		do   func() error
		want string
	}{
		{"a panic", c, func() error { panic("it failed") }, "fill panicked: it failed"},
		{"a panic with nil", c, func() error { panic(nil) }, "fill panicked: panic called with nil"},
		{"an error", c, func() error { return other }, "another"},
		{"a panic, and nowhere to log it", nil, func() error { panic("it failed") }, "fill panicked: it failed\ngoroutine"},
	} {
		if err := row.c.FuncErr(Fill, row.do)(); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
	}
	if err := c.FuncErr(Fill, func() error { return nil })(); err != nil || c.counted(Fill) != 2 {
		t.Errorf("%v, counted %v", err, c.counted(Fill))
	}
}

// TestNilCatchesNothing: a test sees the panic.
func TestNilCatchesNothing(t *testing.T) {
	var c *Catcher
	for name, do := range map[string]func(){"func": c.Func(Fill, fails), "loop": c.Loop(t.Context(), Fill, func(context.Context) { fails() })} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: caught", name)
				}
			}()
			do()
		}()
	}
}

// TestLoopGoesOn: after a pause that grows while it fails at once, and starts anew when
// it had worked for a while.
func TestLoopGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newCatcher(t)
		var at []time.Duration
		start := time.Now()
		loop := c.Loop(t.Context(), WarmUp, func(context.Context) {
			at = append(at, time.Since(start))
			switch len(at) {
			case 12:
				return
			case 10:
				time.Sleep(time.Minute)
			}
			fails()
		})
		loop()
		if len(at) != 12 || c.counted(WarmUp) != 11 {
			t.Fatalf("%d calls, %v panics", len(at), c.counted(WarmUp))
		}
		for i, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
			if got := at[i+1] - at[i]; got != want {
				t.Errorf("pause %d: %v, want %v", i, got, want)
			}
		}
		if got := at[9] - at[8]; got != lastPause {
			t.Errorf("the longest pause is %v", got)
		}
		if got := at[10] - at[9]; got != time.Minute+firstPause {
			t.Errorf("after a minute of work it paused for %v", got-time.Minute)
		}
	})
}

// TestLoopEndsWithItsContext: also in a pause.
func TestLoopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newCatcher(t)
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		begin := time.Now()
		c.Loop(ctx, WarmUp, func(context.Context) { fails() })()
		if took := time.Since(begin); took != 250*time.Millisecond || c.counted(WarmUp) != 2 {
			t.Errorf("ended after %v and %v panics", took, c.counted(WarmUp))
		}
	})
}

// serving is an http.Server that is guarded, on a listener of the test's.
func serving(t *testing.T, c *Catcher, srv *http.Server, wrap func(net.Listener) net.Listener) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Server(srv)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(c.Listener(wrap(l))) }()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the server ended: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

// failingListener panics at the first accept.
type failingListener struct {
	net.Listener
	accepts atomic.Int64
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.accepts.Add(1) == 1 {
		panic("it failed")
	}
	return l.Listener.Accept()
}

// TestServerSurvives what panics in its handler, its hook and its listener; connections
// that are aborted on purpose are no panics.
func TestServerSurvives(t *testing.T) {
	c, log := newCatcher(t)
	states := atomic.Int64{}
	url := serving(t, c, &http.Server{
		ReadHeaderTimeout: time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
		ConnState: func(net.Conn, http.ConnState) { states.Add(1); panic("it failed") },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/panics":
				panic("it failed")
			case "/aborts":
				panic(http.ErrAbortHandler)
			}
		}),
	}, func(l net.Listener) net.Listener { return &failingListener{Listener: l} })
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, row := range []struct {
		path    string
		answers bool
		panics  float64
	}{{"/", true, 0}, {"/panics", false, 1}, {"/aborts", false, 1}, {"/", true, 1}} {
		resp, err := client.Get(url + row.path)
		if err == nil {
			_ = resp.Body.Close()
		}
		if got := c.counted(Request); (err == nil) != row.answers || got != row.panics {
			t.Errorf("%s: %v, %v panics of requests", row.path, err, got)
		}
	}
	if got := c.counted(Listener); got < 5 || got > float64(states.Load())+1 {
		t.Errorf("%v panics of the listener, the hook was called %d times", got, states.Load())
	}
	if n := strings.Count(log.String(), "task=request"); n != 1 {
		t.Errorf("%d panics of requests in the log", n)
	}
}

type failingCollector struct{ prometheus.Collector }

func (failingCollector) Collect(chan<- prometheus.Metric) { panic("it failed") }

// TestScrapeSurvives: the others are there.
func TestScrapeSurvives(t *testing.T) {
	all := prometheus.NewRegistry()
	c := New(all, slog.New(slog.DiscardHandler))
	reg, one, two := c.Registerer(all), prometheus.NewCounter(prometheus.CounterOpts{Name: "one_total", Help: "One."}), prometheus.NewCounter(prometheus.CounterOpts{Name: "two_total", Help: "Two."})
	reg.MustRegister(one)
	if err := reg.Register(failingCollector{two}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		families, err := all.Gather()
		if err != nil || !slices.ContainsFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == "one_total" }) {
			t.Errorf("%v: %v", err, families)
		}
		if got := c.counted(Scrape); got != float64(i+1) {
			t.Errorf("%v panics after %d scrapes", got, i+1)
		}
	}
}

package proxy

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTraceParents(t *testing.T) {
	for v, want := range map[string]bool{
		parent: true, "01" + parent[2:]: true, "01" + parent[2:] + "-x": true,
		"": false, "ff" + parent[2:]: false, parent + "-x": false, "01" + parent[2:] + "x": false, parent[:54]: false, strings.ToUpper(parent): false,
		strings.Replace(parent, "4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("0", 32), 1): false,
		strings.Replace(parent, "00f067aa0ba902b7", strings.Repeat("0", 16), 1):                 false,
		strings.Replace(parent, "-01", "-0g", 1):                                                false,
		strings.ReplaceAll(parent, "-", "_"):                                                    false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Traceparent", v)
		if got := traceParent(r); (got == v && got != "") != want {
			t.Errorf("%q: %q", v, got)
		}
	}
}

// lines is a log that requests write to from their own goroutines.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestTracesCanBeJoined: a well-formed traceparent is logged and sent to the
// operator's own upstreams. Third parties get neither the trace nor the request id.
func TestTracesCanBeJoined(t *testing.T) {
	var got http.Header
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		_, _ = w.Write([]byte(`{"v":"x"}`))
	}))
	defer up.Close()
	log := &lines{}
	third := simple("ttl: 1m", &fake{Server: up})
	own := strings.Replace(strings.Replace(third, "name: simple", "name: own", 1), "http: {", "http: {trace: true, ", 1)
	f := newFront(t, map[string]string{"simple": third, "own": own},
		func(c *Config, _ *upstreams.Environment) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
	f.get("/api/own?id=1", "Traceparent", parent, "Tracestate", "vendor=1", "X-Request-Id", "abc-1")
	if got.Get("Traceparent") != parent || got.Get("Tracestate") != "vendor=1" || got.Get("X-Request-Id") != "abc-1" {
		t.Errorf("the upstream saw %v", got)
	}
	if !strings.Contains(log.String(), "traceparent="+parent) || !strings.Contains(log.String(), "id=abc-1") {
		t.Errorf("the log: %s", log)
	}
	f.get("/api/own?id=2", "Traceparent", "rubbish", "Tracestate", "vendor=1", "X-Request-Id", "not an id!")
	if got.Get("Traceparent") != "" || got.Get("Tracestate") != "" || strings.Contains(got.Get("X-Request-Id"), " ") || got.Get("X-Request-Id") == "" {
		t.Errorf("the upstream saw %v", got)
	}
	f.get("/api/simple?id=3", "Traceparent", parent, "Tracestate", "vendor=1", "X-Request-Id", "abc-3")
	if got.Get("Traceparent") != "" || got.Get("Tracestate") != "" || got.Get("X-Request-Id") != "" {
		t.Errorf("a third party saw %v", got)
	}
}

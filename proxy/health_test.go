package proxy

import (
	"net/http"
	"testing"
)

func TestDrainingAnswersAreTheLastOfTheirConnection(t *testing.T) {
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", newFake(t, `{"v":"one"}`))})
	f.server.SetReady(true)
	f.get("/readyz").want(t, http.StatusOK, "ok")
	f.server.Drain()
	f.get("/readyz").want(t, http.StatusServiceUnavailable, "draining")
	for path, status := range map[string]int{"/api/simple": 200, "/api/nope": 404, "/": 200, "/healthz": 200, "/openapi.json": 200, "/x": 404} {
		if a := f.get(path); !a.Close || a.StatusCode != status {
			t.Errorf("%s: %d, close %v", path, a.StatusCode, a.Close)
		}
	}
}

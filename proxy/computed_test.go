package proxy

import (
	"fmt"
	"net/http"
	"testing"

	"sundry/cache/policy"
)

// TestComputedAnswersHaveACacheClassOfTheirOwn: drawings do not evict what came from
// upstreams, and have the same headers as other answers.
func TestComputedAnswersHaveACacheClassOfTheirOwn(t *testing.T) {
	up := newFake(t, `{"v":"hard to get"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}).withBuiltins("ipinfo", "qrcode")
	for name, path := range map[string]string{"qrcode": "/api/qrcode?text=a", "ipinfo": "/api/ipinfo"} {
		if class := f.server.current.Load().routes[name].space.Policy().Class; class != policy.Computed {
			t.Errorf("%s is cached in the class %s", name, class)
		}
		first, second := f.get(path), f.get(path)
		first.want(t, http.StatusOK)
		second.want(t, http.StatusOK)
		first.header(t, "Cache-Status", "stored")
		second.header(t, "Cache-Status", "hit")
		for _, header := range []string{"ETag", "Cache-Control", "Content-Length"} {
			if first.Header.Get(header) == "" || first.Header.Get(header) != second.Header.Get(header) {
				t.Errorf("%s: %s: %q, then %q", name, header, first.Header.Get(header), second.Header.Get(header))
			}
		}
		f.get(path, "If-None-Match", first.Header.Get("ETag")).want(t, http.StatusNotModified)
	}
	f.get("/api/qrcode?text=a").header(t, "Cache-Control", "max-age=604")
	f.get("/api/simple").want(t, http.StatusOK)
	for i := range 100 {
		f.get(fmt.Sprint("/api/qrcode?text=", i)).want(t, http.StatusOK)
	}
	f.get("/api/simple").header(t, "Cache-Status", "hit")
}

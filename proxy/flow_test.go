package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

func TestTwoHundredCallersOneCall(t *testing.T) {
	up := newFake(t, `{"v":"once"}`)
	up.takes.Store(int64(300 * time.Millisecond))
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", up)})
	first, hangUp := context.WithCancel(t.Context())
	var leader sync.WaitGroup
	leader.Go(func() {
		if _, err := f.try(first, http.MethodGet, "/api/simple"); err == nil {
			t.Error("the first caller was answered, but had hung up")
		}
	})
	waittest.Until(t, "the call upstream", func() bool { return up.calls.Load() == 1 })
	var collapsed, served atomic.Int64
	var wg sync.WaitGroup
	for range 199 {
		wg.Go(func() {
			a, err := f.try(t.Context(), http.MethodGet, "/api/simple")
			if err == nil && a.StatusCode == http.StatusOK && strings.Contains(a.body, "once") {
				served.Add(1)
			}
			if err == nil && strings.Contains(a.Header.Get("Cache-Status"), "collapsed") {
				collapsed.Add(1)
			}
		})
	}
	hangUp()
	wg.Wait()
	leader.Wait()
	if served.Load() != 199 || up.calls.Load() != 1 {
		t.Errorf("%d of 199 served, %d calls", served.Load(), up.calls.Load())
	}
	if collapsed.Load() == 0 {
		t.Error("no answer is marked as collapsed")
	}
}

func TestFailoverBreakerAndHealing(t *testing.T) {
	one, two := newFake(t, `{"v":"one"}`), newFake(t, `{"v":"two"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", one, two)})
	id := 0
	ask := func() answer {
		id++
		return f.get("/api/simple?id=" + itoa(id))
	}
	ask().header(t, "Sundry-Source", "first")
	one.status.Store(http.StatusServiceUnavailable)
	for range 21 { // all of one client, without a success of another in between
		a := ask()
		a.want(t, http.StatusOK, "two")
		a.header(t, "Sundry-Source", "second")
	}
	calls := one.calls.Load()
	ask().header(t, "Sundry-Source", "second")
	if one.calls.Load() != calls {
		t.Error("the first source was called although its breaker is open")
	}
	one.status.Store(http.StatusOK)
	n := 100
	waittest.Until(t, "the first source is used again", func() bool {
		n++
		return f.get("/api/simple?id="+itoa(n)).Header.Get("Sundry-Source") == "first"
	})
}

func itoa(n int) string {
	return string([]byte{byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)})
}

func TestNegativesNeverOpenTheBreaker(t *testing.T) {
	up := newFake(t, `{}`)
	up.status.Store(http.StatusNotFound)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m, negative: 1m", up)})
	for i := range 30 { // not of 1, the default: that it does not exist is a failure
		f.get("/api/simple?id="+itoa(i+2)).want(t, http.StatusNotFound, `"type":"not_found"`)
	}
	if up.calls.Load() != 30 {
		t.Errorf("%d of 30 calls were made", up.calls.Load())
	}
	again := f.get("/api/simple?id=002")
	again.want(t, http.StatusNotFound)
	again.header(t, "Cache-Status", "hit")
	again.header(t, "Cache-Control", "max-age=")
	if up.calls.Load() != 30 {
		t.Error("a negative answer was not kept")
	}
}

func TestAllSourcesFail(t *testing.T) {
	one, two := newFake(t, `{"v":"one"}`), newFake(t, `<html>login</html>`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", one, two)})
	one.status.Store(http.StatusInternalServerError)
	for range 20 {
		a := f.get("/api/simple")
		a.want(t, http.StatusBadGateway, `"type":"upstream_unavailable"`)
		for _, secret := range []string{"127.0.0.1", "html", "status"} {
			if strings.Contains(a.body, secret) {
				t.Errorf("the error contains %q: %s", secret, a.body)
			}
		}
	}
	if n := one.calls.Load(); n > 3 {
		t.Errorf("%d calls for 20 requests in a row", n)
	}
}

func TestTimeoutIs504(t *testing.T) {
	up := newFake(t, `{"v":"late"}`)
	up.takes.Store(int64(time.Minute))
	text := strings.Replace(simple("ttl: 1m", up), "timeout: 2s", "timeout: 50ms", 1)
	f := newFront(t, map[string]string{"simple": text})
	f.get("/api/simple").want(t, http.StatusGatewayTimeout, `"type":"upstream_timeout"`)
	a := f.get("/api/simple?type=text")
	a.want(t, http.StatusGatewayTimeout)
	a.header(t, "Content-Type", "text/plain")
	a.header(t, "Retry-After", "")
}

func TestStaleAnswerIsMarked(t *testing.T) {
	up := newFake(t, `{"v":"good"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1ms, jitter: 0, stale_if_error: 1h", up)})
	f.get("/api/simple").want(t, http.StatusOK, "good")
	up.status.Store(http.StatusBadGateway)
	waittest.Until(t, "the millisecond is over", func() bool {
		return strings.Contains(f.get("/api/simple").Header.Get("Cache-Status"), "fwd=stale")
	})
	for range 5 {
		a := f.get("/api/simple")
		a.want(t, http.StatusOK, "good")
		a.header(t, "Cache-Status", "fwd=stale")
		if _, maxAge, age := a.kept(t); age < maxAge {
			t.Errorf("stale, and yet fresh for %d seconds of %d", maxAge-age, maxAge)
		}
	}
	up.body.Store(`not json at all`)
	up.status.Store(http.StatusOK)
	f.get("/api/simple").want(t, http.StatusOK, "good")
}

// freshFor checks max-age against a TTL without jitter, which may lose a second
// to rounding.
func (a answer) freshFor(t *testing.T, ttl time.Duration) {
	t.Helper()
	var seconds int
	control := a.Header.Get("Cache-Control")
	if _, err := fmt.Sscanf(control, "public, max-age=%d", &seconds); err != nil {
		t.Fatalf("%s: %v", control, err)
	}
	if left := time.Duration(seconds) * time.Second; left > ttl || left < ttl-time.Second {
		t.Errorf("%s, want up to %v", control, ttl)
	}
}

func TestReloadedTTLAppliesAtOnce(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h, jitter: 0", up)})
	f.get("/api/simple").freshFor(t, time.Hour)
	f.load(map[string]string{"simple": simple("ttl: 10m, jitter: 0", up)})
	a := f.get("/api/simple")
	a.header(t, "Cache-Status", "hit")
	a.freshFor(t, 10*time.Minute)
	var n yaml.Node
	if err := yaml.Load([]byte("ttl: 2h"), &n); err != nil {
		t.Fatal(err)
	}
	f.over = map[string]catalog.Overrides{"simple": {Cache: n}}
	f.load(nil)
	a = f.get("/api/simple")
	a.header(t, "Cache-Status", "hit")
	a.freshFor(t, 2*time.Hour)
	if up.calls.Load() != 1 {
		t.Errorf("%d calls", up.calls.Load())
	}
}

func TestChangedMappingIsAnotherKey(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	text := simple("ttl: 1h", up)
	f := newFront(t, map[string]string{"simple": text})
	f.get("/api/simple")
	f.load(map[string]string{"simple": strings.Replace(text, "json: .}", "json: '{renamed: .v}'}", 1)})
	f.get("/api/simple").want(t, http.StatusOK, `"renamed":"x"`)
}

func TestLimits(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 1, Burst: 3} })
	var refused int
	for range 10 {
		if a := f.get("/api/simple"); a.StatusCode == http.StatusTooManyRequests {
			refused++
			a.want(t, http.StatusTooManyRequests, `"type":"rate_limited"`)
			a.header(t, "Retry-After", "1")
		}
	}
	if refused < 5 {
		t.Errorf("%d of 10 requests refused at a burst of 3", refused)
	}
}

func TestShedding(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	up.takes.Store(int64(200 * time.Millisecond))
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{InFlight: 2} })
	var shed atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a := f.get("/api/simple")
			if a.StatusCode == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "" && strings.Contains(a.body, "overloaded") {
				shed.Add(1)
			}
		})
	}
	wg.Wait()
	if shed.Load() == 0 {
		t.Error("nothing was shed")
	}
	f.get("/api/simple").want(t, http.StatusOK)
}

func TestCallerAddress(t *testing.T) {
	f := newFront(t, nil, replaying("ip"), trusting("127.0.0.0/8", "10.0.0.0/8"))
	rows := map[string]string{
		"":                               "127.0.0.1",
		"192.168.9.9":                    "192.168.9.9",
		"1.2.3.4, 192.168.9.9":           "192.168.9.9",
		"1.2.3.4, 192.168.9.9, 10.1.1.1": "192.168.9.9",
		"192.168.9.9:4711, 10.1.1.1":     "192.168.9.9",
		"[fd00::9]:4711":                 "fd00::9",
		"1.2.3.4, garbage, 10.1.1.1":     "10.1.1.1",
		"::ffff:192.168.9.9":             "192.168.9.9",
	}
	for header, want := range rows {
		a := f.get("/api/ip", "X-Forwarded-For", header)
		a.want(t, http.StatusOK, `"ip":"`+want+`"`)
		a.header(t, "Cache-Control", "private")
	}
	f.get("/api/ip", "Forwarded", `for=1.2.3.4, for="[fd00::9]:80";proto=https`).want(t, http.StatusOK, `"ip":"fd00::9"`)
	distrusting := newFront(t, nil, replaying("ip"))
	distrusting.get("/api/ip", "X-Forwarded-For", "192.168.9.9").want(t, http.StatusOK, `"ip":"127.0.0.1"`)
}

func TestForbiddenTarget(t *testing.T) {
	f := newFront(t, nil)
	for _, host := range []string{"127.0.0.1", "10.0.0.1:25565", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "localhost", "100.100.100.200", "8.8.8.8:22", "[64:ff9b::7f00:1]"} {
		a := f.get("/api/gamestatus?host=" + host)
		a.want(t, http.StatusForbidden, `"type":"forbidden_target"`, `"parameter":"host"`)
	}
}

package admin

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sundry/proxy/site/status"
)

// TestHistoryTellsUnknownFromNone: null is not zero.
func TestHistoryTellsUnknownFromNone(t *testing.T) {
	hour := []status.Bucket{{}, {Known: true}, {Known: true, P95: 1500 * time.Microsecond, Counts: status.Counts{Requests: 8, Cached: 3, Fetched: 1, Works: 4, Failing: 2}}}
	line := status.Line{Hour: hour, Day: hour}
	a := &api{System: System{Log: slog.New(slog.DiscardHandler), Status: func() *status.Report {
		return &status.Report{Endpoints: []status.Endpoint{{Name: "ip", State: status.Stale}}}
	}, History: func() status.View {
		return status.View{HourFrom: time.Unix(0, 0).UTC(), Service: line, Endpoints: map[string]status.Line{"ip": line}}
	}}}
	w := httptest.NewRecorder()
	a.serveJSON(a.history).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	var got struct {
		Hour, Day struct {
			From    time.Time
			Seconds int
		}
		Endpoints map[string]struct {
			State     string
			Total     map[string]int
			Hour, Day map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if got.Hour.Seconds != 60 || got.Day.Seconds != 1800 || !got.Hour.From.Equal(time.Unix(0, 0)) {
		t.Errorf("times: %s", w.Body)
	}
	ip := got.Endpoints["ip"]
	if want := map[string]int{"requests": 8, "cached": 3, "fetched": 1, "stale": 0, "errors": 2}; ip.State != "stale" || !maps.Equal(ip.Total, want) {
		t.Errorf("%s, %v, want %v", ip.State, ip.Total, want)
	}
	for name, want := range map[string]string{"requests": "[null,0,8]", "errors": "[null,0,2]", "hit_ratio": "[null,null,0.5]", "p95_ms": "[null,null,1.5]"} {
		if string(ip.Hour[name]) != want {
			t.Errorf("hour: %s: %s, want %s", name, ip.Hour[name], want)
		}
	}
	for name, want := range map[string]string{"requests": "[null,0,8]", "works": "[null,0,4]", "stale": "[null,0,0]", "failing": "[null,0,2]"} {
		if string(ip.Day[name]) != want {
			t.Errorf("day: %s: %s, want %s", name, ip.Day[name], want)
		}
	}
}

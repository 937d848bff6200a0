package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sundry/proxy/site/status"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// day is what is remembered of an endpoint.
func (f *front) day(name string) (all status.Counts) {
	for _, b := range f.server.History().Endpoints[name].Day {
		all.Add(&b.Counts)
	}
	return all
}

// TestHistoryOfOutcomes: what callers did wrong is no fault of the endpoint, a reload
// keeps what was counted, and an older answer in place of a new one is told apart.
func TestHistoryOfOutcomes(t *testing.T) {
	up := newFake(t, `{"v":"one"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1ms, jitter: 0, grace: 0s, stale_if_error: 1h, soft_timeout: 5s, negative: 1m", up)})
	f.get("/api/simple").want(t, http.StatusOK)
	f.get("/api/simple?id=many").want(t, http.StatusBadRequest)
	if got, want := f.day("simple"), (status.Counts{Requests: 2, Fetched: 1, Works: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	f.load(nil)
	up.status.Store(http.StatusNotFound)
	f.get("/api/simple?id=2").want(t, http.StatusNotFound)
	up.status.Store(http.StatusInternalServerError)
	f.get("/api/simple?id=3").want(t, http.StatusBadGateway)
	waittest.Until(t, "an older answer", func() bool {
		f.get("/api/simple").want(t, http.StatusOK)
		return f.day("simple").Stale > 0
	})
	if got := f.day("simple"); got.Works != 2 || got.Failing != 1 {
		t.Errorf("%+v", got)
	}
	view := f.server.History()
	if len(view.Endpoints) != len(f.server.Catalog().Endpoints) {
		t.Errorf("%d endpoints", len(view.Endpoints))
	}
	hour := view.Service.Hour
	if b := hour[status.Minutes-1]; b.Known && b.Requests > 0 && b.P95 == 0 {
		t.Errorf("no duration: %+v", b)
	}
	if view.Endpoints["simple"].Hour[0].Known {
		t.Error("an hour ago is known")
	}
}

// TestEveryOutcomeHasItsPlaceInHistory: counted once as a request, and at most once as
// a judgement.
func TestEveryOutcomeHasItsPlaceInHistory(t *testing.T) {
	judged := map[outcome]bool{outcomeInvalid: false, outcomeLimited: false, outcomeDisconnected: false}
	for o := range outcomes {
		var c status.Counts
		o.addTo(&c, 3)
		want, except := uint64(3), false
		if _, except = judged[o]; except {
			want = 0
		}
		if c.Requests != 3 || c.Judged() != want {
			t.Errorf("%v: %+v", o, c)
		}
	}
}

// slowReader takes an answer only after a while.
type slowReader struct {
	*httptest.ResponseRecorder
	takes time.Duration
}

func (w slowReader) Write(b []byte) (int, error) {
	time.Sleep(w.takes)
	return w.ResponseRecorder.Write(b)
}

// TestHistoryOfAnswersAboveAllBounds: the first of them has an exemplar, for which
// client_golang adds a bucket that is not there without it.
func TestHistoryOfAnswersAboveAllBounds(t *testing.T) {
	t.Parallel()
	longtest.NotShort(t, "it takes a second")
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(t, Limits{}, map[string]string{"bench.yaml": strings.Replace(benchCatalog, "ttl: 24h", "ttl: 0s", 1)})
		ask := func(takes time.Duration) {
			w := slowReader{httptest.NewRecorder(), takes}
			s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/bench", nil))
			if w.Code != http.StatusOK {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
		}
		s.History()
		for range 3 {
			ask(11 * time.Second)
			ask(0)
			v := s.History()
			time.Sleep(status.Minute)
			if b := v.Service.Hour[status.Minutes-1]; b.Requests != 2 || b.P95 != 10*time.Second {
				t.Errorf("%+v", b)
			}
		}
		bounds := durationBuckets()
		if got := s.current.Load().routes["bench"].metrics.totals().Durations; len(got) != len(bounds)+1 || got[len(bounds)] != 3 {
			t.Errorf("durations %d, want 3 above the last of %d bounds", got, len(bounds))
		}
	})
}

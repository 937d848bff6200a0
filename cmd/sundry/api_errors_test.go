package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestErrorsOfAnAPIAreItsOwn: they count as failed calls of the API, by their status, and not as failures of Sundry.
func TestErrorsOfAnAPIAreItsOwn(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[string]int{"/bad": http.StatusInternalServerError, "/busy": http.StatusTooManyRequests, "/none": http.StatusNotFound}[r.URL.Path])
	}))
	t.Cleanup(origin.Close)
	p := serve(t, "--to", origin.URL)
	for range 3 {
		for _, path := range []string{"/bad", "/busy", "/none"} {
			getFrom(t, bystander, p.public, path)
		}
	}
	address := strings.TrimPrefix(origin.URL, "http://")
	for result, want := range map[string]float64{"5xx": 3, "limited": 3, "success": 3} {
		if got := p.metric(`sundry_upstream_attempts_total{endpoint="api",result="` + result + `",source="` + address + `"}`); got != want {
			t.Errorf("%v calls are %s, want %v", got, result, want)
		}
	}
	if n := p.metric(`sundry_requests_total{class="5xx",endpoint="api",outcome="error"}`); n != 0 {
		t.Errorf("%v errors of the API count as Sundry's", n)
	}
	if n := p.metric(`sundry_requests_total{class="5xx",endpoint="api",outcome="miss"}`) + p.metric(`sundry_requests_total{class="5xx",endpoint="api",outcome="bypass"}`); n != 3 {
		t.Errorf("%v errors are counted as the API's", n)
	}
}

package through

import (
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams/host"
)

// limitedTo has the origin asked so often in a time.
func (s *world) limitedTo(calls int, per time.Duration) {
	var quotas host.Quotas
	s.h.origin.targets[0].Quota = quotas.Get("origin.test", calls, per)
}

// TestAQuotaIsKept: once it is used up, a caller gets what is stored, however old, or 503 and when to come again.
func TestAQuotaIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, answers(200, "max-age=10", "good"))
		s.limitedTo(8, time.Hour)
		s.get("/stored")
		for range 7 {
			time.Sleep(time.Minute)
			if a := s.ask("POST", "/", "x"); a.status != 200 {
				t.Fatalf("%d while it lasts", a.status)
			}
		}
		for _, method := range []string{"GET", "HEAD", "POST"} {
			if a := s.ask(method, "/other", ""); a.status != 503 || a.header.Get("Retry-After") != "3181" {
				t.Errorf("%s: %d, to be asked again in %q s", method, a.status, a.header.Get("Retry-After"))
			}
		}
		if a := s.get("/stored"); a.body != "good" {
			t.Errorf("%d %q", a.status, a.body)
		}
		s.wantCalls(8)
		time.Sleep(53 * time.Minute)
		if a := s.get("/other"); a.body != "good" {
			t.Errorf("%d %q once there is room again", a.status, a.body)
		}
	})
}

// TestRefreshesLeaveTheReserve of a quota to those for whom nothing is stored.
func TestRefreshesLeaveTheReserve(t *testing.T) {
	for name, header := range map[string]string{
		"behind the caller": "max-age=1, stale-while-revalidate=3600",
		"in place of one":   "max-age=1, stale-if-error=3600",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, answers(200, header, "good"))
				s.limitedTo(8, time.Hour)
				for range 20 {
					if a := s.get("/"); a.body != "good" {
						t.Fatalf("%d %q", a.status, a.body)
					}
					time.Sleep(time.Minute)
				}
				s.wantCalls(6)
				if a := s.get("/other"); a.body != "good" {
					t.Errorf("%d %q: nothing is stored of it", a.status, a.body)
				}
			})
		})
	}
}

// TestTheNextAddressIsAsked where the quota of one is used up.
func TestTheNextAddressIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, answers(200, "no-store", "good"))
		s.limitedTo(1, time.Hour)
		first := s.h.origin.targets[0]
		s.h.origin.targets = append(s.h.origin.targets, Target{URL: first.URL, Sent: "second.test"})
		for range 2 {
			if a := s.get("/"); a.body != "good" {
				t.Errorf("%d %q", a.status, a.body)
			}
		}
	})
}

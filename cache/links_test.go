package cache

import (
	"fmt"
	"testing"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// TestLinksAreRenewedBeforeTheyEnd: content that expires, such as a signed link, is
// refreshed in the background before it does, while callers still get the old one.
func TestLinksAreRenewedBeforeTheyEnd(t *testing.T) {
	const lives = 10 * time.Minute
	p := policy.Policy{TTL: time.Hour, Grace: time.Hour, StaleIfError: time.Hour, Eager: policy.DefaultEager, FillTimeout: policy.DefaultFillTimeout, SoftTimeout: policy.DefaultSoftTimeout}
	l := &script{takes: 2 * time.Second, make: func(n int64) (entry.Content, error) {
		c := textContent(fmt.Sprintf("link %d", n))
		c.Expires = time.Now().Add(lives)
		return c, nil
	}}
	story(t, p, l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		for begun := time.Now(); time.Since(begun) < 2*time.Hour; time.Sleep(20 * time.Second) {
			start := time.Now()
			h := mustFetch(t, s, "k", l)
			if time.Since(start) != 0 {
				t.Fatalf("after %v a caller waited %v", start.Sub(begun), time.Since(start))
			}
			if !h.Meta.Expires.After(time.Now()) {
				t.Fatalf("after %v a caller got a link that has ended", start.Sub(begun))
			}
		}
		if n := l.calls.Load(); n < 12 || n > 15 {
			t.Errorf("%d fills in two hours of links that expire after ten minutes", n)
		}
	})
}

// TestEndedLinksAreNotServed: neither within grace nor as fallback.
func TestEndedLinksAreNotServed(t *testing.T) {
	p := policy.Policy{TTL: time.Hour, Grace: time.Hour, StaleIfError: time.Hour, FillTimeout: policy.DefaultFillTimeout, SoftTimeout: policy.DefaultSoftTimeout}
	l := &script{make: func(n int64) (entry.Content, error) {
		if n > 1 {
			return entry.Content{}, fmt.Errorf("down")
		}
		c := textContent("link")
		c.Expires = time.Now().Add(time.Minute)
		return c, nil
	}}
	story(t, p, l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(2 * time.Minute)
		if h, err := s.Get(t.Context(), "k", Want{}, l); err == nil {
			t.Errorf("an ended link was served: %+v", h)
		}
	})
}

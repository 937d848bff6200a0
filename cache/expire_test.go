package cache

import (
	"fmt"
	"testing"
	"time"
)

// TestLinksAreRenewedBeforeTheyEnd: content that ends, such as a signed link, is
// refreshed behind a caller who still gets the old one, before it has ended.
func TestLinksAreRenewedBeforeTheyEnd(t *testing.T) {
	const lives = 10 * time.Minute
	p := Policy{TTL: time.Hour, Grace: time.Hour, StaleIfError: time.Hour, Eager: DefaultEager, FillTimeout: DefaultFillTimeout, SoftTimeout: DefaultSoftTimeout}
	l := &script{takes: 2 * time.Second, make: func(n int64) (Content, error) {
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
			t.Errorf("%d fills in two hours of links that live for ten minutes", n)
		}
	})
}

// TestEndedLinksAreNotServed: neither as stale nor in place of an error.
func TestEndedLinksAreNotServed(t *testing.T) {
	p := Policy{TTL: time.Hour, Grace: time.Hour, StaleIfError: time.Hour, FillTimeout: DefaultFillTimeout, SoftTimeout: DefaultSoftTimeout}
	l := &script{make: func(n int64) (Content, error) {
		if n > 1 {
			return Content{}, fmt.Errorf("down")
		}
		c := textContent("link")
		c.Expires = time.Now().Add(time.Minute)
		return c, nil
	}}
	story(t, p, l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(2 * time.Minute)
		if h, err := s.Fetch(t.Context(), "k", Want{}, l); err == nil {
			t.Errorf("an ended link was served: %+v", h)
		}
	})
}

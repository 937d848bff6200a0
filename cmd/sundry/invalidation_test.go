package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// originOfLanguages answers in the language of the request, with the number of the call.
func originOfLanguages(t *testing.T) string {
	t.Helper()
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Vary", "Accept-Language")
		fmt.Fprint(w, r.Header.Get("Accept-Language"), " ", calls.Add(1))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// bodyIn returns the body of an instance's response in a language.
func bodyIn(t *testing.T, p *instance, language string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.public+"/a", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "api.example.org" // in a fleet, clients know all instances by one name
	r.Header.Set("Accept-Language", language)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), language) {
		t.Fatalf("%s: %d %q %v", language, resp.StatusCode, body, err)
	}
	return string(body)
}

// shared has an instance fetch the response in a language, and others find it in Redis.
func shared(t *testing.T, language string, one *instance, others ...*instance) (body string) {
	t.Helper()
	body = bodyIn(t, one, language)
	waittest.Until(t, "the writes", func() bool { return one.metric("sundry_far_queue_entries") == 0 })
	for _, p := range others {
		if got := bodyIn(t, p, language); got != body {
			t.Fatalf("%q and %q", got, body)
		}
	}
	return body
}

// TestAnInvalidationReachesTheFleet, and stays in force after an instance that was cut off has written another variant.
func TestAnInvalidationReachesTheFleet(t *testing.T) {
	t.Parallel()
	redis, origin := redistest.Start(t), originOfLanguages(t)
	wire := newRelay(t, redis.Addr)
	start := func(redis string) *instance { return serve(t, "--to", origin, "--redis", patient(redis)) }
	one, two, cutOff := start(redis.URL()), start(redis.URL()), start(wire.url())
	before := map[string]string{}
	for _, language := range []string{"fr", "en"} {
		before[language] = shared(t, language, one, two, cutOff)
	}
	outlastClockDifference(t)
	wire.set(true, nil)
	waittest.Until(t, "one is cut off", func() bool { return cutOff.metric("sundry_far_listening") == 0 })
	heard := two.metric(`sundry_far_announcements_total{result="received"}`)
	resp, err := http.Post(one.public+"/a", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	waittest.Until(t, "another is notified", func() bool { return two.metric(`sundry_far_announcements_total{result="received"}`) > heard })
	outlastClockDifference(t)
	written := bodyIn(t, cutOff, "de")
	wire.set(false, nil)
	waittest.Until(t, "it is back, and has written", func() bool {
		return cutOff.metric("sundry_far_listening") == 1 && cutOff.metric("sundry_far_queue_entries") == 0 && cutOff.metric("sundry_settings_in_sync") == 1
	})
	late := start(redis.URL())
	if got := bodyIn(t, late, "de"); got != written {
		t.Fatalf("%q is shared, not %q", got, written)
	}
	// The first ones know of nothing but what is in Redis. One that knows more would replace that.
	for i, p := range []*instance{cutOff, late, two, one} {
		for language, old := range before {
			if got := bodyIn(t, p, language); got == old {
				t.Errorf("instance %d: %s: what was invalidated is served", i, language)
			}
		}
	}
}

// TestAnInvalidationHoldsWithoutRedis on the instances that were notified of it.
func TestAnInvalidationHoldsWithoutRedis(t *testing.T) {
	t.Parallel()
	redis, origin := redistest.Start(t), originOfLanguages(t)
	one := serve(t, "--to", origin, "--redis", redis.URL())
	two := serve(t, "--to", origin, "--redis", redis.URL())
	before := shared(t, "fr", one, two)
	outlastClockDifference(t)
	heard := two.metric(`sundry_far_announcements_total{result="received"}`)
	resp, err := http.Post(one.public+"/a", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	waittest.Until(t, "the other is notified", func() bool { return two.metric(`sundry_far_announcements_total{result="received"}`) > heard })
	redis.Stop()
	if got := bodyIn(t, two, "fr"); got == before {
		t.Error("what was invalidated is served")
	}
}

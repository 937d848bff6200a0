package main

import (
	"testing"

	"sundry/cache/far/redistest"
	"sundry/proxy/through/suitetest"
)

// TestHTTPCacheSuite holds the server to the public suite of HTTP caches: one instance by itself, two that share Redis and
// take turns, and as many as a test has requests, so that none is asked for the same thing twice and all comes from Redis.
func TestHTTPCacheSuite(t *testing.T) {
	t.Parallel()
	for name, instances := range map[string]int{"alone": 1, "in turns": 2, "from Redis": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := suitetest.Start(t)
			args := []string{"--to", suite.Origin()}
			if instances > 1 {
				args = append(args, "--redis", patient(redistest.Start(t).URL()))
			}
			var urls []string
			for range instances {
				urls = append(urls, serve(t, args...).public)
			}
			suite.Hold(t, urls...)
		})
	}
}

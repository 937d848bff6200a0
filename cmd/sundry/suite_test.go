package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/proxy/through/suitetest"
)

// TestHTTPCacheSuite holds the server to the public suite of HTTP caches: one instance by itself, two that share Redis and
// take turns, and as many as a test has requests, so that none is asked for the same thing twice and all comes from Redis. Each is asked
// by HTTP/1.1, by HTTPS, and by HTTP/2.
func TestHTTPCacheSuite(t *testing.T) {
	t.Parallel()
	for name, instances := range map[string]int{"alone": 1, "in turns": 2, "from Redis": 3} {
		for _, protocol := range []string{"HTTP/1.1", "HTTPS", "HTTP/2"} {
			t.Run(name+" by "+protocol, func(t *testing.T) {
				t.Parallel()
				suite := suitetest.Start(t)
				args := []string{"--to", suite.Origin()}
				if instances > 1 {
					args = append(args, "--redis", patient(redistest.Start(t).URL()))
				}
				dir := t.TempDir()
				if protocol != "HTTP/1.1" {
					trust, protocols := certificate(t, dir, secureHost), &http.Protocols{}
					protocols.SetHTTP1(protocol == "HTTPS")
					protocols.SetHTTP2(protocol == "HTTP/2")
					suite.Over(&tls.Config{RootCAs: trust, ServerName: secureHost}, protocols)
					args = append(args, "--config", write(t, dir, "sundry.yaml", fmt.Sprintf("tls: {cert: %[1]s/fullchain.pem, key: %[1]s/privkey.pem}\n", dir)))
				}
				var urls []string
				for range instances {
					url := serve(t, args...).public
					if protocol != "HTTP/1.1" {
						url = strings.Replace(url, "http:", "https:", 1)
					}
					urls = append(urls, url)
				}
				suite.Hold(t, urls...)
			})
		}
	}
}

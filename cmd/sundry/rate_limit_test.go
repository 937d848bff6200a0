package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sundry/cache/far/redistest"
)

// admitted makes so many requests and counts those that were not refused.
func (p *instance) admitted(times int) (n int, last http.Header) {
	p.t.Helper()
	for range times {
		status, header, body, err := get(p.public + ipCall)
		switch {
		case err == nil && status == http.StatusOK:
			n++
		case err != nil || status != http.StatusTooManyRequests:
			p.t.Fatalf("%d %s %v", status, body, err)
		}
		last = header
	}
	return n, last
}

// TestEachInstanceLimitsForItself, also with a Redis that it shares with others.
func TestEachInstanceLimitsForItself(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	for i := range 2 {
		env := onlyIn(t, "ip")
		env["SUNDRY_LIMITS_RATE"], env["SUNDRY_LIMITS_BURST"] = "0.001", "60"
		p := serveWith(t, env, "--replay", "--redis", redis.URL())
		n, last := p.admitted(70)
		if n != 60 {
			t.Errorf("instance %d: %d of a burst of 60", i, n)
		}
		if got := last.Get("RateLimit"); !strings.HasPrefix(got, `"default";r=0`) {
			t.Errorf("RateLimit: %s", got)
		}
	}
}

// TestAPageOfStoredFilesIsForOneClient: with the limit of the settings, 300 stored files are sent to one client, with the express lane and
// without it, and again after that client was refused what is not stored.
func TestAPageOfStoredFilesIsForOneClient(t *testing.T) {
	t.Parallel()
	for _, express := range []string{"true", "false"} {
		t.Run("express "+express, func(t *testing.T) {
			t.Parallel()
			api, _ := counting(t)
			p := serveWith(t, map[string]string{"SUNDRY_EXPRESS": express}, "--to", api, "--config", write(t, t.TempDir(), "sundry.yaml", "limits: {queue_delay: 0s}\n"))
			for i := range 300 {
				if resp, body := getFrom(t, [...]string{attacker, bystander}[i%2], p.public, fmt.Sprint("/", i)); resp.StatusCode != http.StatusOK {
					t.Fatalf("%s %s", resp.Status, body)
				}
			}
			page := func() {
				t.Helper()
				for i := range 300 {
					mustGet(t, p.public+fmt.Sprint("/", i))
				}
			}
			page()
			refused := false
			for i := 0; i < 5000 && !refused; i++ {
				status, _, _, _ := get(p.public + fmt.Sprint("/other/", i))
				refused = status == http.StatusTooManyRequests
			}
			if !refused {
				t.Error("a client is never refused what is not stored")
			}
			page()
		})
	}
}

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// TestASourcesQuotaIsOfTheWholeFleet: all instances together call it no more often than
// its rate says; without Redis, each keeps to it by itself.
func TestASourcesQuotaIsOfTheWholeFleet(t *testing.T) {
	t.Parallel()
	redis, u := redistest.Start(t), newUpstream(t)
	dir := t.TempDir()
	writeOwn(t, dir, u, "ttl: 1h")
	text := strings.Replace(readFile(t, filepath.Join(dir, "own.yaml")), "timeout: 3s,", "timeout: 3s, rate: 5/1h,", 1)
	write(t, dir, "own.yaml", text)
	ask := func(p *instance, from, to int) (answered int) {
		for id := from; id < to; id++ {
			if status, _, _, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, id)); err == nil && status == http.StatusOK {
				answered++
			}
		}
		return answered
	}
	one, two := serve(t, "--catalog", dir, "--redis", redis.URL()), serve(t, "--catalog", dir, "--redis", redis.URL())
	if n := ask(one, 1, 4); n != 3 {
		t.Errorf("%d of three are answered", n)
	}
	if n := ask(two, 11, 20); n != 2 {
		t.Errorf("%d are answered by another instance, where two calls were left", n)
	}
	if n := u.calls.Load(); n != 5 {
		t.Errorf("%d calls", n)
	}
	redis.Stop()
	three := serve(t, "--catalog", dir, "--redis", redis.URL())
	if n := ask(three, 21, 30); n != 5 {
		t.Errorf("%d are answered without Redis", n)
	}
}

// TestAFleetKeepsAReserveOfAQuota: what the instances have called together is too much
// for refreshes; each serves its stale answers, and answers what it has no copy of.
func TestAFleetKeepsAReserveOfAQuota(t *testing.T) {
	t.Parallel()
	redis, u := redistest.Start(t), newUpstream(t)
	dir := t.TempDir()
	writeOwn(t, dir, u, "ttl: 1s, grace: 1h")
	text := strings.Replace(readFile(t, filepath.Join(dir, "own.yaml")), "timeout: 3s,", "timeout: 3s, rate: 8/1h,", 1)
	write(t, dir, "own.yaml", text)
	ask := func(p *instance, id int) (int, string) {
		t.Helper()
		status, header, body, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, id))
		if err != nil {
			t.Fatal(err, body)
		}
		return status, header.Get("Cache-Status")
	}
	one, two := serve(t, "--catalog", dir, "--redis", patient(redis.URL())), serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
	for id := range 3 {
		ask(one, 1+id)
		ask(two, 11+id)
	}
	if n := u.calls.Load(); n != 6 {
		t.Fatalf("%d calls for six keys", n)
	}
	const withheld = `sundry_upstream_withheld_refreshes_total\{endpoint="own",source="[^"]*"\}`
	for i, p := range []*instance{one, two} {
		waittest.Until(t, "a refresh that is withheld", func() bool { // once its answer is stale
			ask(p, 1+10*i)
			return p.metric(withheld) >= 1
		})
	}
	for i, p := range []*instance{one, two} {
		if status, how := ask(p, 1+10*i); status != http.StatusOK || !strings.Contains(how, "hit") {
			t.Errorf("instance %d: %d %s for a stale answer", i, status, how)
		}
		if status, how := ask(p, 21+i); status != http.StatusOK || !strings.Contains(how, "uri-miss") {
			t.Errorf("instance %d: %d %s without a copy", i, status, how)
		}
	}
	if n := u.calls.Load(); n != 8 {
		t.Errorf("%d calls, want 8: six, and two of the reserve", n)
	}
	if status, _ := ask(two, 31); status == http.StatusOK {
		t.Error("more calls than the quota has")
	}
	if left := two.metric(`sundry_upstream_quota_left_ratio\{quota="[^"]* 8/1h0m0s"\}`); left != 0 {
		t.Errorf("%v of the quota is left", left)
	}
}

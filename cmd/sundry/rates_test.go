package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// metric is the value of a series, which is given as a regular expression.
func (p *instance) metric(name string) float64 {
	p.t.Helper()
	_, body := mustGet(p.t, p.admin+"/metrics")
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		p.t.Fatalf("no metric %s", name)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

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

// threeLimited are instances at one Redis with a burst that is not restored in a test.
func threeLimited(t *testing.T, redis string, more ...string) (all [3]*instance) {
	t.Helper()
	for i := range all {
		env := onlyIn(t, "ip")
		env["SUNDRY_LIMITS_RATE"], env["SUNDRY_LIMITS_BURST"] = "0.001", "60"
		for j := 0; j+1 < len(more); j += 2 {
			env[more[j]] = more[j+1]
		}
		all[i] = serveWith(t, env, "--replay", "--redis", redis)
	}
	return all
}

// meet waits until each knows of so many instances.
func meet(t *testing.T, instances float64, all ...*instance) {
	t.Helper()
	for _, p := range all {
		waittest.Until(t, "the fleet", func() bool { return p.metric("sundry_rate_limit_instances") == instances })
	}
}

// TestAClientIsLimitedByAllInstances: what one admits, the others hear of within
// seconds; and their headers say so.
func TestAClientIsLimitedByAllInstances(t *testing.T) {
	redis := redistest.Start(t)
	all := threeLimited(t, redis.URL())
	meet(t, 3, all[:]...)
	if n, _ := all[0].admitted(50); n != 50 {
		t.Fatalf("%d of 50 are admitted", n)
	}
	for _, p := range all[1:] {
		waittest.Until(t, "the debit", func() bool { return p.metric("sundry_rate_limit_debits_total") > 0 })
	}
	_, header := all[1].admitted(4)
	if got := header.Get("RateLimit"); !strings.HasPrefix(got, `"default";r=6;`) {
		t.Errorf("RateLimit: %s, where 6 remain", got)
	}
	if n, _ := all[2].admitted(70); n > 10 {
		t.Errorf("%d are admitted by the third", n)
	}
	if n := all[0].metric("sundry_rate_limit_told_clients_total"); n < 1 {
		t.Errorf("%v clients were told", n)
	}
	if n := redis.Must("EXISTS sundry:rates:clients"); n != ":1\r\n" {
		t.Errorf("nothing is shared: %s", n)
	}
}

// TestRateLimitsAreLocalWithoutRedis: each instance limits for itself, fails no request
// and fills no log; when Redis is back, empty, they share again, by the same names.
func TestRateLimitsAreLocalWithoutRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	all := threeLimited(t, redis.URL())
	meet(t, 3, all[:]...)
	redis.Stop()
	meet(t, 1, all[:]...)
	for i, p := range all[:2] {
		if n, _ := p.admitted(70); n != 60 {
			t.Errorf("instance %d: %d of a burst of 60", i, n)
		}
		if n := p.metric(`sundry_far_gossip_rounds_total\{result="error"\}`); n < 1 {
			t.Errorf("%v rounds failed", n)
		}
	}
	redis.Restart()
	meet(t, 3, all[:]...)
	if n, _ := all[2].admitted(50); n != 50 {
		t.Errorf("%d of 50 are admitted where the client has not been", n)
	}
	for i, p := range all {
		if n := strings.Count(p.stderr.String(), "rates of the fleet"); n > 0 {
			t.Errorf("instance %d: %d lines in the log", i, n)
		}
		if n, _ := p.admitted(20); n > 10 {
			t.Errorf("instance %d has forgotten the client: %d are admitted", i, n)
		}
	}
}

// TestRateLimitsAreNotSharedWhereTurnedOff: by a reload, too.
func TestRateLimitsAreNotSharedWhereTurnedOff(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	file := write(t, t.TempDir(), "sundry.yaml", limitsFile(false))
	var all [2]*instance
	for i := range all {
		all[i] = serve(t, "--replay", "--redis", redis.URL(), "--config", file)
	}
	for i, p := range all {
		if n, _ := p.admitted(70); n != 60 {
			t.Errorf("instance %d: %d of a burst of 60", i, n)
		}
	}
	if n := redis.Must("EXISTS sundry:rates:clients"); n != ":0\r\n" {
		t.Errorf("something is shared: %s", n)
	}
	for _, p := range all {
		p.reloaded(t, file, limitsFile(true))
	}
	meet(t, 2, all[:]...)
	for i, p := range all {
		if n, _ := p.admitted(1); n != 0 {
			t.Errorf("the reload made instance %d forget the client", i)
		}
	}
}

func limitsFile(shared bool) string {
	return fmt.Sprintf("limits: {rate: 0.001, burst: 60, shared: %v}\n", shared) + only("ip")
}

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

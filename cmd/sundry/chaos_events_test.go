package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"sundry/upstreams/lib/waittest"
	"sundry/upstreams/replay"
)

// events are what befalls a run, one after the other, by its seed.
type events struct {
	*chaos
	rnd        *rand.Rand
	endpoints  []string
	sources    []string
	faults     map[string]replay.Fault
	pending    []pending // what ends by itself
	redisEnds  func()
	limitsEnds func()
}

// pending is something to be done at a time.
type pending struct {
	at time.Time
	do func()
}

func (e *events) later(d time.Duration, do func()) {
	e.pending = append(e.pending, pending{time.Now().Add(d), do})
}

// due does what is.
func (e *events) due(now time.Time) {
	var left, ripe []pending
	for _, p := range e.pending {
		if now.Before(p.at) {
			left = append(left, p)
		} else {
			ripe = append(ripe, p)
		}
	}
	e.pending = left
	for _, p := range ripe {
		p.do()
	}
}

// span is a random one.
func (e *events) span(least, most time.Duration) time.Duration {
	return least + time.Duration(e.rnd.Int64N(int64(most-least)))
}

// next lets something happen.
func (e *events) next() {
	switch n := e.rnd.IntN(100); {
	case n < 28:
		e.fault(e.sources[e.rnd.IntN(len(e.sources))])
	case n < 55:
		e.outage(e.endpoints[e.rnd.IntN(len(e.endpoints))])
	case n < 68:
		e.redisFails()
	case n < 76:
		e.reload()
	case n < 94:
		e.order()
	default:
		e.second()
	}
}

// outage makes all sources of an endpoint fail. With its copies gone as well,
// callers notice.
func (e *events) outage(endpoint string) {
	e.fault(endpoint)
	if e.rnd.IntN(4) == 0 {
		for _, i := range e.instances() {
			e.purge(i, endpoint)
		}
	}
}

// fault makes a source, or all of an endpoint, fail for a while.
func (e *events) fault(subject string) {
	if _, on := e.faults[subject]; on {
		return
	}
	spec := e.kind(subject)
	_, f, err := replay.ParseFault(subject + "=" + spec)
	if err != nil {
		e.t.Fatal(err)
	}
	end := e.line.begin("fault", subject, spec)
	e.faults[subject] = f
	e.inject()
	e.later(e.span(100*time.Millisecond, 2500*time.Millisecond), func() {
		delete(e.faults, subject)
		e.inject()
		end()
	})
}

// kind of fault. A game server that refuses or says nonsense is offline, which is
// an answer; and where a link leads is what its host says.
func (e *events) kind(subject string) string {
	latency := fmt.Sprint("latency:", e.span(time.Millisecond, 1500*time.Millisecond).Round(time.Millisecond))
	kinds := []string{"error:1", fmt.Sprintf("error:%.1f", 0.1+0.8*e.rnd.Float64()), latency, "error:0.5," + latency}
	if !strings.HasPrefix(subject, "dwzrec") {
		status := []int{400, 403, 404, 410, 429, 500, 502, 503, 504}[e.rnd.IntN(9)]
		kinds = append(kinds, fmt.Sprint("status:", status), fmt.Sprint("status:", status), "body:empty", "body:html", "error:0.5,body:html")
	}
	if strings.HasPrefix(subject, "gamestatus") {
		return fmt.Sprint("latency:", e.span(time.Millisecond, 100*time.Millisecond).Round(time.Millisecond))
	}
	return kinds[e.rnd.IntN(len(kinds))]
}

func (e *events) inject() {
	for _, env := range e.environments() {
		replayOf(env).SetFaults(maps.Clone(e.faults))
	}
}

// redisFails does one thing to Redis, which is over when it is itself again.
func (e *events) redisFails() {
	if e.redisEnds != nil {
		return
	}
	var mend func()
	what := []string{"freeze", "stop", "flush", "full", "away", "kill"}[e.rnd.IntN(6)]
	e.redisEnds = e.line.begin("redis", what, "")
	switch what {
	case "freeze":
		e.redis.Freeze()
		mend = e.redis.Thaw
	case "stop":
		e.redis.Stop()
		mend = e.redis.Restart
	case "flush":
		e.redis.Must("FLUSHALL")
	case "full":
		e.redis.Must("CONFIG SET maxmemory 1mb")
		mend = func() { e.redis.Must("CONFIG SET maxmemory 0") }
	case "away":
		e.wire.set(true, nil)
		mend = func() { e.wire.set(false, nil) }
	case "kill":
		e.redis.Must("CLIENT KILL TYPE normal")
	}
	e.later(e.span(50*time.Millisecond, 2*time.Second), func() {
		if mend != nil {
			mend()
		}
		e.redisEnds()
		e.redisEnds = nil
	})
}

// reload rewrites the files of the first instance.
func (e *events) reload() {
	switch e.rnd.IntN(6) {
	case 0:
		e.config("no_such_key: 1\n")
	case 1:
		e.config("limits: {rate: [\n")
	case 2:
		e.limits()
	case 3:
		e.extra(fmt.Sprintf("ttl: %ds", 1+e.rnd.IntN(100)))
	case 4:
		e.extra("ttl: soon")
	default:
		e.config(fmt.Sprintf("log_hits: %d\n", 1000+e.rnd.IntN(1000)))
	}
}

// limits are low for a while.
func (e *events) limits() {
	if e.limitsEnds != nil {
		return
	}
	e.limitsEnds = e.line.begin("limits", "one", "")
	e.config([]string{"limits: {rate: 50, burst: 20, queue_delay: 0s}\n", "limits: {rate: 0, in_flight: 3, queue_delay: 0s}\n"}[e.rnd.IntN(2)])
	e.later(e.span(200*time.Millisecond, time.Second), e.unlimited)
}

// unlimited takes limits back: they are over once the reload has said so.
func (e *events) unlimited() {
	e.config("")
	e.extra("ttl: 1m")
	e.one.mustAsk(http.MethodPost, "reload", "")
	if e.limitsEnds != nil {
		e.limitsEnds()
		e.limitsEnds = nil
	}
}

// order is what an operator does, on either instance.
func (e *events) order() {
	i := e.instances()[0]
	if all := e.instances(); len(all) > 1 && e.rnd.IntN(2) == 0 {
		i = all[1]
	}
	endpoint := e.endpoints[e.rnd.IntN(len(e.endpoints))]
	switch e.rnd.IntN(8) {
	case 0, 1:
		e.admin(i, http.MethodPut, "endpoints/"+endpoint+"/cache",
			fmt.Sprintf(`{"set":{"ttl":"%ds","grace":"%ds"},"for":"%ds"}`, 1+e.rnd.IntN(3), e.rnd.IntN(3), 1+e.rnd.IntN(20)))
	case 2:
		e.admin(i, http.MethodDelete, "endpoints/"+endpoint+"/cache", "")
	case 3:
		e.admin(i, http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":%q,"mode":"soft"}`, []string{endpoint, "*"}[e.rnd.IntN(2)]))
	case 4:
		e.purge(i, []string{endpoint, endpoint, endpoint, "*"}[e.rnd.IntN(4)])
	case 5:
		e.drop(i, endpoint)
	default:
		e.breaker(i)
	}
}

// purge is hard. While it is carried out, nobody knows what is left.
func (e *events) purge(i *member, subject string) {
	e.gone(i, subject, fmt.Sprintf(`{"endpoint":%q,"mode":"hard"}`, subject))
}

func (e *events) gone(i *member, subject, body string) {
	from, end := time.Now(), e.line.begin("purge", subject, i.name)
	if e.admin(i, http.MethodPost, "purge", body) {
		e.line.add(&episode{what: "purged", subject: subject, detail: i.name, from: from, to: time.Now()})
	}
	end()
}

func (e *events) drop(i *member, endpoint string) {
	status, doc := i.ask(http.MethodGet, "endpoints/"+endpoint+"/entries?limit=20", "")
	entries, _ := doc["entries"].([]any)
	if status != http.StatusOK || len(entries) == 0 {
		return
	}
	key, _ := entries[e.rnd.IntN(len(entries))].(map[string]any)["key"].(string)
	body, _ := json.Marshal(map[string]string{"endpoint": endpoint, "key": key})
	e.gone(i, key, string(body))
}

// breaker is held, let go, or made to forget.
func (e *events) breaker(i *member) {
	hosts := e.hosts(i)
	if len(hosts) == 0 {
		return
	}
	host := hosts[e.rnd.IntN(len(hosts))]
	what := []string{"open", "open", "closed", "auto", "reset"}[e.rnd.IntN(5)]
	body := fmt.Sprintf(`{"do":%q}`, what)
	end := e.line.begin("hold", host, what)
	if what == "open" || what == "closed" {
		d := 1 + e.rnd.IntN(2)
		body = fmt.Sprintf(`{"do":%q,"for":"%ds"}`, what, d)
		e.later(time.Duration(d)*time.Second+slack, end)
	} else {
		end()
	}
	e.admin(i, http.MethodPost, "upstreams/"+host, body)
}

func (e *events) hosts(i *member) []string {
	var names []string
	for _, h := range i.env.Hosts.All() {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return names
}

// admin asks for a change, and tells whether it is in force there. Only where
// Redis fails, it may be so there alone for now; one that is full
// refuses, and what a breaker learned waits for nobody.
func (e *events) admin(i *member, method, path, body string) bool {
	from := time.Now()
	status, doc := i.ask(method, path, body)
	said := fmt.Sprint(doc)
	wrong := func(r *episode) bool {
		return status == http.StatusAccepted || strings.Contains(body, "reset") || r.subject == "full"
	}
	switch {
	case status == http.StatusOK:
	case status == http.StatusBadRequest && (strings.Contains(said, "not cached") || strings.Contains(said, "not one of the endpoint's")):
	case (status == http.StatusAccepted || status == http.StatusServiceUnavailable) && e.line.any("redis", from.Add(-2*fleetWait), time.Now(), wrong):
	default:
		e.t.Errorf("what went on:\n%sseed %d: %s %s %s of %s: %d %v", e.line.last(time.Now(), 6*time.Second), e.seed, method, path, body, i.name, status, doc)
	}
	e.line.add(&episode{what: "order", subject: method + " " + path, detail: fmt.Sprintf("%s on %s: %d %.160s", body, i.name, status, said), from: from, to: time.Now()})
	return status < http.StatusMultipleChoices
}

// second starts the second instance, or ends it.
func (e *events) second() {
	end := e.line.begin("second", "instance", "starts or ends")
	defer end()
	if e.two.Load() == nil {
		e.startSecond()
		e.inject()
		return
	}
	e.endSecond()
}

// heal mends everything.
func (e *events) heal() {
	for len(e.pending) > 0 {
		e.due(time.Now().Add(time.Hour))
	}
	e.unlimited()
	if e.two.Load() == nil {
		e.startSecond()
	}
	i := e.instances()[0]
	waittest.Until(e.t, "changes are kept again", func() bool {
		status, _ := i.ask(http.MethodPost, "purge", `{"endpoint":"*","mode":"soft"}`)
		return status == http.StatusOK
	})
	for _, host := range e.hosts(i) {
		i.mustAsk(http.MethodPost, "upstreams/"+host, `{"do":"auto"}`)
	}
	for _, name := range e.endpoints {
		i.mustAsk(http.MethodDelete, "endpoints/"+name+"/cache", "")
	}
}

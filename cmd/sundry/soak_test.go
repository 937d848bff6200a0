package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// Bounds of a soak.
const (
	soakCallers = 40
	soakKeys    = 12
	soakMemory  = 64 << 20 // bytes of the near tier
	soakFill    = 4 * time.Second
	// soakSlowest is more than three quarters of a fill: others no longer wait for it.
	soakSlowest = 3400 * time.Millisecond
	// soakRecovers bounds how long a fleet needs after a fault.
	soakRecovers = 20 * time.Second
	// soakMinute is when the memory is first looked at, to which the last is compared.
	soakMinute = time.Minute
)

// soak is one run of it.
type soak struct {
	t      *testing.T
	line   *timeline
	judge  *judge
	redis  *redistest.Server
	fleet  []*soaked
	http   *http.Client
	keys   map[string]string // of the cache, by endpoint and id
	counts sync.Map          // what happened, to *atomic.Int64

	mu      sync.Mutex
	stopped map[*soaked]bool
	ttl     string // the last change that was acknowledged
}

// TestSoak has three instances of the real program on one Redis, their clocks a minute
// apart, the log of one unread, under load, with slow and gone callers and a source that is
// slow at times, while Redis is paused and killed, instances are stopped and continued, and
// purges, drops and changes are ordered on any of them. No order is lost, nobody is served
// anything older than what the fleet had served six seconds before, nothing leaks, and the
// memory stays what it was. SUNDRY_TEST_SOAK says for how long, such as 20m.
func TestSoak(t *testing.T) {
	text := os.Getenv("SUNDRY_TEST_SOAK")
	if text == "" {
		t.Skip("SUNDRY_TEST_SOAK does not say for how long, such as 20s")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("SUNDRY_TEST_SOAK: %v", err)
	}
	s := newSoak(t)
	before := s.usage()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for n := range soakCallers {
		all.Go(func() { s.call(ctx, n) })
	}
	all.Go(func() { s.leave(ctx) })
	all.Go(func() { s.order(ctx) })
	s.storm(length, &before)
	stop()
	all.Wait()
	if t.Failed() { // what follows would only say so once more
		s.report()
		return
	}
	s.recovered()
	s.holds()
	s.http.CloseIdleConnections()
	s.same(before)
	s.report()
}

func newSoak(t *testing.T) *soak {
	line := newTimeline()
	s := &soak{t: t, line: line, judge: newJudge(t, line), redis: redistest.Start(t), keys: map[string]string{}, stopped: map[*soaked]bool{}}
	s.http = &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: soakCallers}}
	source := httptest.NewServer(http.HandlerFunc(s.source))
	t.Cleanup(source.Close)
	dir := t.TempDir()
	writeEndpoint(t, dir, "own", source.URL+"/own", "ttl: 2s, grace: 10s, stale_if_error: 1m, fill_timeout: "+soakFill.String())
	writeEndpoint(t, dir, "kept", source.URL+"/kept", "ttl: 1h, fill_timeout: "+soakFill.String())
	for _, name := range []string{"own", "kept"} { // the source may take longer than theirs
		file := readFile(t, dir+"/"+name+".yaml")
		write(t, dir, name+".yaml", strings.Replace(file, "timeout: 3s", "timeout: "+soakFill.String(), 1))
	}
	program := buildWithClock(t)
	config := write(t, t.TempDir(), "soak.yaml", "cache: {memory: 64MiB, warm: false}\nlimits: {rate: 0, queue_delay: 0s}\n"+only())
	for i, ahead := range []time.Duration{0, time.Minute, -time.Minute} {
		s.fleet = append(s.fleet, startSoaked(t, program, fmt.Sprint("instance ", i+1), ahead, i == 0, "--config", config, "--catalog", dir, "--redis", s.redis.URL()))
	}
	s.recovered()
	for endpoint := range map[string]bool{"own": true, "kept": true} {
		for id := range soakKeys {
			s.get(s.fleet[0], endpoint, id+1)
		}
		s.findKeys(endpoint)
	}
	return s
}

// source answers with the next number, at times so late that other instances do not wait.
func (s *soak) source(w http.ResponseWriter, r *http.Request) {
	n := s.judge.next(strings.Trim(r.URL.Path, "/") + "/" + r.URL.Query().Get("id"))
	takes := time.Duration(rand.IntN(int(30 * time.Millisecond)))
	switch chance := rand.IntN(100); {
	case chance < 2:
		takes = soakSlowest
	case chance < 10:
		takes += time.Duration(rand.IntN(int(time.Second)))
	}
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return
	}
	_, _ = fmt.Fprintf(w, `{"n":%d,"text":%q}`, n, strings.Repeat("x", 500))
}

var soakNumber = regexp.MustCompile(`"n":(\d+)`)

// get makes a request, and has its answer judged.
func (s *soak) get(m *soaked, endpoint string, id int) {
	key, from := fmt.Sprintf("%s/%d", endpoint, id), time.Now()
	resp, err := s.http.Get(fmt.Sprintf("%s/api/%s?id=%d", m.public, endpoint, id))
	if err != nil {
		s.failed(m, from, key+": "+err.Error())
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	found := soakNumber.FindSubmatch(body)
	if err != nil || resp.StatusCode != http.StatusOK || found == nil {
		s.failed(m, from, fmt.Sprintf("%s: %d %v %.200s", key, resp.StatusCode, err, body))
		return
	}
	n, _ := strconv.ParseInt(string(found[1]), 10, 64)
	s.count("answers")
	s.judge.answer(m.name, key, n, from)
}

// failed counts a request without an answer. Only a source that takes long, one fill after
// the other, and an instance that is stopped, excuse one.
func (s *soak) failed(m *soaked, from time.Time, what string) {
	took := time.Since(from)
	switch {
	case s.judge.stopped(m.name, from, time.Now()):
		s.count("failed while stopped")
	case strings.Contains(what, "upstream_timeout") || strings.Contains(what, "upstream_unavailable"):
		s.count("source too slow")
	default:
		s.count("failed")
		s.t.Errorf("%s: %s: after %v\n%s", s.line.at(from), m.name, took, what)
	}
}

func (s *soak) count(what string) {
	n, _ := s.counts.LoadOrStore(what, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
}

// call asks for one thing after the other.
func (s *soak) call(ctx context.Context, caller int) {
	rnd := rand.New(rand.NewPCG(1, uint64(caller)))
	for ctx.Err() == nil {
		endpoint := []string{"own", "kept"}[rnd.IntN(2)]
		s.get(s.fleet[rnd.IntN(len(s.fleet))], endpoint, 1+rnd.IntN(soakKeys))
		time.Sleep(20*time.Millisecond + time.Duration(rnd.IntN(int(60*time.Millisecond))))
	}
}

// leave asks, and leaves in the midst of it, or reads slowly.
func (s *soak) leave(ctx context.Context) {
	for ctx.Err() == nil {
		m := s.fleet[rand.IntN(len(s.fleet))]
		conn, err := net.Dial("tcp", strings.TrimPrefix(m.public, "http://"))
		if err == nil {
			_, _ = fmt.Fprintf(conn, "GET /api/own?id=%d HTTP/1.1\r\nHost: localhost\r\n\r\n", 1+rand.IntN(soakKeys))
			if rand.IntN(2) == 0 {
				_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
				_, _ = io.ReadFull(&slowly{conn, 20 * time.Millisecond}, make([]byte, 100))
			}
			_ = conn.Close()
		}
		s.count("left")
		time.Sleep(50 * time.Millisecond)
	}
}

// order purges, drops and changes, on any instance.
func (s *soak) order(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		m := s.fleet[rand.IntN(len(s.fleet))]
		endpoint := []string{"own", "kept"}[rand.IntN(2)]
		switch chance := rand.IntN(10); {
		case chance < 6:
			key := fmt.Sprintf("%s/%d", endpoint, 1+rand.IntN(soakKeys))
			s.remove(m, "drop", fmt.Sprintf(`{"endpoint":%q,"key":%q}`, endpoint, s.keys[key]), key)
		case chance < 8:
			var keys []string
			for id := range soakKeys {
				keys = append(keys, fmt.Sprintf("%s/%d", endpoint, id+1))
			}
			s.remove(m, "purge", fmt.Sprintf(`{"endpoint":%q,"mode":"hard"}`, endpoint), keys...)
		default:
			ttl := fmt.Sprintf("1h0m%ds", 1+n%50)
			if s.acknowledged(m, http.MethodPut, "endpoints/kept/cache", fmt.Sprintf(`{"set":{"ttl":%q}}`, ttl)) {
				s.mu.Lock()
				s.ttl = ttl
				s.mu.Unlock()
			}
		}
		time.Sleep(300 * time.Millisecond)
	}
}

func (s *soak) remove(m *soaked, what, body string, keys ...string) {
	done := s.judge.ordering(what, m.name, keys)
	if s.acknowledged(m, http.MethodPost, "purge", body) {
		done()
	}
}

// acknowledged gives an order, and reports whether the instance has taken it. It may not
// refuse any: whether it has to wait for Redis is its own affair.
func (s *soak) acknowledged(m *soaked, method, path, body string) bool {
	from := time.Now()
	status, answer, err := s.admin(m, method, path, body)
	s.line.add(&episode{what: "order", subject: m.name, detail: fmt.Sprintf("%s %s: %d %v", path, body, status, err), from: from, to: time.Now()})
	switch {
	case err != nil:
		s.count("orders of unknown outcome")
		if !s.judge.stopped(m.name, from, time.Now()) {
			s.t.Errorf("%s: %s %s: %v", m.name, path, body, err)
		}
		return false
	case status == http.StatusOK:
		s.count("orders")
	case status == http.StatusAccepted:
		s.count("orders pending")
	default:
		s.count("orders refused")
		s.t.Errorf("%s: %s: %s %s is refused: %d %s", s.line.at(from), m.name, path, body, status, answer)
		return false
	}
	return true
}

func (s *soak) admin(m *soaked, method, path, body string) (int, []byte, error) {
	req, err := http.NewRequest(method, m.admin+path, strings.NewReader(body))
	if !strings.HasPrefix(path, "/") {
		req, err = http.NewRequest(method, m.admin+"/admin/api/"+path, strings.NewReader(body))
	}
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept-Language", "en")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

// findKeys finds the names of the entries in the cache.
func (s *soak) findKeys(endpoint string) {
	_, body, err := s.admin(s.fleet[0], http.MethodGet, "endpoints/"+endpoint+"/entries?limit=1000", "")
	var doc struct{ Entries []struct{ Key string } }
	if err = errors.Join(err, json.Unmarshal(body, &doc)); err != nil {
		s.t.Fatalf("%v: %s", err, body)
	}
	for _, e := range doc.Entries {
		if found := regexp.MustCompile(`(\d+)\|$`).FindStringSubmatch(e.Key); found != nil {
			s.keys[endpoint+"/"+found[1]] = e.Key
		}
	}
	for id := range soakKeys {
		if s.keys[fmt.Sprintf("%s/%d", endpoint, id+1)] == "" {
			s.t.Fatalf("no key for %d: %s", id+1, body)
		}
	}
}

// storm lets one fault follow the other. After the first minute it looks at the memory.
func (s *soak) storm(length time.Duration, before *[]usage) {
	pause := min(5*time.Second, length/6)
	end, minute := time.Now().Add(length), time.Now().Add(soakMinute)
	for n := 0; time.Now().Before(end) && !s.t.Failed(); n++ {
		time.Sleep(pause)
		switch n % 3 {
		case 0:
			s.ill("redis", "paused", s.redis.Freeze, s.redis.Thaw)
		case 1:
			m := s.fleet[rand.IntN(len(s.fleet))]
			s.ill("stop", m.name, func() { s.signal(m, syscall.SIGSTOP) }, func() { s.signal(m, syscall.SIGCONT) })
		case 2:
			s.ill("redis", "killed", s.redis.Stop, s.redis.Restart)
		}
		if time.Now().After(minute) {
			*before, minute = s.usage(), end.Add(time.Hour)
		}
	}
}

// ill lets a fault last for a while, and for as long as the fleet needs to recover.
func (s *soak) ill(what, subject string, begin, end func()) {
	over := s.line.begin(what, subject, "")
	begin()
	time.Sleep(time.Second + time.Duration(rand.IntN(int(3*time.Second))))
	end()
	s.count(what)
	s.recovered()
	over()
}

func (s *soak) signal(m *soaked, sig syscall.Signal) {
	if err := m.cmd.Process.Signal(sig); err != nil {
		s.t.Error(err)
	}
}

// recovered waits until each instance says that it knows all.
func (s *soak) recovered() {
	s.t.Helper()
	for _, m := range s.fleet {
		waittest.Until(s.t, m.name+" is in sync", func() bool {
			return s.metric(m, "sundry_settings_in_sync") == 1 && s.metric(m, "sundry_far_listening") == 1 && s.metric(m, "sundry_settings_pending") == 0
		})
	}
	time.Sleep(soakSlack)
}

// metric is the value of a series; -1 while the instance does not answer.
func (s *soak) metric(m *soaked, series string) float64 {
	_, body, err := s.admin(m, http.MethodGet, "/metrics", "")
	if err != nil {
		return -1
	}
	_, rest, _ := bytes.Cut(body, []byte("\n"+series+" "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	v, err := strconv.ParseFloat(string(line), 64)
	if err != nil {
		s.t.Fatalf("there is no %s", series)
	}
	return v
}

// holds requires of every instance, now that nothing is wrong, that all orders hold.
func (s *soak) holds() {
	s.t.Helper()
	for range 2 {
		for _, m := range s.fleet {
			for id := range soakKeys {
				s.get(m, "own", id+1)
				s.get(m, "kept", id+1)
			}
		}
	}
	for _, m := range s.fleet {
		in := &instance{t: s.t, admin: m.admin}
		if got := in.ttl("kept"); s.ttl != "" && got != s.ttl {
			s.t.Errorf("%s: the last change acknowledged, a ttl of %s, is not in force: it is %s", m.name, s.ttl, got)
		}
	}
}

// usage is what an instance uses, the bytes that its near tier has grown to apart: up to its
// bound, they grow with what was ever written, because bigcache evicts the oldest first.
type usage struct{ goroutines, files, heap, resident, near float64 }

func (s *soak) usage() (all []usage) {
	for _, m := range s.fleet {
		for range 2 { // what the first leaves to finalizers, the second frees
			if _, _, err := s.admin(m, http.MethodGet, "/debug/pprof/heap?gc=1", ""); err != nil {
				s.t.Error(err)
			}
		}
		near := s.nearTier(m)
		all = append(all, usage{
			s.metric(m, "go_goroutines"), s.metric(m, "process_open_fds"), s.metric(m, "go_memstats_heap_inuse_bytes") - near,
			s.metric(m, "process_resident_memory_bytes") - near, near,
		})
	}
	return all
}

// nearTier is how many bytes the near tier of an instance has grown to; it is at most its bound.
func (s *soak) nearTier(m *soaked) (n float64) {
	_, body, err := s.admin(m, http.MethodGet, "/metrics", "")
	if err != nil {
		s.t.Error(err)
	}
	for _, found := range nearBytes.FindAllSubmatch(body, -1) {
		bytes, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			s.t.Fatal(err)
		}
		n += bytes
	}
	if n > soakMemory {
		s.t.Errorf("%s: a near tier of %.0f bytes, which is to have %d at most", m.name, n, soakMemory)
	}
	return n
}

// same requires that instances at rest use what they did before: connections of callers,
// and to Redis, come and go.
func (s *soak) same(before []usage) {
	s.t.Helper()
	const spare, mib = 60, 1 << 20
	var now []usage
	deadline := time.Now().Add(soakRecovers)
	for done := false; !done; time.Sleep(time.Second) {
		now, done = s.usage(), true
		for i, u := range now {
			b := before[i]
			done = done && u.goroutines <= b.goroutines+spare && u.files <= b.files+spare && u.heap <= 1.25*b.heap+8*mib && u.resident <= 1.25*b.resident+24*mib
		}
		if !done && time.Now().After(deadline) {
			break
		}
	}
	for i, u := range now {
		b := before[i]
		s.t.Logf("%s: goroutines %.0f (before %.0f), descriptors %.0f (%.0f), near tier %.1f MiB (%.1f), heap beside it %.1f MiB (%.1f), resident %.1f MiB (%.1f)",
			s.fleet[i].name, u.goroutines, b.goroutines, u.files, b.files, u.near/mib, b.near/mib, u.heap/mib, b.heap/mib, u.resident/mib, b.resident/mib)
		if u.goroutines > b.goroutines+spare || u.files > b.files+spare || u.heap > 1.25*b.heap+8*mib || u.resident > 1.25*b.resident+24*mib {
			s.t.Errorf("%s uses more than before", s.fleet[i].name)
		}
	}
}

func (s *soak) report() {
	var all []string
	s.counts.Range(func(what, n any) bool {
		all = append(all, fmt.Sprintf("%s: %d", what, n.(*atomic.Int64).Load()))
		return true
	})
	s.t.Log(strings.Join(all, ", "))
}

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sundry/cache/far/redistest"
	"sundry/upstreams"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
	"sundry/upstreams/replay"
)

// chaos is one run of it.
type chaos struct {
	t       testing.TB
	seed    uint64
	line    *timeline
	oracle  *oracle
	survey  *survey
	errands []*errand
	redis   *redistest.Server
	wire    *relay // before the Redis of the first instance
	dir     string
	one     *member
	two     atomic.Pointer[member] // nil: it is down
	starts  int
	rest    time.Duration // the most that clients wait between calls
}

// member is an instance with what the test sees of its inside.
type member struct {
	*instance
	name string // of this start
	addr string
	env  *upstreams.Environment
	down context.CancelFunc // ends what watches it
	gone sync.WaitGroup
}

// TestChaos puts load on all endpoints in replay while upstreams, Redis, files,
// settings, clients and a second instance fail at random. Nothing may be wrong
// but what the policy says: each answer is held to its call, each failure to
// what was wrong at the time. SUNDRY_TEST_CHAOS says for how long, such as 2m
// (unset: a few seconds, and only among the long stories), and
// SUNDRY_TEST_CHAOS_SEED makes a run's events happen again.
func TestChaos(t *testing.T) {
	if os.Getenv("SUNDRY_TEST_CHAOS") == "" {
		longtest.Story(t)
	}
	length, seed := chaosLength(t), chaosSeed(t)
	t.Logf("seed %d, %s: SUNDRY_TEST_CHAOS=%s SUNDRY_TEST_CHAOS_SEED=%d go test -count 1 -run TestChaos ./cmd/sundry", seed, length, length, seed)
	before := goleak.IgnoreCurrent()
	r := newRun(t, seed)
	descriptors := openFiles(t)
	r.startFirst()
	events := r.events()
	r.all(r.one)
	if t.Failed() {
		t.Fatal("something is wrong before anything happens")
	}
	level := r.heap()
	r.storm(events, length)
	events.heal()
	r.healed()
	events.end(r.two.Load())
	r.all(r.one)
	if now := r.heap(); now > level+level/4+(24<<20) {
		t.Errorf("seed %d: memory was at %d MiB before, and is at %d MiB", seed, level>>20, now>>20)
	}
	events.end(r.one)
	r.oracle.openings(r.survey.behind)
	r.read()
	waittest.Until(t, "descriptors are closed", func() bool { return openFiles(t) <= descriptors })
	http.DefaultClient.CloseIdleConnections()
	// The relay and the restarted Redis end with the test, after this.
	ends := []goleak.Option{before, goleak.IgnoreAnyFunction("sundry/cmd/sundry.(*relay).accept"), goleak.IgnoreAnyFunction("sundry/cache/far/redistest.awaitEnd")}
	if err := goleak.Find(ends...); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	t.Logf("%d errands, %v", len(r.errands), r.oracle.number)
}

func chaosLength(t *testing.T) time.Duration {
	text := os.Getenv("SUNDRY_TEST_CHAOS")
	if text == "" {
		return 4 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("SUNDRY_TEST_CHAOS: %v", err)
	}
	return d
}

func chaosSeed(t *testing.T) uint64 {
	text := os.Getenv("SUNDRY_TEST_CHAOS_SEED")
	switch {
	case text != "":
	case os.Getenv("SUNDRY_TEST_CHAOS") == "":
		return 1 // tests are the same each time
	default:
		return rand.Uint64() >> 40
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("SUNDRY_TEST_CHAOS_SEED: %v", err)
	}
	return n
}

func newRun(t *testing.T, seed uint64) *chaos {
	r := &chaos{t: t, seed: seed, line: newTimeline(), dir: t.TempDir(), rest: 10 * time.Millisecond}
	r.oracle = newOracle(t, seed, r.line)
	if err := os.Mkdir(filepath.Join(r.dir, "catalog"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.extra("ttl: 1m")
	r.survey = newSurvey(t, filepath.Join(r.dir, "catalog"))
	r.errands = r.survey.errands()
	for _, e := range r.survey.set.Endpoints {
		r.oracle.stale[e.Name] = e.Policy.StaleIfError
	}
	r.redis = redistest.Start(t)
	r.wire = newRelay(t, r.redis.Addr)
	return r
}

func (r *chaos) events() *events {
	e := &events{chaos: r, rnd: rand.New(rand.NewPCG(r.seed, 0)), faults: map[string]replay.Fault{}}
	e.endpoints, e.sources = r.survey.subjects()
	return e
}

// chaosConfig has short spans, so that what failed can be seen to heal.
// queue_delay sheds nobody where it is written beside it: callers and
// servers share the process, and its processors with whatever else is tested.
const chaosConfig = "cache: {memory: 1GiB, warm: false}\nlog_level: %s\n"

// config writes the first instance's file, as editors do.
func (r *chaos) config(more string) {
	text := fmt.Sprintf(chaosConfig, "error") + r.rules()
	if !strings.Contains(more, "limits:") {
		text += "limits: {rate: 0, queue_delay: 0s}\n"
	}
	r.save("sundry.yaml", text+more)
}

// rules of all endpoints: what they keep is soon stale, and every second one
// waits for the refresh.
func (r *chaos) rules() string {
	var b strings.Builder
	b.WriteString("endpoints:\n")
	for n, e := range r.survey.set.Endpoints {
		_, _ = fmt.Fprintf(&b, "  %s: {cache: {pause: 100ms, pause_max: %s, fill_timeout: %s", e.Name, chaosPauseMax, chaosFill)
		if e.Policy.Negative > 0 {
			_, _ = fmt.Fprintf(&b, ", negative: %s", chaosNegative)
		}
		if e.Policy.Stores() {
			b.WriteString(", ttl: 2s")
		}
		if n%2 == 0 {
			b.WriteString(", grace: 0s")
		}
		b.WriteString("}}\n")
	}
	return b.String()
}

func (r *chaos) save(name, text string) {
	next := write(r.t, r.t.TempDir(), "next", text)
	if err := os.Rename(next, filepath.Join(r.dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

// extra writes a catalog file with its cache rule.
func (r *chaos) extra(rule string) {
	r.save("catalog/extra.yaml", `version: 1
name: extra
group: lookups
summary: {en: Extra., zh: 额外}
params: [{name: id, type: int, min: 1, max: 100000, default: "1", example: "1"}]
cache: {class: keyed, `+rule+`}
forms: [{name: json, json: .}]
sources: [{name: made, computed: {}, map: "{id: $params.id}"}]
`)
}

func (r *chaos) startFirst() {
	r.save("sundry.yaml", fmt.Sprintf(chaosConfig, "info")+r.rules()+"limits: {rate: 0, queue_delay: 0s}\n")
	r.one = r.start("one", nil, "--config", filepath.Join(r.dir, "sundry.yaml"), "--catalog", filepath.Join(r.dir, "catalog"), "--redis", r.wire.url())
	r.config("") // from now on, it is quiet
	r.one.mustAsk(http.MethodPost, "reload", "")
}

func (r *chaos) startSecond() {
	dir := r.t.TempDir()
	b, err := os.ReadFile(filepath.Join(r.dir, "catalog", "extra.yaml"))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "catalog"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	write(r.t, dir, "catalog/extra.yaml", strings.Replace(string(b), "ttl: soon", "ttl: 1m", 1))
	file := write(r.t, dir, "sundry.yaml", fmt.Sprintf(chaosConfig, "info")+r.rules()+"limits: {rate: 0, queue_delay: 0s}\nlog_hits: 1000000\n")
	r.starts++
	r.two.Store(r.start(fmt.Sprint("two, start ", r.starts), map[string]string{"SUNDRY_DRAIN_DELAY": "1s"},
		"--config", file, "--catalog", filepath.Join(dir, "catalog"), "--redis", r.redis.URL()))
}

// start starts an instance whose breakers do not stay open for long.
func (r *chaos) start(name string, env map[string]string, args ...string) *member {
	i := &member{name: name}
	getenv := func(key string) (string, bool) {
		if v, ok := env[key]; ok || key != "SUNDRY_DRAIN_DELAY" {
			return v, ok
		}
		return "0s", true
	}
	i.instance = launch(r.t, &process{getenv: getenv, onEnvironment: func(env *upstreams.Environment) {
		i.env = env
		env.Hosts.Config = host.Config{Open: 200 * time.Millisecond, OpenMax: time.Second, Probe: time.Second, Window: chaosWindow}
	}}, append([]string{"--replay"}, args...)...)
	i.addr = strings.TrimPrefix(i.public, "http://")
	ctx, cancel := context.WithCancel(context.Background())
	i.down = cancel
	i.gone.Go(func() { r.watch(ctx, i) })
	return i
}

// endSecond ends the second instance. New calls go elsewhere; those under way
// are answered.
func (e *events) endSecond() {
	i := e.two.Swap(nil)
	e.end(i)
}

func (r *chaos) end(i *member) {
	r.two.CompareAndSwap(i, nil)
	i.end()
	i.down()
	i.gone.Wait()
}

// watch notes when breakers are open.
func (r *chaos) watch(ctx context.Context, i *member) {
	ends := map[string]func(){}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, h := range i.env.Hosts.All() {
			state, end := h.State(), ends[h.Name]
			switch {
			case state == "open" && end == nil:
				ends[h.Name] = r.line.begin("breaker", h.Name, "open on "+i.name)
			case state != "open" && end != nil:
				end()
				delete(ends, h.Name)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			for _, end := range ends {
				end()
			}
			return
		}
	}
}

func (r *chaos) instances() []*member {
	if two := r.two.Load(); two != nil {
		return []*member{r.one, two}
	}
	return []*member{r.one}
}

func (r *chaos) environments() []*upstreams.Environment {
	var all []*upstreams.Environment
	for _, i := range r.instances() {
		all = append(all, i.env)
	}
	return all
}

func (r *chaos) pick(rnd *rand.Rand) *member {
	all := r.instances()
	return all[rnd.IntN(len(all))]
}

// storm lets things happen under load.
func (r *chaos) storm(e *events, length time.Duration) {
	ctx, stop := context.WithCancel(r.t.(*testing.T).Context())
	var clients sync.WaitGroup
	for n := range 12 {
		transport := &http.Transport{MaxIdleConnsPerHost: 1}
		c := &client{chaos: r, rnd: rand.New(rand.NewPCG(r.seed, uint64(n)+1)), http: &http.Client{Transport: transport, CheckRedirect: stay}, tags: map[string]string{}}
		clients.Go(func() { defer transport.CloseIdleConnections(); c.drive(ctx) })
	}
	for end := time.Now().Add(length); time.Now().Before(end) && r.oracle.few(); {
		e.next()
		next := time.Now().Add(e.span(0, 200*time.Millisecond))
		for time.Now().Before(next) {
			time.Sleep(5 * time.Millisecond)
			e.due(time.Now())
		}
	}
	stop()
	clients.Wait()
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// all makes every call once; nothing is wrong by now.
func (r *chaos) all(i *member) {
	r.t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := &client{chaos: r, rnd: rand.New(rand.NewPCG(r.seed, 99)), http: &http.Client{Transport: transport, CheckRedirect: stay}, tags: map[string]string{}}
	for _, e := range r.errands {
		req, err := http.NewRequest(http.MethodGet, "http://"+i.addr+e.path(), http.NoBody)
		if err != nil {
			r.t.Fatal(err)
		}
		c.do(req, e, i)
	}
}

// healed waits until everything is as if nothing had been: every call is
// answered by its first source, from what is asked for anew.
func (r *chaos) healed() {
	r.t.Helper()
	for _, i := range r.instances() {
		waittest.Until(r.t, "breakers of "+i.name+" let calls through", func() bool {
			for _, h := range i.env.Hosts.All() {
				if h.State() == "open" {
					return false
				}
			}
			return true
		})
	}
	r.one.mustAsk(http.MethodPost, "purge", `{"endpoint":"*","mode":"hard"}`)
	client := &http.Client{CheckRedirect: stay, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, i := range r.instances() {
		waittest.Until(r.t, "settings of "+i.name, func() bool { return i.sequence() == r.one.sequence() })
		for _, e := range r.errands {
			what := ""
			healthy := func() bool { what = r.ordinary(client, i, e); return what == "" }
			for until := time.Now().Add(10 * time.Second); !healthy(); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(until) {
					r.t.Fatalf("seed %d: it does not heal: %s of %s: %s", r.seed, e.path(), i.name, what)
				}
			}
		}
		mustGet(r.t, i.public+"/readyz")
	}
}

// ordinary tells what of an answer is not as if nothing had been; "": all is.
func (r *chaos) ordinary(client *http.Client, i *member, e *errand) string {
	resp, err := client.Get("http://" + i.addr + e.path())
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil {
		err = e.rule.check(context.Background(), resp.StatusCode, resp.Header, body)
	}
	if err != nil {
		return err.Error()
	}
	if by := resp.Header.Get("Sundry-Source"); e.key != "" && by != "replay:"+e.picks[0].ways[0].source {
		return "the source is " + by
	}
	return ""
}

var nearBytes = regexp.MustCompile(`(?m)^sundry_cache_memory_capacity_bytes\{[^}]*\} (\S+)$`)

// heap is what is in use beside what the near tier keeps and the log.
func (r *chaos) heap() uint64 {
	r.t.Helper()
	_, text := mustGet(r.t, r.one.admin+"/metrics")
	kept := 0.0
	for _, m := range nearBytes.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			r.t.Fatal(err)
		}
		kept += n
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc - min(m.HeapAlloc, uint64(kept))
}

// read lets another program read some QR codes that were compared byte by byte.
func (r *chaos) read() {
	program, err := exec.LookPath("zbarimg")
	if err != nil {
		return
	}
	n := 0
	for _, e := range r.errands {
		if e.drawn == nil {
			continue
		}
		if n++; n > 5 {
			return
		}
		file := write(r.t, r.dir, "code.png", string(e.drawn))
		out, err := exec.Command(program, "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file).Output()
		if err != nil || strings.TrimSuffix(string(out), "\n") != e.qrText {
			r.t.Errorf("read %q: %v, want %q", out, err, e.qrText)
		}
	}
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc/self/fd")
	}
	return len(entries)
}

func parsed(path string) *url.URL {
	u, err := url.Parse(path)
	if err != nil {
		panic(err) // of the table's
	}
	return u
}

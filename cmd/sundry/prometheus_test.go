package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/cache/far/redistest"
	"sundry/cmd/sundry/internal/config"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/peertest"
)

// adminToken is what Prometheus shows to the admin listener.
const adminToken = "a-token-of-the-tests"

// serveWithToken is serve, with an admin listener that wants a token.
func serveWithToken(t *testing.T, args ...string) *instance {
	t.Helper()
	getenv := func(name string) (string, bool) { return adminToken, name == "SUNDRY_ADMIN_TOKEN" }
	return launch(t, &process{getenv: getenv, adviseEvery: time.Second}, args...)
}

// scraper is a real Prometheus, which scrapes as deploy/prometheus has it, but for
// the addresses, the token's file and the pace.
type scraper struct {
	t   *testing.T
	url string
}

func startPrometheus(t *testing.T, target string) *scraper {
	t.Helper()
	dir, address := t.TempDir(), freeAddress(t)
	return runPrometheus(t, dir, samplePrometheus(t, dir, strings.TrimPrefix(target, "http://"), address), address)
}

// runPrometheus starts Prometheus with a configuration, whose data is in dir, and waits until it is ready.
func runPrometheus(t *testing.T, dir, config, address string) *scraper {
	t.Helper()
	program := peertest.Program(t, "prometheus", "prometheus", "prometheus")
	promtool(t, "", "check", "config", config)
	log := &output{}
	cmd := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--enable-feature=exemplar-storage", "--log.level=warn")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("prometheus:\n%s", log)
		}
	})
	p := &scraper{t, "http://" + address}
	waittest.Until(t, "Prometheus is ready", func() bool {
		status, _, _, err := get(p.url + "/-/ready")
		return err == nil && status == http.StatusOK
	})
	return p
}

// samplePrometheus lays the sample out in dir, with what differs here. A scrape
// must be over within the interval, under the race detector on a busy machine too.
func samplePrometheus(t *testing.T, dir, target, own string) string {
	t.Helper()
	text := readSample(t, "prometheus.yml")
	for from, to := range map[string]string{
		"/run/prometheus/read-token": write(t, dir, "token", adminToken),
		"sundry:9090":                target, "localhost:9090": own,
		"scrape_interval: 15s": "scrape_interval: 3s", "evaluation_interval: 15s": "evaluation_interval: 1s",
	} {
		if !strings.Contains(text, from) {
			t.Fatalf("prometheus.yml has no %q", from)
		}
		text = strings.ReplaceAll(text, from, to)
	}
	if err := os.Mkdir(filepath.Join(dir, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "rules"), "sundry.yml", readSample(t, "rules/sundry.yml"))
	return write(t, dir, "prometheus.yml", text)
}

func readSample(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../deploy/prometheus/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ask calls Prometheus' API and reads its data.
func (p *scraper) ask(path string, query url.Values, data any) error {
	_, _, body, err := get(p.url + "/api/v1/" + path + "?" + query.Encode())
	if err != nil {
		return err
	}
	answer := struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   any    `json:"data"`
	}{Data: data}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return fmt.Errorf("%w: %.200s", err, body)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s", answer.Error)
	}
	return nil
}

// numbers counts the finite samples that a query comes to, over the last ten
// seconds or, if instant, now.
func (p *scraper) numbers(expr string, instant bool) (int, error) {
	now := time.Now()
	at := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
	path, query := "query_range", url.Values{"query": {expr}, "start": {at(now.Add(-10 * time.Second))}, "end": {at(now)}, "step": {"1s"}}
	if instant {
		path, query = "query", url.Values{"query": {expr}, "time": {at(now)}}
	}
	var data struct {
		Result []struct {
			Value  [2]any   `json:"value"`
			Values [][2]any `json:"values"`
		} `json:"result"`
	}
	if err := p.ask(path, query, &data); err != nil {
		return 0, err
	}
	count := 0
	for _, series := range data.Result {
		for _, v := range append(series.Values, series.Value) {
			text, _ := v[1].(string)
			if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
				count++
			}
		}
	}
	return count, nil
}

// substituted fills in Grafana's variables, everything chosen.
func substituted(expr string) string {
	return strings.NewReplacer("$__rate_interval", "12s", "$job", ".*", "$instance", ".*", "$endpoint", ".*").Replace(expr)
}

// question is a query that must come to something.
type question struct {
	where, expr string
	instant     bool
}

var labelValues = regexp.MustCompile(`^label_values\((\w+)(?:\{([^}]*)\})?, (\w+)\)$`)

var selector = regexp.MustCompile(`(?:job:)?sundry_[a-z0-9_:]+(?:\{[^}]*\})?`)

// questions are all that dashboards and rules ask. Of rules, whose alerts had
// better come to nothing, it is each selector.
func questions(t *testing.T) []question {
	t.Helper()
	var all []question
	for _, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				all = append(all, question{fmt.Sprintf("%s: %q %s", d.file, p.Title, q.RefID), substituted(q.Expr), q.Instant})
			}
		}
		for _, v := range d.Templating.List {
			m := labelValues.FindStringSubmatch(v.Definition)
			if m == nil && v.Type == "query" {
				t.Errorf("%s: variable %s: want label_values(metric, label)", d.file, v.Name)
			}
			if m != nil {
				all = append(all, question{d.file + ": variable " + v.Name, "count by (" + m[3] + ") (" + m[1] + `{` + m[3] + `!="",` + substituted(m[2]) + `})`, true})
			}
		}
	}
	for _, r := range rules(t) {
		for _, s := range selector.FindAllString(r.Expr, -1) {
			all = append(all, question{r.Alert + r.Record, "count(" + s + ")", true})
		}
	}
	return all
}

// faults make every kind of trouble that the dashboards are to show.
var faults = []string{
	"60s/60s-mirror=status:503",     // a failover
	"kd=error:1",                    // no source answers
	"wpcat=error:0.6",               // stale answers as fallback
	"gamestatus=latency:20ms",       // slow
	"dailywp=error:0.3,latency:5ms", // now and then
}

// watched is the configuration of the test: entries that grow old while it runs.
const watched = `data: DIR/data
cache: {warm: false, memory: 16MiB}
catalog: DIR/catalog
drain_delay: 0s
limits: {rate: 100000, burst: 100000}
endpoints:
  wpcat: {cache: {ttl: 100ms, grace: 0s, stale_if_error: 10m, pause: 50ms, pause_max: 100ms}}
  yiyan: {cache: {ttl: 200ms, grace: 10m}}
  60s: {cache: {ttl: 200ms}}
`

// pulse is an endpoint whose content changes every two seconds, and is refreshed several
// times in between. Its target is one that some TTL meets.
const pulse = `version: 1
name: pulse
group: text
summary: {en: The time in steps., zh: 时间}
cache: {class: shared, ttl: 300ms, target: {old: 90%}}
forms: [{name: json, json: .}]
sources: [{name: clock, computed: {}, map: "{step: ($now / 2 | floor)}"}]
`

// load asks every endpoint for all that the catalog shows of it, and for keys
// never seen, until ctx ends.
func (p *instance) load(ctx context.Context, set *catalog.Catalog) {
	for n := 0; ctx.Err() == nil; n++ {
		for _, e := range set.Endpoints {
			for _, c := range fixtures.Calls(e) {
				p.request(ctx, "/api/"+e.Name+"?"+c.Query)
			}
		}
		p.request(ctx, fmt.Sprintf("/api/ip?ip=8.8.%d.%d", n/250%250, n%250))
		p.request(ctx, fmt.Sprintf("/api/avatar?uid=%d", 10000+n%80000))
		p.request(ctx, "/api/pulse")
		p.request(ctx, "/api/nothing")
	}
}

func (p *instance) request(ctx context.Context, path string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.public+path, nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		if ctx.Err() == nil {
			p.t.Error(err)
		}
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// TestDashboardsShowWhatHappens runs the server in replay with faults, under a
// real Prometheus with the sample's rules, until every query of every dashboard
// has come to a number.
func TestDashboardsShowWhatHappens(t *testing.T) {
	longtest.Story(t)
	peertest.Program(t, "prometheus", "prometheus", "prometheus")
	redis := redistest.Start(t)
	dir := t.TempDir()
	args := []string{"--replay", "--redis", redis.URL(), "--config", write(t, dir, "sundry.yaml", strings.ReplaceAll(watched, "DIR", dir))}
	for _, f := range faults {
		args = append(args, "--replay-fault", f)
	}
	if err := os.Mkdir(filepath.Join(dir, "catalog"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "catalog"), "pulse.yaml", pulse)
	write(t, filepath.Join(dir, "catalog"), "shop.yaml", "version: 1\nname: shop\nproxy: {to: 'http://127.0.0.1:1'}\n")
	serveWithToken(t, args...).end() // leaves a snapshot
	p := serveWithToken(t, args...)
	if status, _, _, _ := get(p.admin + "/metrics"); status != http.StatusUnauthorized {
		t.Fatalf("metrics without the token: %d", status)
	}
	prom := startPrometheus(t, p.admin)
	waittest.Until(t, "a first scrape, while all counters are zero", func() bool {
		n, err := prom.numbers(`up{job="sundry"} == 1`, true)
		return err == nil && n == 1
	})
	set := builtinCatalog(t)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.load(ctx, set) })
	defer func() { stop(); running.Wait(); http.DefaultClient.CloseIdleConnections() }()

	within(t, 60*time.Second, prom.unseen)
	p.change(http.MethodPost, "upstreams/kg.qq.com", `{"do":"closed"}`)
	p.change(http.MethodPut, "endpoints/pulse/cache", `{"set":{"grace":"1s"}}`) // of another rule, it is predicted what it leads to

	open := questions(t)
	within(t, 90*time.Second, func() (missing []string) {
		open, missing = prom.unanswered(open)
		return missing
	})
	within(t, 30*time.Second, func() []string { return prom.lacking() })
}

// change changes something by the admin API, with the token.
func (p *instance) change(method, path, body string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.admin+"/admin/api/"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		p.t.Errorf("%s: %s", body, resp.Status)
	}
}

// unseen are the signs that changes of content are seen often enough to predict by.
func (p *scraper) unseen() []string {
	const often = `sum(sundry_cache_refreshes_total{endpoint="pulse", result=~"changed|unchanged"}) > 30 and on () sundry_advise_old_ratio{endpoint="pulse", figure="seen"} > 0`
	if n, err := p.numbers(often, true); n == 0 || err != nil {
		return []string{fmt.Sprintf("%s: %v", often, err)}
	}
	return nil
}

// unanswered are the questions that come to nothing yet, and what to say of them.
func (p *scraper) unanswered(all []question) (open []question, missing []string) {
	for _, q := range all {
		if n, err := p.numbers(q.expr, q.instant); err != nil || n == 0 {
			open = append(open, q)
			missing = append(missing, fmt.Sprintf("%s: %v\n\t%s", q.where, err, q.expr))
		}
	}
	return open, missing
}

// lacking are the signs that are not to be seen yet: exemplars with request ids, the
// alert of an endpoint none of whose sources answers, and what advice makes of a
// content that does change.
func (p *scraper) lacking() []string {
	var missing []string
	var exemplars []struct {
		Exemplars []struct {
			Labels map[string]string `json:"labels"`
		} `json:"exemplars"`
	}
	span := url.Values{"query": {"sundry_request_duration_seconds_bucket"}, "start": {strconv.FormatInt(time.Now().Add(-time.Minute).Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10)}}
	if err := p.ask("query_exemplars", span, &exemplars); err != nil || len(exemplars) == 0 || exemplars[0].Exemplars[0].Labels["request_id"] == "" {
		missing = append(missing, fmt.Sprintf("exemplars with request ids: %v", err))
	}
	var alerts struct {
		Alerts []struct {
			Labels map[string]string `json:"labels"`
		} `json:"alerts"`
	}
	err := p.ask("alerts", nil, &alerts)
	raised := map[string]bool{}
	for _, a := range alerts.Alerts {
		raised[a.Labels["alertname"]+" "+a.Labels["endpoint"]] = true
	}
	if !raised["SundryEndpointWithoutSource kd"] {
		missing = append(missing, fmt.Sprintf("the alert of kd, among %v: %v", slices.Sorted(maps.Keys(raised)), err))
	}
	const known = `sundry_advise_old_ratio{endpoint="pulse", figure="seen"}`
	if n, err := p.numbers(known+" > 0", true); n != 1 || err != nil {
		missing = append(missing, fmt.Sprintf("%s above 0: %v", known, err))
	}
	return missing
}

// within asks again and again until nothing is missing.
func within(t *testing.T, limit time.Duration, missing func() []string) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		left := missing()
		if len(left) == 0 {
			return
		}
		select {
		case <-deadline.C:
			t.Errorf("nothing came of %d:\n%s", len(left), strings.Join(left, "\n"))
			return
		case <-tick.C:
		}
	}
}

// builtinCatalog is the catalog, to look at.
func builtinCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	return catalogOf(t, &flags{Replay: true}, "")
}

// catalogOf is the catalog with the files of a directory; "" for none.
func catalogOf(t *testing.T, f *flags, dir string) *catalog.Catalog {
	t.Helper()
	c := config.Default()
	log, _, _ := newLogger(c, &process{getenv: noEnv, stderr: io.Discard})
	env, err := newEnvironment(f, c, &process{getenv: noEnv}, nil, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := catalog.Load(catalog.Options{Dir: dir}, env)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

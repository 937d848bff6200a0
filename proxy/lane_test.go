package proxy

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sundry/cache"
	"sundry/proxy/express"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/loop"
)

// twoWays serve the same server: with the lane in front, and without.
type twoWays struct {
	*front
	lane, plain string // addresses
	reg         *prometheus.Registry
}

func newTwoWays(t testing.TB, files map[string]string, options ...option) *twoWays {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the lane is for Linux")
	}
	w := &twoWays{reg: prometheus.NewRegistry()}
	w.front = newFront(t, files, append(options, func(c *Config, _ *upstreams.Environment) {
		var err error
		if c.Cache, err = cache.New(cache.Config{Memory: 32 << 20, Registerer: w.reg}); err != nil {
			t.Fatal(err)
		}
		c.Registerer = w.reg
	})...)
	t.Cleanup(func() {
		if err := w.server.cfg.Cache.Close(); err != nil {
			t.Error(err)
		}
	})
	lane, err := w.server.Lane(w.reg)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(attach func(*http.Server, net.Listener) net.Listener) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: w.server}
		l = attach(srv, l)
		served := make(chan struct{})
		go func() { defer close(served); _ = srv.Serve(l) }()
		t.Cleanup(func() { _ = srv.Close(); <-served })
		return l.Addr().String()
	}
	w.lane = serve(lane.Attach)
	w.plain = serve(express.Follow)
	return w
}

// wire is a raw connection with its answers as they come.
type wire struct {
	net.Conn
	seen *strings.Builder
	r    *bufio.Reader
}

func dial(t testing.TB, address string) *wire {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	seen := &strings.Builder{}
	return &wire{c, seen, bufio.NewReader(io.TeeReader(c, seen))}
}

// ask sends a request and returns the answer, byte for byte.
func (w *wire) ask(t testing.TB, request string) string {
	t.Helper()
	if _, err := io.WriteString(w, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(w.r, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	_ = resp.Body.Close()
	defer w.seen.Reset()
	return w.seen.String()
}

// What may differ between two answers to one request, and what a pool picks.
var (
	changing = regexp.MustCompile(`(?m)^Date: .*\r\n|^X-Request-Id: [0-9a-f]{16}\r\n|"request_id":"[0-9a-f]{16}"`)
	picked   = regexp.MustCompile(`(?ms)^(Content-Length|Location|Sundry-Source): [^\n]*\n|; ttl=\d+|\r\n\r\n.*`)
)

// compare sends a request both ways. Seconds may pass between the two answers, and
// numbers in them change: then it tries again. Of a pool, the two may be picks of another
// age: then it tries until both are of the same.
func (w *twoWays) compare(t testing.TB, lane, plain *wire, request string) {
	t.Helper()
	var got, want, before string
	for try, tries := 0, 4; try < tries; try++ {
		before = want
		got, want = changing.ReplaceAllString(lane.ask(t, request), ""), changing.ReplaceAllString(plain.ask(t, request), "")
		if strings.Contains(got, "Cache-Control: no-store") {
			got, want = picked.ReplaceAllString(got, ""), picked.ReplaceAllString(want, "")
			tries = 40
		}
		if got == want || got == before { // a second may have passed on either side
			return
		}
	}
	t.Errorf("%q\nin the lane: %.700q\nnet/http:    %.700q", request, got, want)
}

// headersOfRequests are lines that matter for an answer, and some that do not.
func headersOfRequests(etag string) []string {
	return []string{
		"", "Accept-Encoding: gzip\r\n", "Accept-Encoding: gzip, deflate, br, zstd\r\n", "Accept-Encoding: zstd;q=0, gzip;q=0.5\r\n",
		"accept-encoding: *\r\n", "Accept-Encoding: gzip\r\nAccept-Encoding: zstd;q=0\r\n",
		"If-None-Match: " + etag + "\r\n", "If-None-Match: *\r\n", "If-None-Match: \"other\", " + etag + "\r\n", "If-None-Match: \"other\"\r\n",
		"X-Request-Id: an-id.of_the-caller\r\n", "X-Request-Id: not valid\r\n",
		"X-Forwarded-For: 198.51.100.7, 203.0.113.9\r\n", "Forwarded: for=198.51.100.7\r\n", "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-For: 198.51.100.8\r\n",
		"User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile\r\n", "Sec-CH-UA-Mobile: ?1\r\n",
		"Cdn-Loop: another\r\n", "Connection: keep-alive\r\n", "Range: bytes=0-3\r\n", "Cookie: a=b; c=\r\n", "Origin: https://site.example\r\n",
		"Accept-Language: zh\r\n", "Accept-Language: en-GB,en;q=0.9\r\n", "Accept-Language: de;q=0.9, en;q=0.2, zh-TW;q=0.8\r\n", "Accept-Language: zh;q=0, *;q=0.1\r\n",
		"Accept-Language: en\r\nAccept-Language: zh\r\n", "accept-language:\r\n", "Accept-Language: ;;q=x,,\xff\x80 zh_\"\r\n", "Accept-Language: " + strings.Repeat("zh-", 300) + "\r\n",
	}
}

var etagLine = regexp.MustCompile(`(?m)^Etag: (.*)\r$`)

// TestLaneAnswersAsNetHTTPDoes: every endpoint in every form, with every header that
// matters, down both ways on connections that stay open.
func TestLaneAnswersAsNetHTTPDoes(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	w := newTwoWays(t, nil, replayed, trusting("127.0.0.0/8"))
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	requests := 0
	for _, e := range w.server.Catalog().Endpoints {
		examples := fixtures.Examples(e)
		for _, lang := range []string{"lang=zh", "lang=en", "lang=%7Ah&lang=en", "lang=", "lang=%ff;q"} {
			examples = append(examples, examples[0]+"&"+lang, lang+"&"+examples[0])
		}
		for i := 0; i < len(examples); i += longtest.Every(3) {
			target := "/api/" + e.Name + "/index.php?" + examples[i]
			etag := `"none"`
			for asked, enough := 0, 3; asked < enough; asked++ { // now it lies ready
				answer := plain.ask(t, "GET "+target+" HTTP/1.1\r\nHost: a.example\r\n\r\n")
				if m := etagLine.FindStringSubmatch(answer); m != nil {
					etag = m[1]
				}
				if strings.Contains(answer, "Cache-Control: no-store") {
					enough = 60 // and so does each picture of a pool
				}
			}
			for _, lines := range headersOfRequests(etag) {
				for _, method := range []string{"GET", "HEAD"} {
					w.compare(t, lane, plain, method+" "+target+" HTTP/1.1\r\nHost: a.example\r\n"+lines+"\r\n")
					requests++
				}
			}
		}
	}
	answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`]
	if requests < 2000/longtest.Every(3) || answered < float64(requests)/2 {
		t.Errorf("of %d requests, the lane answered %v: that tests little", requests, answered)
	}
}

// TestLaneAnswersWhoKnowsASecret, and nobody else with it.
func TestLaneAnswersWhoKnowsASecret(t *testing.T) {
	w := newTwoWays(t, map[string]string{"asked": askedFile(secretInput)})
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	request := "GET /api/asked?id=1234 HTTP/1.1\r\nHost: a.example\r\n\r\n"
	for range 4 {
		plain.ask(t, request)
	}
	w.compare(t, lane, plain, request)
	w.compare(t, lane, plain, strings.Replace(request, "1234", "1235", 1))
	w.compare(t, lane, plain, strings.Replace(request, "id=", "", 1))
	if answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`]; answered != 1 {
		t.Errorf("the lane answered %v requests, want the first alone", answered)
	}
}

// TestLaneAnswersWithPicturesOfAPool: those that lie ready.
func TestLaneAnswersWithPicturesOfAPool(t *testing.T) {
	host := newFake(t, onePixel)
	list := newFake(t, `{"list":["`+host.URL+`/a.gif"]}`)
	w := newTwoWays(t, pictured(list, host))
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	request := "GET /api/simple HTTP/1.1\r\nHost: a.example\r\n\r\n"
	for range 4 {
		plain.ask(t, request)
	}
	before := w.counted(t, "sundry_cache_lookups_total")
	if got := lane.ask(t, request); !strings.HasSuffix(got, onePixel) || !strings.Contains(got, "\r\nCache-Control: no-store\r\n") {
		t.Errorf("%.500q", got)
	}
	for series, n := range w.counted(t, "sundry_cache_lookups_total") {
		if n != before[series]+1 && strings.Contains(series, "hit") {
			t.Errorf("%s: %v, and %v before", series, n, before[series])
		}
	}
	for _, lines := range headersOfRequests("*") {
		w.compare(t, lane, plain, strings.Replace(request, "\r\n\r\n", "\r\n"+lines+"\r\n", 1))
	}
	if answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`]; answered < 20 {
		t.Errorf("the lane answered %v requests", answered)
	}
}

// TestLaneRefusesAsNetHTTPDoes: mistakes, pages, probes, other paths and methods.
func TestLaneRefusesAsNetHTTPDoes(t *testing.T) {
	w := newTwoWays(t, nil, replaying("60s", "ip", "kd", "lishi", "music", "qrcode", "wpcat"))
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	for _, target := range []string{
		"/", "/healthz", "/readyz", "/docs", "/api/", "/api/60s/", "/api/60s", "/api/60s?type=text", "/api/60s/other", "/api/nope", "/api/60S",
		"/api/60s?type=nope", "/api/%36%30s", "/api/ip?ip=nope", "/api/wpcat?n=1&n=2", "/api/60s?type=js%6Fn", "/api/60s?unknown=1", "/api/60s?lang=zh", "/api/60s?lang=nope", "/api/kd?lang=zh", "/api/music?mid=404404&lang=zh", "/api/music?mid=404404&lang=en", "/api/60s?", "/api/60s??",
		"/api/kd", "/api/60s?callback=f(", "/api/60s?callback=app.f", "/api/lishi?callback=f", "/api/qrcode?text=a%20b+c",
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			for range 3 {
				w.compare(t, lane, plain, method+" "+target+" HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: fixed\r\n\r\n")
				w.compare(t, lane, plain, method+" "+target+" HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: fixed\r\nAccept-Language: zh-CN,zh;q=0.9\r\n\r\n")
			}
		}
	}
}

// counted are the values of a metric by its labels; of a histogram, the counts.
func (w *twoWays) counted(t testing.TB, name string) map[string]float64 {
	t.Helper()
	families, err := w.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			value := m.GetCounter().GetValue()
			if f.GetType() == dto.MetricType_HISTOGRAM {
				value = float64(m.GetHistogram().GetSampleCount())
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			if value != 0 {
				values[strings.Join(labels, ",")] = value
			}
		}
	}
	return values
}

// TestLaneIsCountedAsNetHTTPIs: the same requests move the same counters by the same.
func TestLaneIsCountedAsNetHTTPIs(t *testing.T) {
	w := newTwoWays(t, nil, replaying("60s", "yiyan"))
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	requests := []string{"/api/60s", "/api/60s?type=text", "/api/yiyan", "/api/60s?callback=f", "/api/60s?type=nope", "/api/nope"}
	for _, target := range requests {
		for range 3 {
			plain.ask(t, "GET "+target+" HTTP/1.1\r\nHost: a.example\r\n\r\n")
		}
	}
	metrics := []string{"sundry_requests_total", "sundry_request_duration_seconds", "sundry_cache_lookups_total", "sundry_cache_age_at_serve_seconds"}
	moved := func(way *wire) map[string]float64 {
		before, after := map[string]float64{}, map[string]float64{}
		read := func(into map[string]float64) {
			for _, name := range metrics {
				for labels, v := range w.counted(t, name) {
					into[name+labels] = v
				}
			}
		}
		read(before)
		for _, target := range requests {
			for _, more := range []string{"", "If-None-Match: *\r\n"} {
				way.ask(t, "GET "+target+" HTTP/1.1\r\nHost: a.example\r\n"+more+"\r\n")
			}
		}
		read(after)
		for labels, v := range before {
			if after[labels] -= v; after[labels] == 0 {
				delete(after, labels)
			}
		}
		return after
	}
	if inLane, inHTTP := moved(lane), moved(plain); !maps.Equal(inLane, inHTTP) || len(inHTTP) < 10 {
		t.Errorf("in the lane: %v\nnet/http:    %v", inLane, inHTTP)
	}
	if answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`]; answered < 5 {
		t.Errorf("the lane answered %v requests", answered)
	}
}

// TestLaneIsLimitedAsNetHTTPIs: a client uses up its burst in the lane as it would
// without, and no request counts twice.
func TestLaneIsLimitedAsNetHTTPIs(t *testing.T) {
	w := newTwoWays(t, nil, replaying("60s"), trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Limits = Limits{Rate: 0.01, Burst: 12}
	})
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	ask := func(way *wire, client string) string {
		return way.ask(t, "GET /api/60s HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: fixed\r\nX-Forwarded-For: "+client+"\r\n\r\n")
	}
	for range 3 {
		ask(plain, "192.0.2.1")
	}
	limit := regexp.MustCompile(`(?m)^HTTP/1.1 .*$|^Ratelimit.*$|^Retry-After.*$`)
	var inLane, inHTTP []string
	for range 15 {
		inLane = append(inLane, limit.FindAllString(ask(lane, "192.0.2.2"), -1)...)
		inHTTP = append(inHTTP, limit.FindAllString(ask(plain, "192.0.2.3"), -1)...)
	}
	if !slices.Equal(inLane, inHTTP) || !slices.ContainsFunc(inHTTP, func(s string) bool { return strings.Contains(s, "429") }) {
		t.Errorf("in the lane: %q\nnet/http:    %q", inLane, inHTTP)
	}
}

// TestLaneLeavesHitsToBeLogged: of hits, the same sample is logged.
func TestLaneLeavesHitsToBeLogged(t *testing.T) {
	log := &lines{}
	w := newTwoWays(t, nil, replaying("60s"), func(c *Config, _ *upstreams.Environment) {
		c.HitSample, c.Log = 10, slog.New(slog.NewTextHandler(log, nil))
	})
	lane := dial(t, w.lane)
	for range 3 {
		lane.ask(t, "GET /api/60s HTTP/1.1\r\nHost: a.example\r\n\r\n")
	}
	for i := range 100 {
		more := ""
		if i%2 == 0 {
			more = "If-None-Match: *\r\n"
		}
		lane.ask(t, "GET /api/60s HTTP/1.1\r\nHost: a.example\r\n"+more+"\r\n")
	}
	if n := strings.Count(log.String(), "outcome=hit") + strings.Count(log.String(), "outcome=not_modified"); n != 10 {
		t.Errorf("%d of 100 hits were logged", n)
	}
}

// TestRefusalsAreNotHitsToBeLogged: who is over the rate limit does not change which
// hits of others are logged.
func TestRefusalsAreNotHitsToBeLogged(t *testing.T) {
	log := &lines{}
	w := newTwoWays(t, nil, replaying("60s"), trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.HitSample, c.Log, c.Limits = 10, slog.New(slog.NewTextHandler(log, nil)), Limits{Rate: 0.01, Burst: 3}
	})
	lane := dial(t, w.lane)
	ask := func(client string) string {
		return lane.ask(t, "GET /api/60s HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-For: "+client+"\r\n\r\n")
	}
	for range 3 { // the first is no hit
		ask("192.0.2.255")
	}
	for i := range 98 {
		ask(fmt.Sprintf("192.0.2.%d", i))
		for range 9 {
			if answer := ask("192.0.2.255"); !strings.HasPrefix(answer, "HTTP/1.1 429 ") {
				t.Fatal(answer)
			}
		}
	}
	if n := strings.Count(log.String(), "outcome=hit"); n != 10 {
		t.Errorf("%d of 100 hits were logged", n)
	}
}

// TestAnAnswerThatBecomesNegativeIsLeftToNetHTTP, though its query is remembered.
func TestAnAnswerThatBecomesNegativeIsLeftToNetHTTP(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	w := newTwoWays(t, map[string]string{"simple": saysNo("ttl: 1h, jitter: 0, negative: 5m", up)})
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	request := "GET /api/simple?id=7 HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: fixed\r\n\r\n"
	for range 5 {
		w.compare(t, lane, plain, request)
	}
	if answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`]; answered == 0 {
		t.Error("the query is not remembered")
	}
	rt := w.server.current.Load().routes["simple"]
	in, _ := rt.endpoint.Parse("id=7", catalog.Caller{})
	up.status.Store(http.StatusNotFound)
	rt.space.PurgeKey(in.Key(), time.Now())
	for range 5 {
		if answer := lane.ask(t, request); !strings.HasPrefix(answer, "HTTP/1.1 404 ") {
			t.Errorf("%.300q", answer)
		}
		w.compare(t, lane, plain, request)
	}
}

// TestDrainingLanePassesAll: net/http tells clients to close.
func TestDrainingLanePassesAll(t *testing.T) {
	w := newTwoWays(t, nil, replaying("60s"))
	request := "GET /api/60s HTTP/1.1\r\nHost: a.example\r\n\r\n"
	lane := dial(t, w.lane)
	for range 4 {
		if answer := lane.ask(t, request); strings.Contains(answer, "Connection: close") {
			t.Fatal(answer)
		}
	}
	w.server.Drain()
	if answer := lane.ask(t, request); !strings.Contains(answer, "\r\nConnection: close\r\n") {
		t.Error(answer)
	}
}

// TestLaneRefusesLoops: a request that this service sent itself is not answered.
func TestLaneRefusesLoops(t *testing.T) {
	w := newTwoWays(t, nil, replaying("60s"))
	id := loop.NewID("me", nil, "")
	if err := w.server.Reload(w.server.Catalog(), Settings{LoopID: id}); err != nil {
		t.Fatal(err)
	}
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	for range 3 {
		w.compare(t, lane, plain, "GET /api/60s HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: fixed\r\n\r\n")
	}
	request := "GET /api/60s HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: fixed\r\nCDN-Loop: other, " + string(id) + "\r\n\r\n"
	if answer := lane.ask(t, request); !strings.HasPrefix(answer, "HTTP/1.1 403 ") {
		t.Errorf("%.300q", answer)
	}
	w.compare(t, lane, plain, request)
}

// TestAnswerInTheLaneAllocatesNothing counts from the request that was read to the
// bytes that are written.
func TestAnswerInTheLaneAllocatesNothing(t *testing.T) {
	if longtest.Race {
		t.Skip("with the race detector, pools forget on purpose")
	}
	w := newTwoWays(t, nil, replaying("60s", "dailynews", "ip", "yiyan"), trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Limits = Limits{Rate: 1e9}
		c.HitSample = 1 << 40
	})
	plain := dial(t, w.plain)
	for name, request := range map[string]string{
		"hit":            "/api/60s HTTP/1.1\r\nHost: a.example\r\n",
		"parameters":     "/api/ip?ip=8.8.8.8&callback=app.show HTTP/1.1\r\nHost: a.example\r\n",
		"compressed":     "/api/dailynews HTTP/1.1\r\nHost: a.example\r\nAccept-Encoding: gzip, deflate, br\r\n",
		"not modified":   "/api/60s?type=text HTTP/1.1\r\nHost: a.example\r\nIf-None-Match: *\r\n",
		"pool":           "/api/yiyan HTTP/1.1\r\nHost: a.example\r\n",
		"behind a proxy": "/api/60s HTTP/1.1\r\nHost: a.example\r\nX-Forwarded-For: 198.51.100.7, 127.0.0.2\r\nX-Request-Id: given\r\n",
	} {
		for range 3 {
			plain.ask(t, "GET "+request+"\r\n")
		}
		c := dial(t, w.lane)
		c.ask(t, "GET "+request+"\r\n")
		message, answer := []byte("GET "+request+"\r\n"), make([]byte, 64<<10)
		before := w.counted(t, "sundry_express_requests_total")[`result="answered"`]
		n := testing.AllocsPerRun(200, func() {
			if _, err := c.Write(message); err != nil {
				t.Error(err)
			}
			if _, err := c.Read(answer); err != nil {
				t.Error(err)
			}
		})
		if n >= 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`] - before; answered < 200 {
			t.Errorf("%s: the lane answered %v of 201 requests", name, answered)
		}
	}
}

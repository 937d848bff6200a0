package through

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/far"
	"sundry/cache/far/redistest"
	"sundry/cache/web"
)

// The suite's words, as its schema has them.
type (
	suite struct {
		Tests []*suiteTest `json:"tests"`
	}
	suiteTest struct {
		ID          string          `json:"id"`
		Kind        string          `json:"kind"`
		DependsOn   []string        `json:"depends_on"`
		BrowserOnly bool            `json:"browser_only"`
		Requests    []*suiteRequest `json:"requests"`
	}
	suiteRequest struct {
		Method          string            `json:"request_method"`
		RequestHeaders  [][]any           `json:"request_headers"`
		RequestBody     string            `json:"request_body"`
		Query           string            `json:"query_arg"`
		File            string            `json:"filename"`
		MagicIMS        bool              `json:"magic_ims"`
		MagicLocations  bool              `json:"magic_locations"`
		RFC850          []string          `json:"rfc850date"`
		Setup           bool              `json:"setup"`
		SetupTests      []string          `json:"setup_tests"`
		PauseAfter      bool              `json:"pause_after"`
		ResponsePause   float64           `json:"response_pause"`
		Disconnect      bool              `json:"disconnect"`
		Interim         []json.RawMessage `json:"interim_responses"`
		Status          []any             `json:"response_status"`
		ResponseHeaders [][]any           `json:"response_headers"`
		ResponseBody    *string           `json:"response_body"`
		CheckBody       *bool             `json:"check_body"`

		ExpectedType          string             `json:"expected_type"`
		ExpectedStatus        json.RawMessage    `json:"expected_status"`
		ExpectedHeaders       []json.RawMessage  `json:"expected_response_headers"`
		ExpectedMissing       []json.RawMessage  `json:"expected_response_headers_missing"`
		ExpectedRequest       []json.RawMessage  `json:"expected_request_headers"`
		ExpectedText          json.RawMessage    `json:"expected_response_text"`
		ExpectedMethod        string             `json:"expected_method"`
		ExpectedInterim       *[]json.RawMessage `json:"expected_interim_responses"`
		ExpectedRequestAbsent []json.RawMessage  `json:"expected_request_headers_missing"`
	}
)

// verdict is how a test ended.
type verdict struct {
	setup bool // what failed was to prepare it
	why   string
}

func (v *verdict) Error() string { return v.why }

// fails ends a test, as one that could not be prepared or as one that is not passed.
func fails(setup bool, format string, args ...any) {
	panic(&verdict{setup, fmt.Sprintf(format, args...)})
}

// isSetup reports whether what a request says under this name prepares the test.
func (r *suiteRequest) isSetup(name string) bool {
	return r.Setup || slices.Contains(r.SetupTests, name)
}

// seen is a request that the origin saw.
type seen struct {
	number   int
	method   string
	header   http.Header
	response [][2]string // fields that the caller is to get
}

// running is a test while it runs.
type running struct {
	*suiteTest
	uuid string
	mu   sync.Mutex
	seen []*seen
}

// suiteOrigin answers as the tests say. It writes its answers by itself: net/http would mend them.
type suiteOrigin struct {
	listener net.Listener
	mu       sync.Mutex
	tests    map[string]*running
}

func startSuiteOrigin(t *testing.T) *suiteOrigin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &suiteOrigin{listener: l, tests: map[string]*running{}}
	var all sync.WaitGroup
	var mu sync.Mutex
	conns := map[net.Conn]bool{}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[c] = true
			mu.Unlock()
			all.Go(func() { o.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return o
}

func (o *suiteOrigin) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if !o.answer(c, r) {
			return
		}
	}
}

// answer answers one request; false ends the connection.
func (o *suiteOrigin) answer(c net.Conn, r *http.Request) bool {
	uuid, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/test/"), "/")
	o.mu.Lock()
	test := o.tests[uuid]
	o.mu.Unlock()
	number, _ := strconv.Atoi(r.Header.Get("Req-Num"))
	if test == nil || number < 1 || number > len(test.Requests) {
		_, err := io.WriteString(c, "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
		return err == nil
	}
	says := test.Requests[number-1]
	if says.ResponsePause > 0 {
		time.Sleep(time.Duration(says.ResponsePause * float64(time.Second)))
	}
	return test.answer(c, r, number, says)
}

func (t *running) answer(c net.Conn, r *http.Request, number int, says *suiteRequest) bool {
	now := time.Now()
	t.mu.Lock()
	status, reason := t.status(r, number, says)
	fields := [][2]string{{"Server-Base-Url", r.URL.RequestURI()}, {"Server-Request-Count", strconv.Itoa(len(t.seen) + 1)},
		{"Client-Request-Count", strconv.Itoa(number)}, {"Server-Now", strconv.FormatInt(now.UnixMilli(), 10)}}
	s := &seen{number: number, method: r.Method, header: r.Header}
	has := map[string]bool{}
	for _, f := range says.ResponseHeaders {
		name, value := f[0].(string), says.fixup(f, now, r.URL.RequestURI())
		f[1] = value // what a later request is compared with
		fields = append(fields, [2]string{name, value})
		has[strings.ToLower(name)] = true
		if len(f) < 3 || f[2] == true {
			s.response = append(s.response, [2]string{name, value})
		}
	}
	t.seen = append(t.seen, s)
	var numbers []string
	for _, s := range t.seen {
		numbers = append(numbers, strconv.Itoa(s.number))
	}
	t.mu.Unlock()
	if says.Disconnect {
		return false
	}
	fields = append(fields, [2]string{"Request-Numbers", strings.Join(numbers, " ")})
	body := t.uuid
	if says.ResponseBody != nil && *says.ResponseBody != "" {
		body = *says.ResponseBody
	}
	return t.write(c, r, says, status, reason, fields, has, body, now)
}

// status is what a request is answered with: a validation that is as expected, with 304.
func (t *running) status(r *http.Request, number int, says *suiteRequest) (int, string) {
	status, reason := 200, "OK"
	if len(says.Status) > 1 {
		status, reason = int(says.Status[0].(float64)), says.Status[1].(string)
	}
	if !strings.HasSuffix(says.ExpectedType, "validated") {
		return status, reason
	}
	before := t.Requests[number-2]
	for name, condition := range map[string]string{"last-modified": "If-Modified-Since", "etag": "If-None-Match"} {
		for _, f := range before.ResponseHeaders {
			if strings.EqualFold(f[0].(string), name) && f[1] == r.Header.Get(condition) {
				return 304, "Not Modified"
			}
		}
	}
	return 999, "304 Not Generated"
}

// fixup is the value of a field: dates are given as seconds from now, locations without the place of the test.
func (r *suiteRequest) fixup(f []any, now time.Time, base string) string {
	name := strings.ToLower(f[0].(string))
	switch v := f[1].(type) {
	case float64:
		switch name {
		case "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since":
			at := now.Add(time.Duration(v) * time.Second).UTC()
			if slices.Contains(r.RFC850, name) {
				return at.Format("Monday, 02-Jan-06 15:04:05 GMT")
			}
			return at.Format(http.TimeFormat)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if r.MagicLocations && (name == "location" || name == "content-location") {
			if v == "" {
				return base
			}
			return base + "/" + v
		}
		return v
	}
	return ""
}

func (t *running) write(c net.Conn, r *http.Request, says *suiteRequest, status int, reason string, fields [][2]string, has map[string]bool, body string, now time.Time) bool {
	var out bytes.Buffer
	for _, raw := range says.Interim {
		var interim []any
		_ = json.Unmarshal(raw, &interim)
		fmt.Fprintf(&out, "HTTP/1.1 %v %s\r\n", interim[0], "Interim")
		if len(interim) > 1 {
			for _, f := range interim[1].([]any) {
				fmt.Fprintf(&out, "%v: %v\r\n", f.([]any)[0], f.([]any)[1])
			}
		}
		out.WriteString("\r\n")
	}
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", status, reason)
	for _, f := range fields {
		fmt.Fprintf(&out, "%s: %s\r\n", f[0], f[1])
	}
	if !has["content-type"] {
		out.WriteString("Content-Type: text/plain\r\n")
	}
	if !has["date"] {
		fmt.Fprintf(&out, "Date: %s\r\n", now.UTC().Format(http.TimeFormat))
	}
	noBody := status == 204 || status == 304
	if !has["content-length"] && !has["transfer-encoding"] && !noBody {
		fmt.Fprintf(&out, "Content-Length: %d\r\n", len(body))
	}
	out.WriteString("\r\n")
	if !noBody && r.Method != http.MethodHead {
		out.WriteString(body)
	}
	_, err := c.Write(out.Bytes())
	return err == nil && !has["transfer-encoding"] && !has["content-length"]
}

// got is an answer that the client got.
type got struct {
	status  int
	header  http.Header
	body    string
	interim []interimAnswer
}

type interimAnswer struct {
	code   int
	header http.Header
}

// value is a field as a browser shows it: its lines, joined.
func (g *got) value(name string) (string, bool) {
	lines, ok := g.header[http.CanonicalHeaderKey(name)]
	return strings.Join(lines, ", "), ok
}

// suiteClient runs tests against a cache.
type suiteClient struct {
	base      string
	origin    *suiteOrigin
	transport http.RoundTripper
	pause     time.Duration // between two requests of a test: what is written behind arrives meanwhile
}

// run runs one test; nil: it is passed.
func (c *suiteClient) run(test *suiteTest) (v *verdict) {
	t := &running{suiteTest: test, uuid: newUUID()}
	c.origin.mu.Lock()
	c.origin.tests[t.uuid] = t
	c.origin.mu.Unlock()
	defer func() {
		if failed, ok := recover().(*verdict); ok {
			v = failed
		}
	}()
	var answers []*got
	for i, says := range test.Requests {
		var before *got
		if i > 0 {
			before = answers[i-1]
		}
		g, err := c.ask(t, i, says, before)
		if err != nil {
			fails(true, "request %d: %v", i+1, err)
		}
		answers = append(answers, g)
		t.check(i, says, g)
		time.Sleep(c.pause)
		if says.PauseAfter {
			time.Sleep(3 * time.Second)
		}
	}
	t.checkSeen(answers)
	return nil
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (c *suiteClient) ask(t *running, i int, says *suiteRequest, before *got) (*got, error) {
	target := c.base + "/test/" + t.uuid
	if says.File != "" {
		target += "/" + says.File
	}
	if says.Query != "" {
		target += "?" + says.Query
	}
	g := &got{}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		g.interim = append(g.interim, interimAnswer{code, http.Header(h)})
		return nil
	}})
	var body io.Reader
	if says.RequestBody != "" {
		body = strings.NewReader(says.RequestBody)
	}
	method := says.Method
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Pragma": {"foo"}, "Cache-Control": {"nothing-to-see-here"}, "Accept": {"*/*"}, "Accept-Language": {"*"}, "User-Agent": {"node"}}
	given := map[string]bool{}
	for _, f := range says.RequestHeaders {
		name, value := http.CanonicalHeaderKey(f[0].(string)), ""
		if _, isNumber := f[1].(float64); isNumber && says.MagicIMS && before != nil {
			ms, _ := strconv.ParseInt(before.header.Get("Server-Now"), 10, 64)
			value = says.fixup(f, time.UnixMilli(ms), "")
		} else {
			value = strings.Trim(fmt.Sprint(f[1]), " \t")
		}
		if !given[name] && name != "Cache-Control" && name != "Pragma" {
			delete(r.Header, name)
		}
		given[name] = true
		if lines := r.Header[name]; len(lines) > 0 {
			r.Header[name] = []string{lines[0] + ", " + value}
		} else {
			r.Header[name] = []string{value}
		}
	}
	r.Header.Set("Test-Id", t.ID)
	r.Header.Set("Req-Num", strconv.Itoa(i+1))
	resp, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	g.status, g.header, g.body = resp.StatusCode, resp.Header, string(b)
	return g, err
}

// check compares an answer with what a test says of it.
func (t *running) check(i int, says *suiteRequest, g *got) {
	number := i + 1
	if numbers := strings.Fields(g.header.Get("Request-Numbers")); len(numbers) > 0 {
		if !slices.Equal(slices.Compact(slices.Sorted(slices.Values(numbers))), slices.Sorted(slices.Values(numbers))) {
			fails(true, "retry")
		}
	}
	counted, err := strconv.Atoi(g.header.Get("Server-Request-Count"))
	setup := says.isSetup("expected_type")
	switch says.ExpectedType {
	case "cached":
		withoutCount := g.status == 304 && err != nil // some leave the field out
		if !withoutCount && (err != nil || counted >= number) {
			fails(setup, "response %d does not come from the cache", number)
		}
	case "not_cached":
		if counted != number {
			fails(setup, "response %d comes from the cache", number)
		}
	}
	t.checkStatus(number, says, g)
	t.checkHeader(number, says, g)
	t.checkInterim(number, says, g)
	t.checkBody(number, says, g)
}

func (t *running) checkStatus(number int, says *suiteRequest, g *got) {
	want, setup := 200, true
	switch {
	case string(says.ExpectedStatus) == "null":
		return
	case says.ExpectedStatus != nil:
		_ = json.Unmarshal(says.ExpectedStatus, &want)
		setup = says.isSetup("expected_status")
	case len(says.Status) > 0:
		want = int(says.Status[0].(float64))
	case g.status == 999:
		fails(says.isSetup("expected_type"), "request %d is not conditional", number)
	}
	if g.status != want {
		fails(setup, "response %d: status %d, not %d", number, g.status, want)
	}
}

func (t *running) checkHeader(number int, says *suiteRequest, g *got) {
	setup := says.isSetup("expected_response_headers")
	for _, raw := range says.ExpectedHeaders {
		var name string
		if json.Unmarshal(raw, &name) == nil {
			if _, ok := g.value(name); !ok {
				fails(setup, "response %d has no %s", number, name)
			}
			continue
		}
		var f []any
		_ = json.Unmarshal(raw, &f)
		name = f[0].(string)
		value, ok := g.value(name)
		switch {
		case len(f) > 2 && f[1] == "=":
			other, _ := g.value(f[2].(string))
			if !ok || value != other {
				fails(setup, "response %d: %s %q, not %q", number, name, value, other)
			}
		case len(f) > 2 && f[1] == ">":
			n, err := strconv.Atoi(value)
			if !ok || err != nil || float64(n) <= f[2].(float64) {
				fails(setup, "response %d: %s %q, not over %v", number, name, value, f[2])
			}
		default:
			ms, _ := strconv.ParseInt(g.header.Get("Server-Now"), 10, 64)
			if want := says.fixup(f, time.UnixMilli(ms), g.header.Get("Server-Base-Url")); value != want {
				fails(setup, "response %d: %s %q, not %q", number, name, value, want)
			}
		}
	}
	for _, raw := range says.ExpectedMissing {
		var name string
		if json.Unmarshal(raw, &name) == nil {
			if v, ok := g.value(name); ok {
				fails(says.isSetup("expected_response_headers_missing"), "response %d has %s: %q", number, name, v)
			}
		}
	}
}

func (t *running) checkInterim(number int, says *suiteRequest, g *got) {
	if says.ExpectedInterim == nil {
		return
	}
	setup := says.isSetup("expected_interim_responses")
	if len(g.interim) != len(*says.ExpectedInterim) {
		fails(setup, "response %d: %d interim responses, not %d", number, len(g.interim), len(*says.ExpectedInterim))
	}
	for i, raw := range *says.ExpectedInterim {
		var want []any
		_ = json.Unmarshal(raw, &want)
		if g.interim[i].code != int(want[0].(float64)) {
			fails(setup, "response %d: interim %d is %d", number, i, g.interim[i].code)
		}
		if len(want) < 2 {
			continue
		}
		for _, f := range want[1].([]any) {
			if _, ok := g.interim[i].header[http.CanonicalHeaderKey(f.([]any)[0].(string))]; !ok {
				fails(setup, "response %d: interim %d has no %v", number, i, f)
			}
		}
	}
}

func (t *running) checkBody(number int, says *suiteRequest, g *got) {
	want, setup := t.uuid, true
	switch {
	case says.CheckBody != nil && !*says.CheckBody:
		return
	case says.ExpectedText != nil:
		if string(says.ExpectedText) == "null" {
			return
		}
		_ = json.Unmarshal(says.ExpectedText, &want)
		setup = says.isSetup("expected_response_text")
	case says.ResponseBody != nil:
		want = *says.ResponseBody
	case g.status == 204, g.status == 304, says.Method == http.MethodHead:
		return
	}
	if g.body != want {
		fails(setup, "response %d: body %q, not %q", number, g.body, want)
	}
}

// checkSeen compares what the origin saw with what a test says of it.
func (t *running) checkSeen(answers []*got) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := 0
	for i, says := range t.Requests {
		number, setup := i+1, says.isSetup("expected_type")
		if says.ExpectedType == "cached" {
			continue
		}
		var s *seen
		if next < len(t.seen) {
			s = t.seen[next]
		}
		next++
		var needs string
		switch says.ExpectedType {
		case "not_cached":
			if s == nil || s.number != number {
				fails(setup, "response %d comes from the cache, says the origin", number)
			}
		case "etag_validated":
			needs = "If-None-Match"
		case "lm_validated":
			needs = "If-Modified-Since"
		}
		if needs != "" && (s == nil || s.header.Get(needs) == "") {
			fails(setup, "request %d has no %s at the origin", number, needs)
		}
		t.checkSeenRequest(number, says, s)
		if s == nil {
			continue
		}
		for _, f := range s.response {
			if strings.EqualFold(f[0], "Date") {
				continue
			}
			var want []string
			for _, other := range s.response {
				if strings.EqualFold(other[0], f[0]) {
					want = append(want, other[1])
				}
			}
			if v, _ := answers[i].value(f[0]); v != strings.Join(want, ", ") {
				fails(true, "response %d: %s is %q, not %q", number, f[0], v, strings.Join(want, ", "))
			}
		}
		if says.ExpectedMethod != "" && s.method != says.ExpectedMethod {
			fails(says.isSetup("expected_method"), "request %d: method %s", number, s.method)
		}
	}
}

func (t *running) checkSeenRequest(number int, says *suiteRequest, s *seen) {
	for _, raw := range says.ExpectedRequest {
		setup := says.isSetup("expected_request_headers")
		var name string
		var f []string
		isName := json.Unmarshal(raw, &name) == nil
		if !isName {
			_ = json.Unmarshal(raw, &f)
			name = f[0]
		}
		if s == nil {
			fails(false, "request %d was not sent to the origin", number)
		}
		v := strings.Join(s.header.Values(name), ", ")
		if isName && v == "" || !isName && v != f[1] {
			fails(setup, "request %d: %s is %q at the origin", number, name, v)
		}
	}
	for _, raw := range says.ExpectedRequestAbsent {
		var name string
		if json.Unmarshal(raw, &name) == nil && s != nil && s.header.Get(name) != "" {
			fails(says.isSetup("expected_request_headers_missing"), "request %d has %s", number, name)
		}
	}
}

// suites reads http-tests/cache-tests, whose data SUNDRY_CACHE_TESTS names.
func suites(t *testing.T) []suite {
	t.Helper()
	dir := os.Getenv("SUNDRY_CACHE_TESTS")
	if dir == "" {
		t.Skip("SUNDRY_CACHE_TESTS does not name a directory with tests.json of http-tests/cache-tests")
	}
	b, err := os.ReadFile(filepath.Join(dir, "tests.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []suite
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestHTTPCacheSuite holds an instance by itself to the suite, two that share Redis and take turns request by request, and
// two whose memory holds next to nothing, so that all comes from Redis.
func TestHTTPCacheSuite(t *testing.T) {
	for name, row := range map[string]struct {
		instances int
		memory    int64
		redis     bool
	}{"alone": {1, 64 << 20, false}, "in turns": {2, 64 << 20, true}, "from Redis": {2, 1, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, origin := suites(t), startSuiteOrigin(t)
			target, _ := url.Parse("http://" + origin.listener.Addr().String())
			client := &suiteClient{origin: origin, transport: &http.Transport{DisableCompression: true}}
			var shared string
			if row.redis {
				shared, client.pause = redistest.Start(t).URL(), 20*time.Millisecond
			}
			var instances []http.Handler
			for range row.instances {
				instances = append(instances, suiteInstance(t, target, row.memory, shared))
			}
			var turn atomic.Int64
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				instances[int(turn.Add(1))%len(instances)].ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			client.base = front.URL
			report(t, all, client.all(all))
		})
	}
}

// suiteInstance is one instance with the settings of an API that says nothing.
func suiteInstance(t *testing.T, target *url.URL, memory int64, shared string) http.Handler {
	t.Helper()
	rules := web.Rules{Targets: []string{"CDN-Cache-Control"}, HeuristicShare: 0.1, HeuristicMost: 24 * time.Hour, Languages: true}
	config := web.StoreConfig{Memory: memory, Variants: 50, Name: "suite"}
	if shared != "" {
		tier, err := far.Open(far.Config{URL: shared, Timeout: time.Second}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tier.Close(context.Background()) }) //nolint:usetesting // t's own has ended
		config.Far = tier
	}
	store, err := web.NewStore(config)
	if err != nil {
		t.Fatal(err)
	}
	if tier, ok := config.Far.(*far.Tier); ok {
		ctx, stop := context.WithCancel(context.Background()) //nolint:usetesting // ends before the tier
		var all sync.WaitGroup
		all.Go(func() { tier.Listen(ctx, store.Replaced, func(string) {}, func(bool) {}) })
		t.Cleanup(func() { stop(); all.Wait() })
	}
	origin := NewOrigin([]Target{{URL: target, Sent: target.Host}}, Timeouts{Connect: 3 * time.Second, Head: 30 * time.Second}, true, (&net.Dialer{}).DialContext)
	t.Cleanup(origin.Close)
	s := Settings{Name: "suite", Most: 8 << 20, Idle: time.Minute, Rules: rules}
	return New(s, origin, store, slog.New(slog.DiscardHandler), nil)
}

// all runs all tests but those of browsers, 25 at a time.
func (c *suiteClient) all(suites []suite) map[string]*verdict {
	results := map[string]*verdict{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, 25)
	only := os.Getenv("SUNDRY_CACHE_TEST")
	for _, s := range suites {
		for _, test := range s.Tests {
			if test.BrowserOnly || only != "" && test.ID != only {
				continue
			}
			places <- struct{}{}
			wg.Go(func() {
				defer func() { <-places }()
				v := c.run(test)
				mu.Lock()
				results[test.ID] = v
				mu.Unlock()
			})
		}
	}
	wg.Wait()
	return results
}

func report(t *testing.T, suites []suite, results map[string]*verdict) {
	byID := map[string]*suiteTest{}
	for _, s := range suites {
		for _, test := range s.Tests {
			byID[test.ID] = test
		}
	}
	var passes func(id string) bool
	passes = func(id string) bool {
		v, ran := results[id]
		if !ran || v != nil {
			return false
		}
		return !slices.ContainsFunc(byID[id].DependsOn, func(d string) bool { return !passes(d) })
	}
	count, passed := map[string]int{}, map[string]int{}
	var lines []string
	for id := range results {
		kind := byID[id].Kind
		if kind == "" {
			kind = "required"
		}
		count[kind]++
		if passes(id) {
			passed[kind]++
			continue
		}
		why := "depends on what is not passed"
		if v := results[id]; v != nil {
			why = v.why
			if v.setup {
				why = "setup: " + why
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s", kind, id, why))
	}
	sort.Strings(lines)
	t.Logf("required %d of %d, optimal %d of %d, checks yes %d of %d\n%s", passed["required"], count["required"], passed["optimal"], count["optimal"],
		passed["check"], count["check"], strings.Join(lines, "\n"))
	if passed["required"] != count["required"] || passed["optimal"] < count["optimal"]-1 {
		t.Error("not all is passed")
	}
}

package kinds

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func environment(t testing.TB) *upstreams.Environment {
	t.Helper()
	env := &upstreams.Environment{Transport: upstreams.NewTransport(), Secret: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler)}
	var err error
	if env.Metrics, err = upstreams.NewMetrics(prometheus.NewRegistry(), &env.Hosts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.CloseIdle)
	return env
}

// compile makes a source of YAML, which may have its file's defs.
func compile(t testing.TB, env *upstreams.Environment, text string, params ...string) *upstreams.Source {
	t.Helper()
	s, problems := tryCompile(t, env, text, params...)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	return s
}

func tryCompile(t testing.TB, env *upstreams.Environment, text string, params ...string) (*upstreams.Source, declare.Problems) {
	t.Helper()
	var spec SourceSpec
	if err := yaml.Load([]byte(text), &spec, yaml.WithKnownFields()); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var problems declare.Problems
	of := Endpoint{Name: "test", Params: params}
	if section, ok := spec.Sections["defs"]; ok { // of the file
		var defs declare.Defs
		declare.Decode(section.Node, &defs, &problems)
		of.Defs = jq.CompileDefs(defs, &problems)
		delete(spec.Sections, "defs")
	}
	return Compile(of, &spec, env, &problems), problems
}

func upstream(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func ask(t testing.TB, env *upstreams.Environment, s *upstreams.Source, params map[string]any) (upstreams.Answer, error) {
	t.Helper()
	return upstreams.NewChain("test", []*upstreams.Source{s}, true, env).Do(t.Context(), &upstreams.Call{Endpoint: "test", Params: params, Now: time.Unix(1_795_219_200, 0)}, false, nil)
}

func TestRequestIsRenderedByPosition(t *testing.T) {
	var got *http.Request
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) { got = r.Clone(context.Background()); fmt.Fprint(w, `{}`) })
	env := environment(t)
	env.Secret = func(name string) (string, bool) { return "s3cr&t", name == "TEST_KEY" }
	s := compile(t, env, `
name: one
secrets: {key: TEST_KEY}
vars: {day: '$now + 28800 | todate[:10]', twice: '$params.n * 2'}
http:
  url: `+url+`/a/{text}/{day}.json
  query: {q: "{text}", fixed: "a b,c", n: "{twice}", key: "{key}", none: "{gone}"}
  headers: {X-Text: "<{text}>"}
`, "text", "n", "gone")
	var shown []string
	watch := func(a upstreams.Attempt) {
		for _, st := range a.Stages {
			shown = append(shown, fmt.Sprint(st.Detail))
		}
	}
	call := &upstreams.Call{Params: map[string]any{"text": "../x?y=1&z\r\nEvil: 1", "n": 21, "gone": nil}, Now: time.Unix(1_795_219_200, 0)}
	if _, err := s.Probe(t.Context(), call, watch); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(shown, "\n"); strings.Contains(all, "s3cr") || !strings.Contains(all, "key=***") {
		t.Errorf("what is shown of the attempt: %s", all)
	}
	if got.URL.Path != "/a/../x?y=1&z\r\nEvil: 1/2026-11-21.json" || strings.Count(got.URL.EscapedPath(), "/") != 3 {
		t.Errorf("path %q", got.URL.EscapedPath())
	}
	want := map[string][]string{"q": {"../x?y=1&z\r\nEvil: 1"}, "fixed": {"a b,c"}, "n": {"42"}, "key": {"s3cr&t"}, "none": {""}}
	if diff := cmp.Diff(want, map[string][]string(got.URL.Query())); diff != "" {
		t.Error(diff)
	}
	if got.Header.Get("X-Text") != "<../x?y=1&zEvil: 1>" || got.Header.Get("Evil") != "" {
		t.Errorf("headers %v", got.Header)
	}
	if !strings.Contains(got.UserAgent(), "Sundry") || got.Header.Get("Cookie") != "" {
		t.Errorf("user agent %q", got.UserAgent())
	}
}

func TestVerdicts(t *testing.T) {
	rows := []struct {
		name   string
		status int
		body   string
		judge  string
		want   upstreams.ErrorKind
		ok     bool
	}{
		{"good", 200, `{"a":1}`, "", 0, true},
		{"created", 201, `{}`, "", 0, true},
		{"not found", 404, `gone`, "", upstreams.Unavailable, false},
		{"gone", 410, ``, "", upstreams.Unavailable, false},
		{"not found, which is an answer here", 404, `<html>`, `[{status: [404, 410], is: negative}]`, upstreams.Negative, false},
		{"not found, which is not the host's fault", 404, `<html>`, `[{status: [404], is: skipped}]`, upstreams.Skipped, false},
		{"too many", 429, ``, "", upstreams.Limited, false},
		{"timeout status", 408, ``, "", upstreams.Unavailable, false},
		{"forbidden", 403, `<html>`, "", upstreams.Unavailable, false},
		{"server error", 500, `{}`, "", upstreams.Unavailable, false},
		{"teapot", 418, ``, "", upstreams.Malformed, false},
		{"login page", 200, `<html>`, "", upstreams.Malformed, false},
		{"cut JSON", 200, `{"a":`, "", upstreams.Malformed, false},
		{"two values", 200, `{} {}`, "", upstreams.Malformed, false},
		{"empty", 200, ``, "", upstreams.Malformed, false},
		{"error inside", 200, `{"code":500}`, `[{if: .code != 200, is: unavailable}]`, upstreams.Unavailable, false},
		{"no inside", 200, `{"data":null}`, `[{if: .data == null, is: negative}]`, upstreams.Negative, false},
		{"limited inside", 200, `{"m":"limit"}`, `[{if: '.m | test("limit")', is: limited}]`, upstreams.Limited, false},
		{"first rule wins", 200, `{"a":1}`, `[{if: .a == 1, is: success}, {if: .a == 1, is: malformed}]`, 0, true},
		{"status rule", 404, `{"a":1}`, `[{status: [404], if: .a == 1, is: success}]`, 0, true},
		{"condition on a strange shape does not hold", 200, `[1]`, `[{if: .code.x == 1, is: negative}]`, 0, true},
		{"a condition is about successes", 429, `{"code":1}`, `[{if: .code != 200, is: malformed}]`, upstreams.Limited, false},
		{"unless it names the status", 429, `{"code":1}`, `[{status: [429], if: .code == 1, is: negative}]`, upstreams.Negative, false},
		{"condition needs a body", 404, `<html>`, `[{if: 'true', is: success}]`, upstreams.Unavailable, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(r.status); fmt.Fprint(w, r.body) })
			env := environment(t)
			text := "name: one\nhttp: {url: " + url + "/}\n"
			if r.judge != "" {
				text += "judge: " + r.judge + "\n"
			}
			s := compile(t, env, text)
			_, err := s.Probe(t.Context(), &upstreams.Call{}, nil)
			if r.ok != (err == nil) || err != nil && upstreams.KindOf(err) != r.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHostileAnswers(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 30<<20))
	_ = z.Close()
	rows := map[string]struct {
		want upstreams.ErrorKind
		h    http.HandlerFunc
	}{
		"30 MB": {upstreams.Malformed, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("x"), 30<<20)) }},
		"gzip bomb": {upstreams.Malformed, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}},
		"endless drip": {upstreams.Timeout, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				select {
				case <-time.After(5 * time.Millisecond):
				case <-r.Context().Done():
				}
			}
		}},
		"hangs": {upstreams.Timeout, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		"cut": {upstreams.Unavailable, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"a":`)
		}},
		"drops": {upstreams.Unavailable, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"redirects inside": {upstreams.Malformed, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		}},
		"redirects round": {upstreams.Malformed, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) }},
		"not UTF-8":       {upstreams.Malformed, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{\"a\":\"\xff\"}")) }},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(r.h)
			srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			srv.Start()
			defer srv.Close()
			env := environment(t)
			timeout := "20s" // far beyond what a busy machine needs
			if r.want == upstreams.Timeout {
				timeout = "300ms"
			}
			s := compile(t, env, "name: one\ntimeout: "+timeout+"\nhttp: {url: "+srv.URL+"/, max_kib: 1024}\n")
			start := time.Now()
			_, err := s.Probe(t.Context(), &upstreams.Call{}, nil)
			if err == nil || upstreams.KindOf(err) != r.want || time.Since(start) > 15*time.Second {
				t.Errorf("%v after %v, want %v", err, time.Since(start), r.want)
			}
			if strings.Contains(err.Error(), srv.URL) {
				t.Errorf("the error tells the address: %v", err)
			}
		})
	}
}

func TestDecoding(t *testing.T) {
	gbk := []byte{'{', '"', 'a', '"', ':', '"', 0xd6, 0xd0, '"', '}'}
	for name, r := range map[string]struct{ body, options, want string }{
		"gbk":             {string(gbk), "charset: gbk", `{"a":"中"}`},
		"utf-8 after all": {`{"a":"中"}`, "charset: gbk", `{"a":"中"}`},
		"byte order mark": {"\xef\xbb\xbf" + `{"a":1}`, "", `{"a":1}`},
		"jsonp":           {`/**/cb1({"a":"});"});more()`, "decode: jsonp", `{"a":"});"}`},
		"script":          {"\n\nvar x = [1, 2];", "decode: jsonp", `[1,2]`},
		"big number":      {`{"a":12345678901234567890}`, "", `{"a":12345678901234567890}`},
		"text":            {"plain", "decode: text", `"plain"`},
	} {
		url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, r.body) })
		env := environment(t)
		options := ""
		if r.options != "" {
			options = ", " + r.options
		}
		a, err := ask(t, env, compile(t, env, "name: one\nhttp: {url: "+url+"/"+options+"}\n"), nil)
		got, _ := json.Marshal(a.Data)
		if err != nil || string(got) != r.want {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
}

const png = "\x89PNG\r\n\x1a\n0000"

func TestPictures(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, png) })
	mux.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "<html>")
	})
	mux.HandleFunc("/svg", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg"/>`)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.2:1/x", http.StatusFound)
	})
	mux.HandleFunc("/data", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"url":%q}`, r.URL.Query().Get("u")) })
	url := upstream(t, mux.ServeHTTP)
	host := strings.TrimPrefix(url, "http://")
	env := environment(t)
	s := compile(t, env, `
name: one
http: {url: `+url+`/data, query: {u: "{u}"}}
picture: {url: .url, hosts: ["`+host+`"], max_kib: 64}
`, "u")
	a, err := ask(t, env, s, map[string]any{"u": url + "/good"})
	if err != nil || a.Blob == nil || a.Blob.Type != "image/png" || string(a.Blob.Bytes) != png {
		t.Fatalf("%+v %v", a, err)
	}
	for _, bad := range []string{url + "/html", url + "/svg", url + "/away", "http://127.0.0.2:1/x", "file:///etc/passwd", "//x", "", "http://u:p@" + host + "/good", "http://169.254.169.254/"} {
		if _, err := ask(t, env, s, map[string]any{"u": bad}); err == nil {
			t.Errorf("%q was fetched as a picture", bad)
		}
	}
}

func TestRetryHasABudget(t *testing.T) {
	var calls atomic.Int64
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, `{}`)
	})
	env := environment(t)
	env.Hosts.Config.Failures = 1000
	s := compile(t, env, "name: one\nretry: 1\nhttp: {url: "+url+"/}\n")
	if _, err := ask(t, env, s, nil); err != nil {
		t.Fatalf("one bad answer was not tried again: %v", err)
	}
	calls.Store(0)
	failed := 0
	for range 30 {
		if _, err := ask(t, env, s, nil); err != nil {
			failed++
		}
	}
	if failed < 5 {
		t.Errorf("%d of 30 failed: the retries have no budget", failed)
	}
}

func TestDefiniteAnswersAreNotRetried(t *testing.T) {
	var calls atomic.Int64
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); w.WriteHeader(http.StatusNotFound) })
	env := environment(t)
	for _, text := range []string{"", "judge: [{status: [404], is: negative}]\n"} {
		calls.Store(0)
		if _, err := ask(t, env, compile(t, env, "name: one\nretry: 2\nhttp: {url: "+url+"/}\n"+text), nil); err == nil || calls.Load() != 1 {
			t.Errorf("%s: %v after %d calls", text, err, calls.Load())
		}
	}
}

func TestChain(t *testing.T) {
	type step struct {
		status, wait int
		more         string
	}
	// no is a status that the source declares to be an answer.
	no := func(more string) step { return step{404, 0, "judge: [{status: [404], is: negative}]\n" + more} }
	rows := []struct {
		name  string
		steps []step
		want  string
	}{
		{"first", []step{{status: 200}, {status: 200}}, "source 0"},
		{"failover", []step{{status: 500}, {status: 200}}, "source 1"},
		{"a dead path leads on", []step{{status: 404}, {status: 200}}, "source 1"},
		{"dead paths are no answer", []step{{status: 404}, {status: 410}}, "unavailable"},
		{"a no ends it", []step{no(""), {status: 200}}, "negative"},
		{"a no that leads on", []step{no("negative: next\n"), {status: 200}}, "source 1"},
		{"all say no", []step{no("negative: next\n"), no("negative: next\n")}, "negative"},
		{"no and unavailable is not a no", []step{no("negative: next\n"), {status: 500}}, "unavailable"},
		{"unless that one is optional", []step{no("negative: next\n"), {status: 500, more: "optional: true\n"}}, "negative"},
		{"or late and optional", []step{no("negative: next\n"), {status: 200, wait: 1, more: "optional: true\n"}}, "negative"},
		{"the optional alone say nothing", []step{{status: 500}, {status: 500, more: "optional: true\n"}}, "unavailable"},
		{"an optional one answers", []step{no("negative: next\n"), {status: 200, more: "optional: true\n"}}, "source 1"},
		{"all late", []step{{status: 200, wait: 1}, {status: 200, wait: 1}}, "timeout"},
		{"late and unavailable", []step{{status: 200, wait: 1}, {status: 500}}, "unavailable"},
		{"malformed leads on", []step{{status: 418}, {status: 200}}, "source 1"},
		{"not the host's fault", []step{{status: 404, more: "judge: [{status: [404], is: skipped}]\n"}, {status: 200}}, "source 1"},
		{"last resort", []step{{status: 500}, {status: 200, more: "last_resort: true\n"}}, "source 1, a last resort"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			env := environment(t)
			var sources []*upstreams.Source
			for i, st := range r.steps {
				url := upstream(t, func(w http.ResponseWriter, req *http.Request) {
					if st.wait > 0 {
						<-req.Context().Done()
						return
					}
					w.WriteHeader(st.status)
					fmt.Fprintf(w, `"source %d"`, i)
				})
				timeout := "20s"
				if st.wait > 0 {
					timeout = "100ms"
				}
				text := fmt.Sprintf("name: s%d\ntimeout: %s\nhttp: {url: %s/}\n", i, timeout, url)
				sources = append(sources, compile(t, env, text+st.more))
			}
			var seen []string
			a, err := upstreams.NewChain("test", sources, true, env).Do(t.Context(), &upstreams.Call{}, false, func(at upstreams.Attempt) { seen = append(seen, at.Source+" "+at.Result) })
			got := fmt.Sprint(a.Data)
			if a.LastResort {
				got += ", a last resort"
			}
			if err != nil {
				got = upstreams.KindOf(err).String()
			}
			if got != r.want {
				t.Errorf("got %s after %v, want %s", got, seen, r.want)
			}
		})
	}
}

func TestTotalDeadlineEndsTheChain(t *testing.T) {
	env := environment(t)
	var calls atomic.Int64
	hang := func(_ http.ResponseWriter, r *http.Request) { calls.Add(1); <-r.Context().Done() }
	var sources []*upstreams.Source
	for i := range 5 {
		sources = append(sources, compile(t, env, fmt.Sprintf("name: s%d\ntimeout: 2s\nhttp: {url: %s/}\n", i, upstream(t, hang))))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := upstreams.NewChain("test", sources, true, env).Do(ctx, &upstreams.Call{}, false, nil)
	if upstreams.KindOf(err) != upstreams.Timeout || calls.Load() != 5 || time.Since(start) > time.Second {
		t.Errorf("%v after %d calls and %v, want a try for each source", err, calls.Load(), time.Since(start))
	}
}

func TestSourcesOfOurOwnAnswerWhenTheNetworkUsedUpTheTime(t *testing.T) {
	env := environment(t)
	hang := upstream(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	var sources []*upstreams.Source
	for i := range 3 {
		sources = append(sources, compile(t, env, fmt.Sprintf("name: s%d\ntimeout: 5s\nhttp: {url: %s/}\n", i, hang)))
	}
	sources = append(sources, compile(t, env, "name: own\ncomputed: {}\nmap: '\"own\"'\n"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	a, err := upstreams.NewChain("test", sources, true, env).Do(ctx, &upstreams.Call{}, false, nil)
	if err != nil || a.Data != "own" || ctx.Err() != nil {
		t.Errorf("%v %v %v", a.Data, err, ctx.Err())
	}
}

func TestBreakerCounts(t *testing.T) {
	status := atomic.Int64{}
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if status.Load() == 0 {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(int(status.Load()))
	})
	env := environment(t)
	env.Hosts.Config.Open = 100 * time.Millisecond
	s := compile(t, env, "name: one\ntimeout: 2s\nhttp: {url: "+url+"/}\njudge: [{status: [404], is: negative}]\n")
	status.Store(404)
	for range 20 {
		_, _ = s.Probe(t.Context(), &upstreams.Call{}, nil)
	}
	status.Store(0)
	for range 20 { // callers who leave
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		_, _ = s.Probe(ctx, &upstreams.Call{}, nil)
	}
	if s.Kind.Host.State() != "closed" {
		t.Fatalf("negatives or callers who left have opened the breaker: %s", s.Kind.Host.State())
	}
	status.Store(500)
	for range 5 {
		_, _ = s.Probe(t.Context(), &upstreams.Call{}, nil)
	}
	if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) != upstreams.Rejected || s.Kind.Host.State() != "open" {
		t.Fatalf("%v, %s", err, s.Kind.Host.State())
	}
	status.Store(404)
	deadline := time.Now().Add(5 * time.Second)
	for s.Kind.Host.State() != "closed" && time.Now().Before(deadline) {
		_, _ = s.Probe(t.Context(), &upstreams.Call{}, nil)
		time.Sleep(5 * time.Millisecond)
	}
	if s.Kind.Host.State() != "closed" {
		t.Errorf("the breaker did not heal: %s", s.Kind.Host.State())
	}
	seen := host.NewCollector(&env.Hosts)
	if n := testutil.CollectAndCount(seen, "sundry_upstream_breaker_state"); n != 3 {
		t.Errorf("%d series for one host, want one per state", n)
	}
	if n := s.Kind.Host.Openings(); n < 1 {
		t.Errorf("the breaker opened %d times", n)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	release := make(chan struct{})
	var running, most atomic.Int64
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-release
		running.Add(-1)
		fmt.Fprint(w, `{}`)
	})
	env := environment(t)
	env.Hosts.Config.Concurrent = 2
	s := compile(t, env, "name: one\nhttp: {url: "+url+"/}\n")
	results := make(chan error, 10)
	for range 10 {
		go func() { _, err := s.Probe(context.Background(), &upstreams.Call{}, nil); results <- err }()
	}
	rejected := 0
	for range 8 {
		if upstreams.KindOf(<-results) == upstreams.Busy {
			rejected++
		}
	}
	close(release)
	<-results
	<-results
	if rejected != 8 || most.Load() != 2 {
		t.Errorf("%d rejected, %d at once", rejected, most.Load())
	}
}

func TestCompileReportsMistakesWithLines(t *testing.T) {
	for text, want := range map[string]string{
		"name: x": "1: source \"x\": it has no kind; expected one of http, minecraft, qrcode, geoip, embedded, computed",
		"name: x\ncomputed: {}\nqrcode: {as: png}":                            "1: source \"x\": expected the section of one kind, got qrcode, computed",
		"name: x\nhttp: {url: example.org}":                                   "2: url: expected an http or https URL with a literal host and without a query, for example https://api.example.org/v1/{id}, got \"example.org\"",
		"name: x\nhttp: {url: 'https://{host}/x'}":                            "2: placeholder {host}: no parameter, var or secret of that name",
		"name: x\nhttp: {url: 'https://a.org/?q=1'}":                          "2: url:",
		"name: x\nhttp:\n  url: https://a.org/\n  query: {q: '{nope}'}":       "4: placeholder {nope}",
		"name: x\nhttp: {url: 'https://a.org/', decode: xml}":                 "2: decode: expected json, jsonp, script, text or image, got \"xml\"",
		"name: x\nhttp: {url: 'https://a.org/', charset: latin1}":             "2: charset: expected utf-8, gbk, gb18030 or big5, got \"latin1\"",
		"name: x\nhttp: {url: 'https://a.org/', hosts: ['*']}":                "2: hosts: expected a name such as img.example.org or *.example.org, got \"*\"",
		"name: x\nhttp: {url: 'https://a.org/', redirects: some}":             "2: redirects: expected follow or none, got \"some\"",
		"name: x\nhttp: {url: 'https://a.org/', query: {a: b}, raw_query: c}": "2: raw_query and query: expected only one of them",
		"name: x\nhttp: {url: 'https://a.org/', raw_query: '{d}'}":            "2: placeholder {d}",
		"name: x\ncomputed: {}\nmap: '.a |'":                                  "3: jq: unexpected EOF",
		"name: x\ncomputed: {}\nmap: |\n  .a\n  | nofunc":                     "4: jq: function not defined: nofunc/0",
		"name: x\ncomputed: {}\nmap: |\n  .a\n  | )":                          "5: jq: unexpected token",
		"name: x\ncomputed: {}\njudge: [{is: fine, if: .a}]":                  "3: is: \"fine\" is not a verdict",
		"name: x\ncomputed: {}\njudge: [{is: negative}]":                      "3: judge rule without a condition",
		"name: x\ncomputed: {}\nretry: 9":                                     "1: source \"x\": retry: expected 0 to 2, got 9",
		"name: x\ncomputed: {}\nnegative: maybe":                              "1: source \"x\": negative: expected stop or next, got \"maybe\"",
		"name: x\ncomputed: {}\npicture: {url: .u}":                           "3: picture: expected the hosts that it may come from",
		"name: x\nqrcode: {as: gif}":                                          "1: qrcode: as: expected png or svg, got \"gif\"",
		"name: x\ngeoip: {use: magic}":                                        "1: geoip: use: expected scope, file or country, got \"magic\"",
		"computed: {}":                                                        "0: source without a name",
	} {
		_, problems := tryCompile(t, environment(t), text)
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Msg))
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, want) {
			t.Errorf("%q:\n%s\nwant %s", text, all, want)
		}
	}
}

func TestSourcesThatAreLeftOut(t *testing.T) {
	env := environment(t)
	for _, text := range []string{"name: x\nsecrets: {k: NOT_SET}\ncomputed: {}", "name: x\ngeoip: {use: file}"} {
		c := upstreams.NewChain("test", []*upstreams.Source{compile(t, env, text)}, true, env)
		if len(c.Sources) != 0 {
			t.Errorf("%q was not left out", text)
		}
		if strings.Contains(text, "NOT_SET") && (len(c.LeftOut) != 1 || c.LeftOut[0].Missing != "NOT_SET") {
			t.Errorf("%q: nobody tells what is missing", text)
		}
	}
}

func TestJQ(t *testing.T) {
	run := func(src string, input any) (any, error) {
		var problems declare.Problems
		q := jq.Compile(&declare.Expr{Source: src, Line: 1}, nil, &problems)
		if q == nil {
			return nil, fmt.Errorf("%v", problems)
		}
		return q.One(t.Context(), input, &jq.Env{Params: map[string]any{"n": 3}, Now: time.Unix(5, 0), Status: 200})
	}
	for src, want := range map[string]any{
		".a": "x", "$params.n + 1": 4, "$now": 5, "$status": 200, "$vars | length": 0,
		`"http://a/b" | https`: "https://a/b", `"//a/b" | https`: "https://a/b", `null | https`: nil, `"<a href=\"x\">a &amp; b</a>\n  c &#39;<b>d</b>&#39; <a hr" | html_text`: "a & b c 'd'", `3 | html_text`: 3, `"1 < 2" | html_text`: "1", `"https://a" | https`: "https://a",
	} {
		if got, err := run(src, map[string]any{"a": "x"}); err != nil || got != want {
			t.Errorf("%s: %v %v", src, got, err)
		}
	}
	for _, src := range []string{"empty", "1, 2", `error("x")`, ".a.b.c", "env.HOME", "input", "def f: f; f"} {
		if got, err := run(src, map[string]any{"a": "x"}); err == nil && got != nil {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func BenchmarkMap(b *testing.B) {
	env := environment(b)
	s := compile(b, env, "name: x\ncomputed: {}\nmap: '[.items[] | {id, title: .t, ok: (.n > 3)}]'")
	var items []any
	for i := range 50 {
		items = append(items, map[string]any{"id": i, "t": "title", "n": i % 7, "other": "dropped"})
	}
	input := map[string]any{"items": items}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Map.One(b.Context(), input, &jq.Env{}); err != nil {
			b.Fatal(err)
		}
	}
}

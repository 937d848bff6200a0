package kinds

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams"
	"sundry/upstreams/lib/costtest"
	"sundry/upstreams/lib/redact"
)

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
	watch := func(a upstreams.AttemptReport) {
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
	want := map[string][]string{"q": {"../x?y=1&z\r\nEvil: 1"}, "fixed": {"a b,c"}, "n": {"42"}, "key": {"s3cr&t"}}
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
		"gbk":               {string(gbk), "charset: gbk", `{"a":"中"}`},
		"gb18030 as gbk":    {"{\"a\":\"\x81\x39\xee\x39\"}", "charset: gbk", `{"a":"㐀"}`},
		"gb18030 as gb2312": {"{\"a\":\"\x81\x39\xee\x39\"}", "charset: gb2312", `{"a":"㐀"}`},
		"utf-8 after all":   {`{"a":"中"}`, "charset: gbk", `{"a":"中"}`},
		"byte order mark":   {"\xef\xbb\xbf" + `{"a":1}`, "", `{"a":1}`},
		"jsonp":             {`/**/cb1({"a":"});"});more()`, "decode: jsonp", `{"a":"});"}`},
		"script":            {"\n\nvar x = [1, 2];", "decode: jsonp", `[1,2]`},
		"big number":        {`{"a":12345678901234567890}`, "", `{"a":12345678901234567890}`},
		"text":              {"plain", "decode: text", `"plain"`},
		"cut jsonp":         {`cb1({"a":`, "decode: jsonp", ""},
	} {
		url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, r.body) })
		env := environment(t)
		options := ""
		if r.options != "" {
			options = ", " + r.options
		}
		a, err := ask(t, env, compile(t, env, "name: one\nhttp: {url: "+url+"/"+options+"}\n"), nil)
		got, _ := json.Marshal(a.Data)
		if failed := r.want == ""; failed != (err != nil) || !failed && string(got) != r.want {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
}

// A whole picture of one pixel.
const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac``\xf8\xff\x1f\x00\x03\x02\x01\xff9)\x19\xbe\x00\x00\x00\x00IEND\xaeB`\x82"

func TestPictures(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, png) })
	mux.HandleFunc("/html", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprint(w, "<html>")
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, png[:len(png)-1]) })
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
	for _, bad := range []string{url + "/html", url + "/cut", url + "/svg", url + "/away", "http://127.0.0.2:1/x", "file:///etc/passwd", "//x", "", "http://u:p@" + host + "/good", "http://169.254.169.254/"} {
		if _, err := ask(t, env, s, map[string]any{"u": bad}); err == nil {
			t.Errorf("%q was fetched as a picture", bad)
		}
	}
}

func TestPosts(t *testing.T) {
	url := upstream(t, (&steps{}).ServeHTTP)
	env := environment(t)
	env.Secret = func(name string) (string, bool) { return "s3cr&t", name == "TEST_KEY" }
	sum := redact.Hashes("1&中s3cr&t")[1]
	for text, want := range map[string]string{
		`form: {b: "x y", a: "{n}&{sig}"}`:    "application/x-www-form-urlencoded a=1%26%E4%B8%AD%26" + sum + "&b=x+y",
		`json: '{pid: 3, of: $params.n}'`:     `application/json {"of":"1&中","pid":3}`,
		`json: '{sig: $vars.sig, list: [1]}'`: `application/json {"list":[1],"sig":"` + sum + `"}`,
	} {
		s := compile(t, env, `
name: one
secrets: {key: TEST_KEY}
vars: {sig: '($params.n + $secrets.key) | md5'}
http:
  url: `+url+`/call
  `+text+`
`, "n")
		a, err := ask(t, env, s, map[string]any{"n": "1&中"})
		if err != nil {
			t.Fatal(err)
		}
		got := a.Data.(map[string]any)
		if sent := fmt.Sprint(got["type"], " ", got["sent"]); got["method"] != "POST" || sent != want {
			t.Errorf("%s: %s %s\nwant %s", text, got["method"], sent, want)
		}
	}
}

func TestHeadersAreSeenByPrograms(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Verify", r.URL.Query().Get("v"))
		fmt.Fprint(w, `{}`)
	})
	env := environment(t)
	text := `
name: one
http: {url: ` + url + `/, query: {v: "{n}"}}
judge: [{if: '$headers["x-verify"] == "yes"', is: limited}]
map: '{said: $headers["x-verify"], nothing: $headers["x-other"]}'
`
	s := compile(t, env, text, "n")
	if _, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"n": "yes"}}, nil); upstreams.KindOf(err) != upstreams.Limited {
		t.Errorf("%v, want limited", err)
	}
	a, err := ask(t, env, s, map[string]any{"n": "no"})
	if err != nil || fmt.Sprint(a.Data) != "map[nothing:<nil> said:no]" {
		t.Errorf("%v %v", a.Data, err)
	}
}

// TestUnfollowedRedirectsAreReplies: their bodies are not decoded.
func TestUnfollowedRedirectsAreReplies(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	env := environment(t)
	s := compile(t, env, `
name: one
http: {url: `+url+`/, query: {to: "{n}"}, redirects: none, decode: script, marker: window.STATE}
judge:
  - {status: [302], if: '$location | test("^/404")', is: negative}
  - {status: [302], if: '. == null and ($location | test("captcha"))', is: limited}
`, "n")
	for to, want := range map[string]upstreams.ErrorKind{"/404?x=1": upstreams.Negative, "/login/captcha": upstreams.Limited, "/": upstreams.Malformed} {
		if _, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"n": to}}, nil); upstreams.KindOf(err) != want {
			t.Errorf("%s: %v, want %s", to, err, want)
		}
	}
}

// Sixty-four concurrent replies that are small on the wire and large in memory stay
// within the budget.
func TestHostileRepliesShareABudget(t *testing.T) {
	hostile := "[" + strings.Repeat("[],", 680_000) + "[]]"
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, hostile) })
	env := environment(t)
	s := compile(t, env, "name: one\ntimeout: 60s\nhttp: {url: "+url+"/, max_kib: 8192}\nmap: sort_by(.) | length\n")
	peak := costtest.PeakHeap(func() {
		var calls sync.WaitGroup
		for range 64 {
			calls.Go(func() { _, _ = s.Probe(t.Context(), &upstreams.Call{}, nil) })
		}
		calls.Wait()
	})
	if peak>>20 > 400 {
		t.Errorf("%d MiB at the peak", peak>>20)
	}
	if a, err := s.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) == upstreams.Busy {
		t.Errorf("the budget was not given back: %v %v", a.Data, err)
	}
}

// TestSelectsFromPages: links are resolved against the address that a redirect led to.
func TestSelectsFromPages(t *testing.T) {
	base := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new/page", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>A page</title><ul><li><a href="one">1</a><li><a href="/two">2</a></ul>`)
	})
	env := environment(t)
	s := compile(t, env, "name: page\nhttp: {url: '"+base+"/old', decode: html, select: {title: title, links: {each: ul > li > a, attr: href, link: true}}}\njudge: [{if: .title == null, is: malformed}]\n")
	a, err := ask(t, env, s, nil)
	want := map[string]any{"title": "A page", "links": []any{base + "/new/one", base + "/two"}}
	if diff := cmp.Diff(want, a.Data); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestReadsFeeds(t *testing.T) {
	base := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml")
		_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>News</title><item><title>One</title><link>/1</link></item></channel></rss>`)
	})
	env := environment(t)
	s := compile(t, env, "name: news\nhttp: {url: '"+base+"/rss', decode: feed}\nmap: '{title, items: [.items[] | {title, url}]}'\n")
	a, err := ask(t, env, s, nil)
	want := map[string]any{"title": "News", "items": []any{map[string]any{"title": "One", "url": base + "/1"}}}
	if diff := cmp.Diff(want, a.Data); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

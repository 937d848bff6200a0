package mcp

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"sundry/cache/clients"
	"sundry/metrics/panics"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog/catalogtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const joke = `version: 1
name: joke
group: {name: fun, en: Fun, zh: 趣味}
summary: {en: A joke., zh: 笑话}
params:
  - {name: n, type: int, min: 1, max: 9, example: "7"}
  - {name: text, type: string, example: abc}
  - {name: type, role: form, example: text}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}, {name: text, text: .joke}]
sources: [{name: made, computed: {}, map: '{joke: "ha"}'}]
`

// newSet has the tools of a catalog with one file of the test's own; endpoints answer
// its calls.
func newSet(t testing.TB, endpoints http.HandlerFunc) *Set {
	t.Helper()
	c := catalogtest.Load(t, map[string]string{"joke": joke})
	return New(Config{
		API: apidoc.New(c, nil), BasePath: "/tools", Endpoints: endpoints, Client: func(*http.Request) clients.ID { return clients.Nobody }, Places: NewPlaces(64), Log: slog.New(slog.DiscardHandler),
		Admit: func(*http.Request) (time.Duration, bool) { return 0, true },
	})
}

// send sends a message as it is.
func send(s *Set, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Serve(w, r)
	return w
}

// callOf is a message that calls the tool of the test's file.
func callOf(arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"joke","arguments":` + arguments + `}}`
}

// TestRequestsOfCalls: a call is the request that its caller would have sent, without
// what belongs to the message.
func TestRequestsOfCalls(t *testing.T) {
	var got *http.Request
	s := newSet(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, `{"code":200,"message":"ok","data":{"joke":"ha"}}`)
	})
	send(s, callOf(`{"n":3.0,"text":"a&b=c 好"}`), "X-Forwarded-For", "192.0.2.1", "Cdn-Loop", "x", "User-Agent", "agent/1", "X-Request-Id", "abc",
		"If-None-Match", "*", "Accept-Encoding", "gzip", "Origin-Agent", "x", "Authorization", "Bearer x", "Cookie", "lang=zh")
	if got.Method != http.MethodGet || got.URL.Path != "/tools/api/joke" || got.RemoteAddr == "" || got.Context().Err() != nil {
		t.Errorf("%+v", got)
	}
	if q := got.URL.Query(); q.Get("n") != "3" || q.Get("text") != "a&b=c 好" || q.Get("type") != "json" || len(q) != 3 {
		t.Errorf("%v", q)
	}
	h := got.Header
	if h.Get("X-Forwarded-For") != "192.0.2.1" || h.Get("Cdn-Loop") != "x" || h.Get("User-Agent") != "agent/1" || h.Get("X-Request-Id") != "abc" || h.Get("Accept-Language") != "zh-CN" || len(h) != 6 {
		t.Errorf("%v", h)
	}
}

// TestValuesOfArguments: as queries have them.
func TestValuesOfArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: "a", `7`: "7", `7.0`: "7", `7.5`: "7.5", `1e3`: "1e3", `true`: "true", `null`: "", `""`: "", `[1]`: "[1]", `{"a":1}`: `{"a":1}`,
	} {
		if got := textOf(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// TestResultsOfAnswers: what becomes of each answer of an endpoint.
// TestAnAnswerHasTheIDOfItsMessage: for one with another id its sender would wait in vain.
func TestAnAnswerHasTheIDOfItsMessage(t *testing.T) {
	s := newSet(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"code":200,"data":{"joke":"ha"}}`)
	})
	for id, status := range map[string]int{
		`1`: 200, `-7`: 200, `"x"`: 200, `9007199254740991`: 200, `1.5`: 400, `9007199254740993`: 400, `-1795821473000000001`: 400, `123456789012345678901234567890`: 400,
	} {
		for _, rest := range []string{`"method":"tools/list"}`, `"method":"tools/call","params":{"name":"joke"}}`} {
			w := send(s, `{"jsonrpc":"2.0","id":`+id+`,`+rest)
			if w.Code != status || !strings.Contains(w.Body.String(), `"id":`+id+`,`) || (status == 400) != strings.Contains(w.Body.String(), `"code":-32600`) {
				t.Errorf("%s %s: %d %.90s", id, rest, w.Code, w.Body)
			}
		}
	}
}

func TestResultsOfAnswers(t *testing.T) {
	var answer http.HandlerFunc
	s := newSet(t, func(w http.ResponseWriter, r *http.Request) { answer(w, r) })
	with := func(status int, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, row := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"JSON":              {with(200, `{"code":200,"data":{"joke":"ha"}}`, "Content-Type", "application/json; charset=utf-8", "Age", "3"), `"structuredContent":{"data":{"joke":"ha"}}`},
		"JSON that is none": {with(200, `{`, "Content-Type", "application/json"), `"structuredContent":{"text":"{"}`},
		"text":              {with(200, "ha\n", "Content-Type", "text/plain; charset=utf-8"), `"content":[{"type":"text","text":"ha"}]`},
		"a PNG":             {with(200, "png", "Content-Type", "image/png"), `{"type":"image","mimeType":"image/png","data":"cG5n"}`},
		"an icon":           {with(200, "ico", "Content-Type", "image/x-icon"), `"mimeType":"image/x-icon","blob":"aWNv"`},
		"an SVG":            {with(200, "svg", "Content-Type", "image/svg+xml"), `"text":"svg"`},
		"a redirect":        {with(302, "", "Location", "https://example.org/a"), `{"type":"resource_link"`},
		"an error":          {with(502, `{"code":502,"message":"later","error":{}}`, "Sundry-Error", "upstream_unavailable", "Retry-After", "7", "X-Request-Id", "abc"), `{\"error\":{\"type\":\"upstream_unavailable\",\"message\":\"later\",\"retry_after\":7,\"request_id\":\"abc\"}}`},
		"an error as text":  {with(400, "wrong\n", "Sundry-Error", "invalid_parameter; parameter=n"), `{\"error\":{\"type\":\"invalid_parameter\",\"message\":\"wrong\",\"parameter\":\"n\"}}`},
		"nothing":           {func(http.ResponseWriter, *http.Request) {}, `{\"error\":{\"type\":\"internal\"`},
		"a panic":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, `{\"error\":{\"type\":\"internal\"`},
	} {
		answer = row.answer
		w := send(s, callOf(`{"n":1}`))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), row.want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestDataThatIsNotAsDescribed: it comes as text, because clients refuse structured
// content that is not as the schema says.
func TestDataThatIsNotAsDescribed(t *testing.T) {
	s := newSet(t, nil)
	texts, err := s.texts[0]()
	if err != nil {
		t.Fatal(err)
	}
	joke := texts.tools["joke"]
	joke.data = mustResolve(t, `{"type":"object","required":["joke"],"properties":{"joke":{"type":"string"}}}`)
	for body, want := range map[string]string{`{"data":{"joke":"ha"}}`: `{"data":{"joke":"ha"}}`, `{"data":{"joke":1}}`: "text", `{"data":{}}`: "text"} {
		got, _ := json.Marshal(joke.json([]byte(body)).StructuredContent)
		if want == "text" {
			quoted, _ := json.Marshal(object{"text": body})
			want = string(quoted)
		}
		if string(got) != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// FuzzMessages: whatever is sent is answered, by a request for an endpoint that there is
// or without one.
func FuzzMessages(f *testing.F) {
	asked := 0
	s := newSet(f, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/tools/api/joke" {
			panic(r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"code":200,"data":{"joke":"ha"}}`)
	})
	admitted := 0
	s.cfg.Admit = func(*http.Request) (time.Duration, bool) { admitted++; return 0, true }
	for _, seed := range []string{
		callOf(`{"n":1}`), callOf(`"x"`), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `[]`, `null`, `{"id":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{"name":"joke"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		asked, admitted = 0, 0
		w := send(s, body)
		if asked > 1 || asked+admitted > 1 || w.Code >= 500 {
			t.Errorf("%d requests, admitted %d times: %d %s", asked, admitted, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s", w.Body)
		}
	})
}

func mustResolve(t *testing.T, schema string) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// TestAPanicOfACallIsAnError, which is counted: nothing else recovers from it, because the
// protocol's library makes the call in a goroutine of its own.
func TestAPanicOfACallIsAnError(t *testing.T) {
	reg, s := prometheus.NewRegistry(), newSet(t, func(http.ResponseWriter, *http.Request) {})
	s.cfg.Panics = panics.New(reg, slog.New(slog.DiscardHandler))
	made, err := s.texts[i18n.Chinese]()
	if err != nil {
		t.Fatal(err)
	}
	made.tools["joke"].forms = nil // as no tool is
	got := send(s, callOf(`{}`)).Body.String()
	if !strings.Contains(got, `"code":-32603`) || strings.Contains(got, "index out of range") {
		t.Error(got)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families[0].GetMetric() {
		if n, task := m.GetCounter().GetValue(), m.GetLabel()[0].GetValue(); (n == 1) != (task == string(panics.Request)) {
			t.Errorf("%v panics of %s are counted", n, task)
		}
	}
}

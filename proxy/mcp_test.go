package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sundry/upstreams"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// withTools offers the endpoints of a front to agents.
func withTools(f *front, origins ...string) *front {
	f.t.Helper()
	settings := f.server.current.Load().settings.Settings
	settings.MCP = &MCP{Origins: origins}
	if err := f.server.Reload(f.server.Catalog(), settings); err != nil {
		f.t.Fatal(err)
	}
	return f
}

// agent is connected to a front as agents are.
func agent(f *front, headers ...string) *mcp.ClientSession {
	f.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(f.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: f.URL + f.server.cfg.BasePath + "/mcp", MaxRetries: -1, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: withHeaders{f.Client().Transport, headers}},
	}, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = session.Close() })
	return session
}

// withHeaders adds fields to requests.
type withHeaders struct {
	http.RoundTripper
	headers []string
}

func (t withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for i := 0; i+1 < len(t.headers); i += 2 {
		r.Header.Set(t.headers[i], t.headers[i+1])
	}
	return t.RoundTripper.RoundTrip(r)
}

// call calls a tool.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) *mcp.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return result
}

// textOf is the first text of a result.
func textOf(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			return text.Text
		}
	}
	t.Fatalf("no text in %+v", r.Content)
	return ""
}

// TestToolsOfAgents: every endpoint is a tool, whose schemas are sound.
func TestToolsOfAgents(t *testing.T) {
	t.Parallel()
	f := withTools(newFront(t, nil, replayed, withExchanges))
	listed, err := agent(f).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		for what, schema := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
			b, _ := json.Marshal(schema)
			var compiled jsonschema.Schema
			if err := json.Unmarshal(b, &compiled); err != nil {
				t.Fatalf("%s: %s: %v", tool.Name, what, err)
			}
			if _, err := compiled.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
				t.Errorf("%s: %s: %v", tool.Name, what, err)
			}
		}
		if tool.Title == "" || !strings.HasPrefix(tool.Description, tool.Title) || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%+v", tool)
		}
		here := slices.Contains([]string{"ipinfo", "qrcode", "sfz"}, tool.Name) // of the others, somebody else may be asked
		if *tool.Annotations.OpenWorldHint == here {
			t.Errorf("%s: openWorldHint is %v", tool.Name, !here)
		}
	}
	for _, e := range f.server.Catalog().Endpoints {
		if !slices.Contains(names, e.Name) {
			t.Errorf("%s is no tool", e.Name)
		}
	}
}

// TestDescriptionsForAgentsAgreeWithTheEnums: they name no value that is not offered, and
// none twice.
func TestDescriptionsForAgentsAgreeWithTheEnums(t *testing.T) {
	t.Parallel()
	f := withTools(newFront(t, nil, replayed, withExchanges))
	for _, language := range []string{"en", "zh-CN"} {
		listed, err := agent(f, "Accept-Language", language).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range listed.Tools {
			properties := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
			e, _ := f.server.Catalog().Get(tool.Name)
			for _, p := range e.Params {
				argument, _ := properties[p.Name].(map[string]any)
				about, _ := argument["description"].(string)
				offered, _ := argument["enum"].([]any)
				for _, value := range p.Spec.Enum {
					named := regexp.MustCompile(`(?i)(^|[^a-z])` + regexp.QuoteMeta(value) + `([^a-z]|$)`).MatchString(about)
					if argument != nil && named && !slices.Contains(offered, any(value)) {
						t.Errorf("%s.%s does not offer %s: %s", tool.Name, p.Name, value, about)
					}
					if strings.Contains(about, value+": "+value) || strings.Contains(about, value+"："+value) {
						t.Errorf("%s.%s names %s twice: %s", tool.Name, p.Name, value, about)
					}
				}
			}
		}
	}
}

// TestCallsOfAgents: each kind of answer arrives as what it is, and is that of other
// callers.
func TestCallsOfAgents(t *testing.T) {
	t.Parallel()
	f := withTools(newFront(t, nil, replayed, withExchanges))
	s := agent(f)

	digest := call(t, s, "60s", nil)
	data := digest.StructuredContent.(map[string]any)["data"].(map[string]any)
	if digest.IsError || len(data["news"].([]any)) == 0 || !strings.Contains(textOf(t, digest), `{"data":{"date":`) {
		t.Errorf("%+v", digest)
	}
	plain := call(t, s, "60s", map[string]any{"type": "text"})
	if !strings.HasPrefix(textOf(t, plain), "每天60秒") || plain.StructuredContent.(map[string]any)["text"] != textOf(t, plain) {
		t.Errorf("%+v", plain)
	}
	if status, _ := plain.Meta["sundry/cache-status"].(string); !strings.Contains(status, "hit; ") {
		t.Errorf("the second call is no hit: %v", plain.Meta)
	}
	drawn := call(t, s, "qrcode", map[string]any{"text": "https://example.org/", "size": 200})
	image, ok := drawn.Content[0].(*mcp.ImageContent)
	if !ok || image.MIMEType != "image/png" || !bytes.HasPrefix(image.Data, []byte("\x89PNG")) {
		t.Errorf("%+v", drawn.Content[0])
	}
	song := call(t, s, "music", map[string]any{"type": "url", "sort": "新歌榜"})
	if link, ok := song.Content[0].(*mcp.ResourceLink); !ok || !strings.HasPrefix(link.URI, "http") {
		t.Errorf("%+v", song.Content[0])
	}
}

// TestErrorsOfAgents: mistakes are results that say what is wrong.
func TestErrorsOfAgents(t *testing.T) {
	f := withTools(newFront(t, nil, replaying("avatar", "dwzrec", "kd", "wpcat")))
	s := agent(f)
	for name, row := range map[string]struct {
		tool      string
		arguments map[string]any
		want      []string
	}{
		"missing":      {"kd", nil, []string{`"type":"missing_parameter"`, `"parameter":"id"`, `"request_id":`}},
		"out of range": {"wpcat", map[string]any{"p": 0}, []string{`"type":"invalid_parameter"`, `"parameter":"p"`}},
		"another type": {"wpcat", map[string]any{"n": []int{1}}, []string{`"type":"invalid_parameter"`, `"parameter":"n"`}},
		"unknown":      {"wpcat", map[string]any{"page": 1}, []string{`"type":"invalid_parameter"`, `"parameter":"page"`, "n、p、type"}},
		"as text":      {"wpcat", map[string]any{"p": 0, "type": "text"}, []string{`"type":"invalid_parameter"`, `"parameter":"p"`}},
		"forbidden":    {"dwzrec", map[string]any{"url": "http://127.0.0.1/"}, []string{`"type":"forbidden_target"`}},
		"a picture":    {"avatar", map[string]any{"uid": "x", "type": "image"}, []string{`"type":"invalid_parameter"`, `"parameter":"uid"`}},
	} {
		result := call(t, s, row.tool, row.arguments)
		if !result.IsError {
			t.Errorf("%s: %+v", name, result)
		}
		for _, part := range row.want {
			if !strings.Contains(textOf(t, result), part) {
				t.Errorf("%s: %s lacks %s", name, textOf(t, result), part)
			}
		}
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); err == nil {
		t.Error("an unknown tool was called")
	}
}

// TestAgentsHitTheSameCache: a call is answered by what a request has fetched, and the
// other way round.
func TestAgentsHitTheSameCache(t *testing.T) {
	source := newFake(t, `{"v":"one"}`)
	f := withTools(newFront(t, map[string]string{"simple": simple("ttl: 1h", source)}))
	s := agent(f)
	f.get("/api/simple?id=7").want(t, 200)
	if text := textOf(t, call(t, s, "simple", map[string]any{"id": 7})); !strings.Contains(text, "one") {
		t.Error(text)
	}
	call(t, s, "simple", map[string]any{"id": 8})
	f.get("/api/simple?id=8").want(t, 200)
	if n := source.calls.Load(); n != 2 {
		t.Errorf("%d calls of the source, want 2", n)
	}
}

// TestAgentsAreLimited: calls count against the rate limit of their client, and so do
// other messages. A refused call says when to try again.
func TestAgentsAreLimited(t *testing.T) {
	source := newFake(t, `{"v":"one"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", source)}, trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Limits = Limits{Rate: 0.001, Burst: 6}
	})
	withTools(f)
	s := agent(f, "X-Forwarded-For", "192.0.2.1")
	var last *mcp.CallToolResult
	for range 7 {
		last = call(t, s, "simple", nil)
	}
	if text := textOf(t, last); !last.IsError || !strings.Contains(text, `"type":"rate_limited"`) || !strings.Contains(text, `"retry_after":`) {
		t.Errorf("%+v", text)
	}
	if _, err := s.ListTools(t.Context(), nil); err == nil {
		t.Error("the tools were listed all the same")
	}
	f.get("/api/simple", "X-Forwarded-For", "192.0.2.1").want(t, http.StatusTooManyRequests)
	f.get("/api/simple", "X-Forwarded-For", "192.0.2.2").want(t, http.StatusOK)
}

// post sends a message as it is.
func (f *front) post(body string, headers ...string) answer {
	f.t.Helper()
	return f.postTo(f.server.cfg.BasePath+"/mcp", body, headers...)
}

func (f *front) postTo(target, body string, headers ...string) answer {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.URL+target, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := f.Client().Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{resp, string(b)}
}

const listMessage = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestMessagesAsTheyAre: what does not come from a well-behaved client.
func TestMessagesAsTheyAre(t *testing.T) {
	f := withTools(newFront(t, nil, replaying("60s"), func(c *Config, _ *upstreams.Environment) { c.BasePath = "/tools" }), "https://agent.example.org")
	listed := f.post(listMessage)
	listed.want(t, 200, `"name":"60s"`)
	listed.header(t, "Cache-Control", "no-store")
	f.post(listMessage, "Accept", "application/json").want(t, 200, `"name":"60s"`)
	f.post(listMessage, "Origin", "http://rebound.example.com").want(t, 403, `"error":`)
	allowed := f.post(listMessage, "Origin", "https://agent.example.org")
	allowed.want(t, 200)
	allowed.header(t, "Access-Control-Allow-Origin", "https://agent.example.org")
	f.post(listMessage, "Content-Type", "text/plain").want(t, 415)
	f.post("["+listMessage+"]").want(t, 400, `"code":-32700`)
	f.post("null").want(t, 400)
	f.post("{").want(t, 400)
	f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"60s","arguments":"x"}}`).want(t, 200, `"isError":true`)
	f.post(`{"x":"`+strings.Repeat("x", 1<<20)+`"}`).want(t, 413)
	f.post(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`, "Mcp-Protocol-Version", "2026-07-28").want(t, 404, `"code":-32601`)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete} {
		a := f.do(t.Context(), method, "/tools/mcp")
		a.want(t, 405)
		a.header(t, "Allow", "POST")
	}
	f.do(t.Context(), http.MethodOptions, "/tools/mcp", "Origin", "https://agent.example.org").want(t, 204)
	f.do(t.Context(), http.MethodOptions, "/tools/mcp", "Origin", "https://other.example.org").want(t, 403)
	f.get("/mcp").want(t, 404)
}

// TestAgentsAreOfferedNothingByDefault: the path is like any that does not exist.
func TestAgentsAreOfferedNothingByDefault(t *testing.T) {
	f := newFront(t, nil, replaying("60s"))
	for _, a := range []answer{f.get("/mcp"), f.post(listMessage)} {
		a.want(t, 404, `"type":"not_found"`, "SUNDRY_MCP=true")
		if strings.Contains(a.body, "60s") {
			t.Errorf("it names an endpoint: %s", a.body)
		}
	}
}

// TestAgentsFindTheTools: /llms.txt and /docs name them where they are offered, after a reload too.
func TestAgentsFindTheTools(t *testing.T) {
	f := newFront(t, nil, replayed, func(c *Config, _ *upstreams.Environment) { c.BasePath = "/tools" })
	for _, page := range []string{"/tools/llms.txt", "/tools/docs"} {
		if a := f.get(page); strings.Contains(a.body, "/mcp") {
			t.Errorf("%s names tools that are not offered", page)
		}
	}
	withTools(f)
	f.get("/tools/docs").want(t, 200, "<code>/tools/mcp</code>", "Model Context Protocol")
	f.get("/tools/docs?lang=zh").want(t, 200, "<code>/tools/mcp</code>", "智能体")
	f.get("/tools/llms.txt").want(t, 200, "- [MCP](/tools/mcp): ")
}

// TestReloadChangesTheTools: they are those of the catalog in use.
func TestReloadChangesTheTools(t *testing.T) {
	t.Parallel()
	source := newFake(t, `{"v":"one"}`)
	f := withTools(newFront(t, nil, replayed))
	f.post(listMessage).want(t, 200)
	if a := f.post(listMessage); strings.Contains(a.body, `"simple"`) {
		t.Error(a.body)
	}
	f.load(map[string]string{"simple": simple("ttl: 1h", source)})
	f.post(listMessage).want(t, 200, `"simple"`)
}

// TestAgentsThatLeave: a call whose client has left is given up, and so is its fill.
func TestAgentsThatLeave(t *testing.T) {
	t.Parallel()
	longtest.NotShort(t, "it takes a second")
	source := newFake(t, `{"v":"one"}`)
	source.takes.Store(int64(time.Hour))
	f := withTools(newFront(t, map[string]string{"simple": simple("ttl: 1h", source)}))
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"simple"}}`))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			_, err = f.Client().Do(r)
		}
		left <- err
	}()
	waittest.Until(t, "the source is asked", func() bool { return source.calls.Load() == 1 })
	leave()
	if err := <-left; err == nil {
		t.Error("the call was answered")
	}
	waittest.Until(t, "the message's place is free", func() bool {
		ok := f.server.messages.TryAcquire(maxMessages)
		if ok {
			f.server.messages.Release(maxMessages)
		}
		return ok
	})
}

// TestAnswersForAgentsAreBounded: agents read results whole.
func TestAnswersForAgentsAreBounded(t *testing.T) {
	source := newFake(t, `{"v":"`+strings.Repeat("x", 1<<20)+`"}`)
	file := strings.Replace(simple("ttl: 1h", source), `query: {id: "{id}"}`, `query: {id: "{id}"}, max_kib: 4096`, 1)
	file = strings.Replace(file, `'"https://example.org/" + .v'`, `'"https://example.org/"'`, 1)
	f := withTools(newFront(t, map[string]string{"simple": file}))
	f.get("/api/simple").want(t, 200)
	if result := call(t, agent(f), "simple", nil); !result.IsError || !strings.Contains(textOf(t, result), `"type":"too_large"`) {
		t.Errorf("%.200s", textOf(t, result))
	}
}

// TestMessagesAtOnceAreBounded: who finds no place is told to come back.
func TestMessagesAtOnceAreBounded(t *testing.T) {
	f := withTools(newFront(t, nil, replaying("ip")))
	if !f.server.messages.TryAcquire(maxMessages) {
		t.Fatal("a place is taken")
	}
	full := f.post(listMessage)
	full.want(t, 503, `"error":`)
	full.header(t, "Retry-After", "1")
	f.server.messages.Release(maxMessages)
	f.post(listMessage).want(t, 200)
}

// TestManyAgents: calls at once, of one key and of many, while the catalog is reloaded.
func TestManyAgents(t *testing.T) {
	source := newFake(t, `{"v":"one"}`)
	f := withTools(newFront(t, map[string]string{"simple": simple("ttl: 1h", source)}))
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			for id := range 10 {
				f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"simple","arguments":{"id":%d}}}`, n, id+1)).want(t, 200, `"data"`)
			}
		})
	}
	for range 3 {
		f.load(nil)
	}
	all.Wait()
	if calls := source.calls.Load(); calls != 10 {
		t.Errorf("%d calls of the source, want 10", calls)
	}
}

// TestToolsInBothLanguages: a client gets descriptions in the language that it prefers, else in Chinese.
func TestToolsInBothLanguages(t *testing.T) {
	f := withTools(newFront(t, nil, replayed))
	f.post(listMessage, "Accept-Language", "zh-CN,zh;q=0.9").want(t, 200, "60 秒读世界", "26：动漫卡通")
	f.post(listMessage).want(t, 200, "60 秒读世界")
	f.post(listMessage, "Accept-Language", "en").want(t, 200, "Fifteen one-line news items", "26: Anime (its number")
}

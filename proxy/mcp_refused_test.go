package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams"
	"sundry/upstreams/lib/waittest"
	"sundry/upstreams/loop"
)

// TestRefusalsOfMessagesInBothLanguages: what is refused is told in the language of the request, whoever
// refuses it. Codes stay the contract.
func TestRefusalsOfMessagesInBothLanguages(t *testing.T) {
	f := newFront(t, nil, replaying("ip"), trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.001, Burst: 6} })
	withTools(f, "https://agent.example.org")
	for name, row := range map[string]struct {
		body, en, zh string
		status       int
		headers      []string
	}{
		"origin":       {listMessage, "pages of this origin", "此源的网页", 403, []string{"Origin", "https://other.example.org"}},
		"content type": {listMessage, "expected Content-Type", "Content-Type 应为", 415, []string{"Content-Type", "text/plain"}},
		"too large":    {`{"x":"` + strings.Repeat("x", 1<<20) + `"}`, "at most 131072 bytes", "不得超过 131072 字节", 413, nil},
		"no message":   {"[]", "a single JSON-RPC message", "一条 JSON-RPC 消息", 400, nil},
		"subscription": {`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`, "no subscriptions", "不提供订阅", 404, nil},
		"no method":    {`{"jsonrpc":"2.0","id":3,"method":"bogus"}`, `"id":3,"error":{"code":-32601,"message":"there is no method \"bogus\"`, `没有方法“bogus”`, 400, nil},
		"long id":      {`{"jsonrpc":"2.0","id":1795821473000000001,"method":"ping"}`, `"id":1795821473000000001,"error":{"code":-32600,"message":"id: expected`, `id 应为`, 400, nil},
		"no version":   {`{"id":"a","method":"ping"}`, `"id":"a","error":{"code":-32600,`, `"code":-32600`, 400, nil},
		"unknown tool": {callMessage("nothing", `{}`), `unknown tool \"nothing\"`, `没有名为“nothing”的工具`, 200, nil},
		"argument":     {callMessage("ip", `{"page":1}`), `no argument \\\"page\\\"; expected ip, type`, "没有参数“page”；应为 ip、type", 200, nil},
		"long name":    {callMessage("ip", `{"`+strings.Repeat("x", 41)+`":1}`), "no such argument; expected ip, type", "没有这个参数；应为 ip、type", 200, nil},
		"no object":    {callMessage("ip", `7`), "expected an object", "应为对象", 200, nil},
	} {
		for i, want := range []string{row.zh, row.en, row.zh, row.en} {
			languages := [][]string{{}, {"Accept-Language", "en-GB,zh;q=0.9"}, {"Accept-Language", "en"}, {"Accept-Language", "zh"}}[i]
			headers := append(append([]string{"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i+len(name)*4)}, row.headers...), languages...)
			a := f.postTo("/mcp"+[]string{"", "", "?lang=zh", "?lang=en"}[i], row.body, headers...)
			a.want(t, row.status, want)
			if row.status != http.StatusOK {
				a.header(t, "Content-Language", []string{"zh-CN", "en", "zh-CN", "en"}[i])
				if varies := slices.Contains(a.Header.Values("Vary"), "Accept-Language"); varies != (i < 2) {
					t.Errorf("%s: Vary: %q", name, a.Header.Values("Vary"))
				}
			}
		}
	}
	for range 7 {
		f.post(listMessage, "X-Forwarded-For", "198.51.100.1")
	}
	f.post(listMessage, "X-Forwarded-For", "198.51.100.1", "Accept-Language", "zh").want(t, 429, "你的地址发来的请求太多")
	f.do(t.Context(), http.MethodGet, "/mcp", "Accept-Language", "zh").want(t, 405, "POST")
}

// TestLanguageOfCallsIsThatOfTheMessage: what the endpoint refuses is in the language
// that the address of the service has.
func TestLanguageOfCallsIsThatOfTheMessage(t *testing.T) {
	f := withTools(newFront(t, nil, replaying("ip")))
	f.postTo("/mcp?lang=zh", callMessage("ip", `{"ip":"nope"}`), "Accept-Language", "en").want(t, 200, "参数 ip 有误")
	f.postTo("/mcp?lang=en", callMessage("ip", `{"ip":"nope"}`), "Accept-Language", "zh").want(t, 200, "parameter ip:")
}

// callMessage is a message that calls a tool.
func callMessage(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
}

// TestRefusedMessagesAreCounted as other requests are that are refused, under no more
// labels, and one each.
func TestRefusedMessagesAreCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	f := withTools(newFront(t, nil, replaying("ip"), trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Registerer, c.Limits = reg, Limits{Rate: 0.001, Burst: 2}
	}))
	client := 0
	for _, row := range []struct {
		body, counted string
		headers       []string
	}{
		{listMessage, `endpoint="none",outcome="invalid"`, []string{"Origin", "https://other.example.org"}},
		{listMessage, `endpoint="none",outcome="invalid"`, []string{"Content-Type", "text/plain"}},
		{`{"x":"` + strings.Repeat("x", 1<<20) + `"}`, `endpoint="none",outcome="invalid"`, nil},
		{"[]", `endpoint="none",outcome="invalid"`, nil},
		{callMessage("nothing-"+strings.Repeat("x", 99), `{}`), `endpoint="none",outcome="negative"`, nil},
		{callMessage("ip", `{"page":1}`), `endpoint="ip",outcome="invalid"`, nil},
		{callMessage("ip", `7`), `endpoint="ip",outcome="invalid"`, nil},
		{callMessage("ip", `{"ip":"nope"}`), `endpoint="ip",outcome="invalid"`, nil},
		{`{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, `endpoint="none",outcome="invalid"`, nil},
	} {
		client++
		before, counted := countedRequests(t, reg), fmt.Sprintf(`class="4xx",%s`, row.counted)
		f.post(row.body, append([]string{"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", client)}, row.headers...)...)
		after := countedRequests(t, reg)
		if after[counted] != before[counted]+1 || total(after) != total(before)+1 {
			t.Errorf("%.90s %v: %v after %v, want one more of %s", row.body, row.headers, after, before, counted)
		}
	}
	for range 3 {
		f.post(listMessage, "X-Forwarded-For", "198.51.100.1")
	}
	if !f.server.messages.TryAcquire(maxMessages) {
		t.Fatal("a place is taken")
	}
	f.post(listMessage, "X-Forwarded-For", "198.51.100.2").want(t, 503)
	f.server.messages.Release(maxMessages)
	got := countedRequests(t, reg)
	if got[`class="4xx",endpoint="none",outcome="limited"`] != 1 || got[`class="5xx",endpoint="none",outcome="shed"`] != 1 {
		t.Errorf("%v", got)
	}
	if limited, shed := testutil.ToFloat64(f.server.metrics.limited), testutil.ToFloat64(f.server.metrics.shed); limited != 1 || shed != 1 {
		t.Errorf("%v limited, %v shed, want 1 each", limited, shed)
	}
}

// countedRequests are the requests that have been counted, by their labels.
func countedRequests(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	return (&twoWays{reg: reg}).counted(t, "sundry_requests_total")
}

func total(counted map[string]float64) (sum float64) {
	for _, v := range counted {
		sum += v
	}
	return sum
}

// TestAgentsAreToldTheVersion of the program.
func TestAgentsAreToldTheVersion(t *testing.T) {
	f := withTools(newFront(t, nil, replaying("ip"), func(c *Config, _ *upstreams.Environment) { c.Version = "1.2.3-test" }))
	if info := agent(f).InitializeResult().ServerInfo; info.Version != "1.2.3-test" || info.Name != "sundry" {
		t.Errorf("%+v", info)
	}
	if info := agent(withTools(newFront(t, nil, replaying("ip")))).InitializeResult().ServerInfo; info.Version == "" {
		t.Error("the protocol wants a version")
	}
}

// TestToolDoesNotCallItself: a source that is this service's own tool is refused where
// it comes back for the first time.
func TestToolDoesNotCallItself(t *testing.T) {
	mark := loop.NewID("me", nil, "")
	var came atomic.Int64
	var own atomic.Pointer[front]
	self := &fake{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		own.Load().server.ServeHTTP(w, r)
	}))}
	t.Cleanup(self.Close)
	file := strings.Replace(simple("ttl: 1h", self), `/item", query: {id: "{id}"}}`,
		`/mcp", json: '{jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "simple", arguments: {id: $params.id}}}'}`, 1)
	f := newFront(t, map[string]string{"simple": file}, func(_ *Config, env *upstreams.Environment) { env.SetOutgoing(upstreams.Outgoing{LoopID: mark}) })
	own.Store(f)
	if err := f.server.Reload(f.server.Catalog(), Settings{LoopID: mark, MCP: &MCP{}}); err != nil {
		t.Fatal(err)
	}
	result := call(t, agent(f), "simple", map[string]any{"id": 7})
	if text := textOf(t, result); !result.IsError || !strings.Contains(text, `"type":"upstream_unavailable"`) {
		t.Error(text)
	}
	if n := came.Load(); n != 1 {
		t.Errorf("%d messages came back, want 1", n)
	}
}

// TestCallsInFlightAreFinishedWhileDraining: who has called gets the answer, on a connection that
// is closed then.
func TestCallsInFlightAreFinishedWhileDraining(t *testing.T) {
	enter, leave := make(chan struct{}, 1), make(chan struct{})
	source := &fake{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		enter <- struct{}{}
		<-leave
		_, _ = io.WriteString(w, `{"v":"one"}`)
	}))}
	t.Cleanup(source.Close)
	f := withTools(newFront(t, map[string]string{"simple": simple("ttl: 1h", source)}))
	answered := make(chan answer, 1)
	go func() { answered <- f.post(callMessage("simple", `{"id":7}`)) }()
	<-enter
	f.server.Drain()
	stopped := make(chan error, 1)
	go func() { stopped <- f.Config.Shutdown(t.Context()) }()
	waittest.Until(t, "the listener is closed", func() bool {
		c, err := net.Dial("tcp", f.Listener.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	close(leave)
	a := <-answered
	a.want(t, http.StatusOK, `"structuredContent":{"data":{"v":"one"`)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

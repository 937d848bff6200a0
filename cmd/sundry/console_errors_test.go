package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refused is a request of the admin API, and what its error says in both languages.
type refused struct {
	method, path, body string
	status             int
	en, zh             string
	header             []string // pairs
}

// asked sends the request, without a language if accept is "". The error of what is not JSON
// is its line.
func (r *refused) asked(t *testing.T, base, accept string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.method, base+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if accept != "" {
		req.Header.Set("Accept-Language", accept)
	}
	for i := 0; i < len(r.header); i += 2 {
		req.Header.Set(r.header[i], r.header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Error string }
	if json.Unmarshal(b, &doc) == nil {
		return resp, doc.Error
	}
	return resp, strings.TrimSuffix(string(b), "\n")
}

// matches compares a text with the wanted one, which tells only the beginning if it ends in ….
func matches(got, want string) bool {
	begins, open := strings.CutSuffix(want, "…")
	return got == want || open && strings.HasPrefix(got, begins)
}

// check asks in both languages.
func (r *refused) check(t *testing.T, base string) {
	t.Helper()
	for _, in := range []struct{ accept, tag, want string }{{"zh-CN,zh;q=0.9,en;q=0.8", "zh-CN", r.zh}, {"en-GB", "en", r.en}, {"", "zh-CN", r.zh}} {
		resp, got := r.asked(t, base, in.accept)
		if resp.StatusCode != r.status || !matches(got, in.want) {
			t.Errorf("%s %s %.60s in %q:\n%d %q, want\n%d %q", r.method, r.path, r.body, in.accept, resp.StatusCode, got, r.status, in.want)
		}
		if vary, tag := resp.Header.Get("Vary"), resp.Header.Get("Content-Language"); vary != "Accept-Language" || tag != in.tag {
			t.Errorf("%s %s in %q: Vary %q, Content-Language %q", r.method, r.path, in.accept, vary, tag)
		}
	}
}

const ipCache = "/admin/api/endpoints/ip/cache"

// adminErrors are the errors of the admin API that a request alone can cause.
func adminErrors() []refused {
	const get, post, put = http.MethodGet, http.MethodPost, http.MethodPut
	operator := func(name string) []string { return []string{"X-Sundry-Operator", name} }
	long := strings.Repeat("x", 9<<10)
	return []refused{
		{method: get, path: "/admin/api/endpoints/nope/entries", status: 404, en: `endpoint "nope" not found`, zh: `没有接口“nope”`},
		{method: get, path: "/admin/api/endpoints/nope/declaration", status: 404, en: `endpoint "nope" not found`, zh: `没有接口“nope”`},
		{method: get, path: "/admin/api/endpoints/ip/entry?key=k", status: 404, en: `entry "k" not found`, zh: `没有条目“k”`},
		{method: post, path: "/admin/api/failures/99/retry", status: 404, en: `failure "99" not found`, zh: `没有失败的尝试“99”`},
		{method: post, path: "/admin/api/audit/x/undo", status: 404, en: `change "x" not found`, zh: `没有更改“x”`},
		{method: post, path: "/admin/api/audit/99/undo", status: 400, en: "change 99 is not in the audit log", zh: "审计日志中没有更改 99"},
		{method: post, path: "/admin/api/audit/1/undo", status: 400, en: "change 1: a purge cannot be undone", zh: "更改 1：purge 不能撤销"},
		{method: post, path: "/admin/api/upstreams/nope", body: `{"do":"open"}`, status: 404, en: `upstream host "nope" not found`, zh: `没有上游主机“nope”`},
		{method: post, path: "/admin/api/upstreams/api.ip.sb", body: `{"do":"trip"}`, status: 400, en: `do: "trip": expected open, closed, auto or reset`, zh: `do：不能是“trip”，应为 open、closed、auto 或 reset`},
		{method: put, path: ipCache, body: `{"set":{"ttl":"2h"},"for":"soon"}`, status: 400, en: `for: "soon": expected a duration of at least 1s, such as 10m or 2h`, zh: `for：不能是“soon”，应为至少 1s 的时长，例如 10m 或 2h`},
		{method: put, path: ipCache, body: `{"set":{"ttl":"soon"}}`, status: 400, en: `ttl: "soon": expected a duration such as 90s, 6h or 30d`, zh: `ttl：不能是“soon”，应为时长，例如 90s、6h 或 30d`},
		{method: put, path: ipCache, body: `{"set":{"ttl":"400d"}}`, status: 400, en: "ttl: expected 1s to 366d, got 400d", zh: "ttl：应在 1s 到 366d 之间，而不是 400d"},
		{method: put, path: ipCache, body: `{"set":{"class":"1h"}}`, status: 400, en: "class: cannot be changed while the service runs; expected one of ttl, …", zh: "class：运行中不能更改，应为以下之一：ttl、…"},
		{method: put, path: ipCache, body: `{"set":{}}`, status: 400, en: `set: expected cache settings, as in {"set":{"ttl":"2h"},"for":"1h"}`, zh: `set：应为缓存设置，例如 {"set":{"ttl":"2h"},"for":"1h"}`},
		{method: put, path: ipCache, body: `{"set":{"ttl":"2h"},"note":"` + strings.Repeat("长", 201) + `"}`, status: 400, en: "note: expected at most 200 characters", zh: "note：最多 200 个字符"},
		{method: put, path: "/admin/api/endpoints/sfz/cache", body: `{"set":{"ttl":"2h"}}`, status: 400, en: "sfz is not cached, so it has no cache settings", zh: "sfz 不缓存，因此没有缓存设置"},
		{method: put, path: ipCache, body: `{"what":1}`, status: 400, en: `body: json: unknown field "what"`, zh: `请求正文有误（详情为英文）：json: unknown field "what"`},
		{method: put, path: ipCache, body: `{}`, header: []string{"Content-Type", "text/plain"}, status: 415, en: "expected Content-Type: application/json", zh: "应为 Content-Type: application/json"},
		{method: put, path: ipCache, body: strings.Repeat(" ", 65<<10), status: 413, en: "the request body is too large", zh: "请求正文太大"},
		{method: put, path: ipCache, body: `{"set":{"ttl":"2h"}}`, header: operator("%zz"), status: 400, en: "X-Sundry-Operator: expected percent-encoded UTF-8", zh: "X-Sundry-Operator：应为百分号编码的 UTF-8"},
		{method: put, path: ipCache, body: `{"set":{"ttl":"2h"}}`, header: operator("%07"), status: 400, en: "name of the operator: expected printable characters", zh: "运维的名字：只能有可显示的字符"},
		{method: put, path: ipCache, body: `{"set":{"ttl":"2h"}}`, header: operator(long[:41]), status: 400, en: "name of the operator: expected at most 40 characters", zh: "运维的名字：最多 40 个字符"},
		{method: put, path: ipCache, body: `{"set":{"ttl":"2h"}}`, header: operator("autopilot"), status: 400, en: `name of the operator: "autopilot" stands for what no operator did`, zh: `运维的名字：不能是“autopilot”，它表示并非由运维所作的更改`},
		{method: post, path: "/admin/api/purge", body: `{"endpoint":"ip","mode":"all"}`, status: 400, en: `mode: "all": expected soft (entries become stale) or hard (entries are gone)`, zh: `mode：不能是“all”，应为 soft（条目变为过期）或 hard（条目不能再用）`},
		{method: post, path: "/admin/api/purge", body: `{"endpoint":"ip","key":"x"}`, status: 400, en: "key: not a cache key of ip", zh: "key：不是 ip 的缓存键"},
		{method: post, path: "/admin/api/endpoints/ip/try", body: `{"params":{"ip":"` + long + `"}}`, status: 400, en: "params: expected at most 8192 bytes, got …", zh: "params：最多 8192 字节，而不是 …"},
		{method: get, path: "/admin/api/endpoints/ip/advice?ttl=soon", status: 400, en: `ttl: "soon": expected a duration such as 90s, 6h or 30d`, zh: `ttl：不能是“soon”，应为时长，例如 90s、6h 或 30d`},
		{method: get, path: "/admin/api/endpoints/sfz/advice", status: 400, en: "sfz is not cached, so there is nothing to advise", zh: "sfz 不缓存，因此没有可以建议的"},
		{method: put, path: ipCache, body: `{"set":{"target":"2%"}}`, status: 400, en: `target: "2%": expected old=2% (…`, zh: `target：不能是“2%”，应为 old=2%（…`},
		{method: put, path: ipCache, body: `{"set":{"autopilot":"1h"}}`, status: 400, en: `autopilot: "1h": expected off, or …`, zh: `autopilot：不能是“1h”，应为 off，…`},
		{method: get, path: "/admin/api/endpoints/ip/advice?ttl=1h" + strings.Repeat("&ttl=1h", 20), status: 400, en: "21 TTLs: expected at most …", zh: "ttl 有 21 个，最多 …"},
		{method: post, path: "/admin/api/reload", header: []string{"Origin", "http://evil.example"}, status: 403, en: "requests from pages of other origins are refused", zh: "拒绝来自其他源的网页的请求"},
		{method: get, path: "/admin/api/overview", header: []string{"Sec-Fetch-Site", "cross-site"}, status: 403, en: "requests from pages of other origins are refused", zh: "拒绝来自其他源的网页的请求"},
	}
}

// TestErrorsOfTheAdminAPIAreInBothLanguages: the status and the field are the same in both.
func TestErrorsOfTheAdminAPIAreInBothLanguages(t *testing.T) {
	t.Parallel()
	p := serve(t, "--replay")
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"ip","mode":"soft"}`)
	for _, row := range adminErrors() {
		row.check(t, p.admin)
	}
	asked := refused{method: http.MethodGet, path: "/admin/api/endpoints/nope/entries?lang=zh"}
	if resp, got := asked.asked(t, p.admin, "en"); got != `没有接口“nope”` || resp.Header.Get("Vary") != "" {
		t.Errorf("lang=zh: %q, Vary %q", got, resp.Header.Get("Vary"))
	}
}

// TestAReloadThatFailsSaysSoInBothLanguages, with the mistakes as check has them; and so does the overview, from the first
// that fails until one succeeds.
func TestAReloadThatFailsSaysSoInBothLanguages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own, file := filepath.Join(dir, "own.yaml"), write(t, t.TempDir(), "sundry.yaml", only("ip"))
	p := serve(t, "--replay", "--catalog", dir, "--config", file)
	failed := func() (since any, mistakes map[string]any) {
		v, ok := p.mustAsk(http.MethodGet, "overview", "")["reload_failed"].(map[string]any)
		if !ok {
			return nil, nil
		}
		return v["since"], v["mistakes"].(map[string]any)
	}
	if since, mistakes := failed(); since != nil {
		t.Errorf("before: %v %v", since, mistakes)
	}
	write(t, dir, "own.yaml", "nonsense: 1\n")
	row := refused{method: http.MethodPost, path: "/admin/api/reload", status: 400,
		en: "nothing was changed: " + own + ":1: unknown key nonsense; …", zh: "什么都没有改变：" + own + ":1: 没有键 nonsense；…"}
	row.check(t, p.admin)
	since, mistakes := failed()
	if en, zh := fmt.Sprint(mistakes["en"]), fmt.Sprint(mistakes["zh"]); since == nil || !strings.HasPrefix(en, own+":1: unknown key nonsense; ") || !strings.HasPrefix(zh, own+":1: 没有键 nonsense；") {
		t.Errorf("the overview says %v %s %s", since, en, zh)
	}
	if status, doc := p.reloaded(t, file, "log_levl: debug\n"+only("ip")); status != http.StatusBadRequest {
		t.Errorf("%d %v", status, doc)
	}
	if again, mistakes := failed(); again != since || !strings.HasPrefix(fmt.Sprint(mistakes["zh"]), file+":1: 没有键 log_levl") {
		t.Errorf("of settings, failing since %v: %v %v", since, again, mistakes)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if status, doc := p.reloaded(t, file, only("ip")); status != http.StatusOK {
		t.Errorf("%d %v", status, doc)
	}
	if since, mistakes := failed(); since != nil {
		t.Errorf("after a good one: %v %v", since, mistakes)
	}
}

// TestTheAdminListenerAsksForTheTokenInBothLanguages.
func TestTheAdminListenerAsksForTheTokenInBothLanguages(t *testing.T) {
	t.Parallel()
	p := serveWith(t, map[string]string{"SUNDRY_ADMIN_TOKEN": "0123456789abcdef"}, "--replay")
	row := refused{method: http.MethodGet, path: "/admin/api/overview", status: 401,
		en: "unauthorized: send the admin token as Authorization: Bearer", zh: "未经授权：请用 Authorization: Bearer 发送管理令牌"}
	row.check(t, p.admin)
	if resp, _ := row.asked(t, p.admin, "en"); resp.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("an error of the API is %s", resp.Header.Get("Content-Type"))
	}
}

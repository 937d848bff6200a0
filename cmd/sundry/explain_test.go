package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/proxy/explain"
)

var spaces = regexp.MustCompile(" +")

// TestExplainByTheCatalog: without an instance, all but entries and breakers.
func TestExplainByTheCatalog(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "60s", "ip", "kd", "music", "sfz", "sjbz", "yiyan")
	few["SUNDRY_ADMIN"] = "127.0.0.1:1"
	for _, row := range []struct{ url, want, without string }{
		{"/api/60s?date=2026-08-22&colour=red", "outcome not known|date 2026-08-22|colour ignored: there is no such parameter|key 60s:|Published daily|breaker not known", "hit"},
		{"http://localhost:8080/api/60s?dat=1&date=never", `400: parameter date: "never" is not a date|dat ignored: there is no such parameter; did you mean date?`, "…"},
		{"/api/sfz?card=11010519491231002X", "bypass|card (not shown: personal)|computed here", "11010519491231002X"},
		{"/api/sfz?card=1101051949123100211", "400: parameter card: the value", "1101051949123100211"},
		{"/api/ip?ip=nonsense", "400: parameter ip: |error.type invalid_parameter|ip parameter ip: the value", "form"},
		{"/api/sfz?11010519491231002X", "400: parameter card is missing|error.type missing_parameter|… ignored", "11010519491231002X"},
		{"/api/ip", "of the request itself", "127.0.0.1"},
		{"sjbz", "method pc, by default", "404"},
		{"/api/sjbz", ", drawn for this request; the next one may get another|method pc, by default", "hit"},
		{"/api/sjbz?lx=suiji", ", drawn for this request", "suiji"},
		{"/api/sjbz?lx=fengjing", "lx fengjing", "drawn"},
		{"/api/ip?ip=8.8.8.8", "(not shown: personal)|ipinfo.io: breaker not known", "8.8.8.8"},
		{"/api/kd?id=SF1234567890123&mobile=8899", "(not shown: personal)|uapis.cn: breaker not known", "8899"},
	} {
		out, errs, err := call(t, few, "explain", row.url)
		if err != nil || !strings.HasPrefix(errs, "no running instance: dial tcp 127.0.0.1:1: ") {
			t.Errorf("%s: %v %s", row.url, err, errs)
		}
		for want := range strings.SplitSeq(row.want, "|") {
			if !strings.Contains(spaces.ReplaceAllString(out, " "), want) {
				t.Errorf("%s: no %q in\n%s", row.url, want, out)
			}
		}
		if strings.Contains(out, row.without) {
			t.Errorf("%s: %q in\n%s", row.url, row.without, out)
		}
		for _, part := range []string{"Cache key", "Policy", "Entry", "Sources, in order"} {
			if refused := strings.HasPrefix(row.want, "400"); strings.Contains(out, part+"\n") == refused {
				t.Errorf("%s: refused %v, and %s in\n%s", row.url, refused, part, out)
			}
		}
	}
}

// TestExplainInChinese: all but names, in aligned columns, whoever answers.
func TestExplainInChinese(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "ip"), "--replay")
	few := onlyIn(t, "ip")
	few["SUNDRY_ADMIN"], few["SUNDRY_LANGUAGE"] = "127.0.0.1:1", "zh"
	for want, args := range map[string][]string{
		"结果\n  结果        400：参数 ip 有误：所给的值": {"/api/ip?ip=nonsense"},
		"\n  error.type  invalid_parameter": {"/api/ip?ip=nonsense"},
		"\n缓存规则\n  规则  ":                    {"/api/ip?ip=8.8.8.8"},
		"miss：按顺序请求数据源":                     {"/api/ip?ip=8.8.8.8", "--admin", p.admin},
		`"title": "缓存规则"`:                   {"/api/ip?ip=8.8.8.8", "--json"},
	} {
		out, errs, err := call(t, few, append([]string{"explain"}, args...)...)
		if asked := len(args) > 2; err != nil || !strings.Contains(out, want) || strings.HasPrefix(errs, "没有运行中的实例") == asked {
			t.Errorf("%v: %v %s, no %q in\n%s", args, err, errs, want, out)
		}
	}
	for _, admin := range []string{"127.0.0.1:1", p.admin} {
		if out, _, err := call(t, few, "explain", "--admin", admin, "/api/ipp"); err != nil || !strings.Contains(out, "  404：没有这个接口；是不是 /api/ip？\n") {
			t.Errorf("%s: %v %s", admin, err, out)
		}
	}
}

// TestExplainWhereNoEndpointIs: that is explained as well, and what is near is named.
func TestExplainWhereNoEndpointIs(t *testing.T) {
	t.Parallel()
	few, dir := onlyIn(t, "ip", "sfz"), t.TempDir()
	few["SUNDRY_ADMIN"], few["SUNDRY_CATALOG"] = "127.0.0.1:1", dir
	write(t, dir, "news.yaml", "version: 1\nname: news\nproxy: {to: 'http://127.0.0.1:1', hosts: [news.example.org]}\n")
	for url, want := range map[string][2]string{
		"/nope":           {"not_found", "404: there is no such endpoint"},
		"/api/nope":       {"not_found", "404: there is no such endpoint"},
		"/api/ipp?x=1":    {"not_found", "404: there is no such endpoint; did you mean /api/ip?"},
		"/ip?ip=8.8.8.8":  {"not_found", "404: there is no such endpoint; did you mean /api/ip?"},
		"/api/ip/x":       {"not_found", "404: there is no such endpoint; did you mean /api/ip?"},
		"/api/news/x":     {"not_found", "404: there is no such endpoint; news is at news.example.org"},
		"/":               {"page", "200: a page or a file of the service; no source is asked"},
		"/docs/ip":        {"page", "200: a page or a file of the service; no source is asked"},
		"/docs/nope":      {"not_found", "404: there is no such endpoint"},
		"http://x/status": {"page", "200: a page or a file of the service; no source is asked"},
	} {
		out, _, err := call(t, few, "explain", "--json", url)
		var got explain.Explanation
		if err != nil || json.Unmarshal([]byte(out), &got) != nil || got.Outcome != want[0] || got.Parts[0].Facts[0].Says != want[1] {
			t.Errorf("%s: %v, want %v, got\n%s", url, err, want, out)
		}
	}
}

// TestExplainRefusesTheLanguageFirst, before anybody is asked.
func TestExplainRefusesTheLanguageFirst(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "ip")
	few["SUNDRY_ADMIN"], few["SUNDRY_LANGUAGE"] = "127.0.0.1:1", "xx"
	out, errs, err := call(t, few, "explain", "/api/ip")
	if want := `SUNDRY_LANGUAGE: "xx": expected zh or en, such as en`; statusOf(err) != statusMisconfigured || err.Error() != want || out+errs != "" {
		t.Errorf("%v, want %s, after %s%s", err, want, out, errs)
	}
}

// TestExplainMistakes in what is asked for: each names what is expected.
func TestExplainMistakes(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "ip")
	few["SUNDRY_ADMIN"] = "127.0.0.1:1"
	for want, args := range map[string][]string{
		"expected a URL, or a path with its query":                 {""},
		"expected its name and value, such as Accept-Language: de": {"/api/ip", "-H", "nonsense"},
		`--admin: "localhost": expected an address and a port, such as 127.0.0.1:9090, or the URL of the console, such as https://sundry.example.org/admin/`: {"/api/ip", "--admin", "localhost"},
		`--admin: "ftp://localhost:1": expected`:    {"/api/ip", "--admin", "ftp://localhost:1"},
		`--admin: "http://localhost:1/x": expected`: {"/api/ip", "--admin", "http://localhost:1/x"},
		"unknown key": {"/api/ip", "--config", write(t, t.TempDir(), "bad.yaml", "admin: 127.0.0.1:1\nnonsense: 1\n")},
	} {
		_, _, err := call(t, few, append([]string{"explain"}, args...)...)
		if code := statusOf(err); err == nil || !strings.Contains(err.Error(), want) || code != statusMisused && code != statusMisconfigured {
			t.Errorf("%v: %v (%d), want %s", args, err, code, want)
		}
	}
}

// explained asks a running instance, by the command.
func explained(t *testing.T, p *instance, args ...string) (facts map[string]string, outcome string) {
	t.Helper()
	out, errs, err := call(t, nil, append([]string{"explain", "--json", "--admin", strings.TrimPrefix(p.admin, "http://")}, args...)...)
	var got explain.Explanation
	if err != nil || errs != "" || json.Unmarshal([]byte(out), &got) != nil {
		t.Fatalf("%v: %v %s%s", args, err, errs, out)
	}
	facts = map[string]string{}
	for _, part := range got.Parts {
		for _, f := range part.Facts {
			facts[part.ID+" "+f.About] += f.Says + "\n"
		}
	}
	return facts, got.Outcome
}

// TestExplainOfAnInstance: what is foretold is what then happens, and nobody is called for it.
func TestExplainOfAnInstance(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Vary", "Accept-Language, X-Token")
		fmt.Fprint(w, `{"a":1}`)
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	writeEndpoint(t, dir, "own", up.URL, "ttl: 1h, grace: 10m")
	write(t, dir, "whole.yaml", "version: 1\nname: whole\nproxy:\n  to: "+up.URL+"\n  cache: {drop: [utm_*]}\n")
	p := serve(t, "--catalog", dir)
	check := func(url, outcome string, want map[string]string, fields ...string) {
		t.Helper()
		before := calls.Load()
		facts, got := explained(t, p, append([]string{url}, fields...)...)
		for about, text := range want {
			if !strings.Contains(facts[about], text) {
				t.Errorf("%s: %s: %q, want %s", url, about, facts[about], text)
			}
		}
		if got != outcome || calls.Load() != before {
			t.Errorf("%s: %s, want %s; %d calls", url, got, outcome, calls.Load()-before)
		}
	}
	check("/api/own?id=1", "miss", map[string]string{"entry entry": "none", "sources up": "breaker closed; not called yet"})
	mustGet(t, p.public+"/api/own?id=1")
	check("/api/own?id=1", "hit", map[string]string{"entry tier": "near tier", "entry source": "up", "entry freshness": "still fresh for", "sources up": "last: success"})
	if doc := p.mustAsk(http.MethodPost, "explain?lang=zh", `{"url":"/api/own?id=1"}`); !strings.Contains(fmt.Sprint(doc), "says:保鲜期还剩 ") {
		t.Errorf("%v", doc)
	}
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"soft"}`)
	check("/api/own?id=1", "stale", map[string]string{"entry freshness": "stale for"})
	check("/api/whole/a?x=1&utm_b=2", "miss", map[string]string{"key primary": "GET whole/a?x=1", "key query": "dropped", "policy rule": "fresh for as long as the response says", "answer Cache-Status": "sundry; fwd=uri-miss"})
	req, _ := http.NewRequest(http.MethodGet, p.public+"/api/whole/a?x=1", http.NoBody)
	req.Header.Set("X-Token", "hush")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	check("/api/whole/a?x=1", "miss", map[string]string{"answer Cache-Status": "sundry; fwd=vary-miss"})
	check("/api/whole/a?x=1", "hit", map[string]string{"key variant": "Accept-Language:; X-Token: digest ", "policy rule": "fresh for a minute because max-age=60", "entry variant": "200 text/plain", "origins " + up.URL: "breaker closed"}, "-H", "X-Token: hush")
	if facts, _ := explained(t, p, "/api/whole/a?x=1", "-H", "X-Token: hush"); strings.Contains(fmt.Sprint(facts), "hush") {
		t.Errorf("the token stands in %v", facts)
	}
	if facts, got := explained(t, p, "/api/whole/%2e%2e/x"); got != "invalid" || len(facts) != 2 {
		t.Errorf("a path that leads out of the API: %s %v", got, facts)
	}
	check("/api/owm", "not_found", map[string]string{"answer outcome": "404: there is no such endpoint; did you mean /api/own?", "answer error.type": "not_found"})
	if doc := p.mustAsk(http.MethodPost, "explain?lang=zh", `{"url":"/api/own?id=1"}`); !strings.Contains(fmt.Sprint(doc), "title:缓存规则") || !strings.Contains(fmt.Sprint(doc), "；上次：成功，距今 ") {
		t.Errorf("%v", doc)
	}
}

// TestExplainBehindTLS: the console may stand behind a proxy, with https.
func TestExplainBehindTLS(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "ip"), "--replay")
	to, err := url.Parse(p.admin)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to))
	t.Cleanup(front.Close)
	w := processOf(t, nil)
	for at, want := range map[string]string{front.URL: front.URL, front.URL + "/admin/#cache": front.URL, p.admin + "/admin/": p.admin, to.Host: p.admin} {
		if got, err := (&explainCmd{Admin: at}).origin(w); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", at, got, err, want)
		}
	}
	out, errs, err := call(t, onlyIn(t, "ip"), "explain", "--admin", front.URL, "/api/ip")
	if err != nil || !strings.Contains(errs, "certificate") || !strings.Contains(out, "breaker not known") {
		t.Errorf("a certificate that nobody trusts: %v %s%s", err, errs, out)
	}
}

// TestExplainNeedsTheToken of an instance that has one.
func TestExplainNeedsTheToken(t *testing.T) {
	t.Parallel()
	p := serveWithToken(t, "--replay", "--config", write(t, t.TempDir(), "few.yaml", only("ip")))
	args := []string{"explain", "--admin", strings.TrimPrefix(p.admin, "http://"), "/api/ip"}
	if _, _, err := call(t, nil, args...); err == nil || !strings.Contains(err.Error(), "SUNDRY_ADMIN_TOKEN") {
		t.Errorf("without the token: %v", err)
	}
	if out, _, err := call(t, map[string]string{"SUNDRY_ADMIN_TOKEN": adminToken}, args...); err != nil || !strings.Contains(out, "breaker closed") {
		t.Errorf("with it: %v %s", err, out)
	}
}

// TestExplainOfAnAPIOutsideTheBasePath: there is none, as for who asks.
func TestExplainOfAnAPIOutsideTheBasePath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nproxy: {to: 'http://127.0.0.1:1'}\n")
	for path, want := range map[string]string{"/tools/api/weather/a": "GET weather/a", "/api/weather/a": "404"} {
		out, _, err := call(t, map[string]string{"SUNDRY_BASE_PATH": "/tools"}, "explain", path, "--catalog", dir)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

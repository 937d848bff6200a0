package explain

import (
	"net/http"
	"strings"
	"time"

	"sundry/cache/web"
	"sundry/metrics/words"
	"sundry/proxy"
	"sundry/proxy/through"
	"sundry/upstreams/catalog"
)

// api says what would become of a request for an API that is served as it is.
func (x *Explainer) api(t *teller, a *catalog.API, r *http.Request) {
	h := &through.Handler{Settings: proxy.SettingsOf(a)}
	if len(a.Hosts) == 0 && !a.Everywhere {
		h.Prefix = x.BasePath + "/api/" + a.Name
	}
	f, known := through.Foreseen{Path: h.PathOf(r)}, false
	f.Key = a.Name + f.Path
	if x.Running != nil {
		if seen, ok := x.Running.Foresee(a.Name, r); ok {
			f, known = seen, true
		}
	}
	outcome, says := foretold(&f, known)
	t.Name, t.API, t.Outcome = a.Name, true, outcome
	t.part("answer", "Outcome", "结果")
	t.add("outcome", says)
	if known && f.Refused == 0 {
		t.add("Cache-Status", words.Name(f.Status.String()))
	}
	t.add("api", words.Say(strings.TrimSuffix(a.Name+": "+a.EN, ": "), strings.TrimSuffix(a.Name+"："+a.ZH, "：")))
	if f.Refused == http.StatusBadRequest {
		return
	}
	if !f.Unstored.IsZero() {
		t.add("hint", f.Unstored)
	}
	t.tellStoreKey(a, r, &f)
	t.tellRule(a, &f)
	t.tellVariants(&f, known)
	t.tellOrigins(a, x.Running != nil)
}

// foretold is what becomes of the request.
func foretold(f *through.Foreseen, known bool) (outcome string, says words.Text) {
	switch {
	case f.Refused == http.StatusBadRequest:
		return "invalid", words.Say("400: the path has a segment .., which may lead out of the API", "400：路径含有 .. 段，可能越出这个 API")
	case f.Refused != 0:
		return "error", words.Say("504: nothing stored answers it, and it asks for nothing else (only-if-cached)", "504：没有可用的缓存，而请求只要缓存（only-if-cached）")
	case !known:
		return "unknown", words.Say("not known: no running instance was asked, so what is stored and the breakers are not known", "未知：没有询问运行中的实例，已存储的响应和熔断器状态均不可知")
	case f.Selected != nil && f.Verdict == web.ReuseAndRefresh:
		return "stale", words.Say("served stale, and revalidated in the background", "返回过期的响应，同时在后台重新验证")
	case f.Selected != nil && f.Status.Hit:
		return "hit", words.Say("served from the cache, the origin is not asked", "从缓存返回，不请求源站")
	}
	outcomes := map[string]string{"request": "passed", "uri-miss": "miss", "vary-miss": "miss", "partial": "miss", "stale": "miss"}
	return outcomes[f.Status.Fwd], whyForwarded(f)
}

// whyForwarded is why the origin is asked.
func whyForwarded(f *through.Foreseen) words.Text {
	switch f.Status.Fwd {
	case "uri-miss":
		if f.Status.Detail != "" {
			return words.Say("the origin is asked: nothing is stored, and its responses cannot be shared", "请求源站：没有存储，其响应不可共享")
		}
		return words.Say("the origin is asked: nothing is stored of this URL", "请求源站：这个 URL 没有存储的响应")
	case "vary-miss":
		return words.Say("the origin is asked: no stored variant is for these request fields", "请求源站：没有适用于这些请求字段的变体")
	case "stale":
		return words.Say("the origin is asked whether the stored response may still be used: it is stale", "向源站重新验证：存储的响应已过期")
	case "partial":
		return words.Say("the origin is asked for the rest: a part is stored", "向源站请求其余部分：只存储了一部分")
	}
	return words.Say("the origin is asked: the request, or no-cache in the response, demands it", "请求源站：请求或响应的 no-cache 要求如此")
}

// tellStoreKey tells what a response is stored and selected by.
func (t *teller) tellStoreKey(a *catalog.API, r *http.Request, f *through.Foreseen) {
	t.part("key", "Key", "键")
	t.add("primary", words.Name("GET "+f.Key))
	if asked := a.Query.Apply(r.URL.RawQuery); asked != r.URL.RawQuery {
		t.add("query", words.Say("dropped or sorted before it is asked for (cache: drop, sort)", "请求之前去除或排序了参数（cache: drop、sort）"))
	}
	switch {
	case f.Selected != nil && len(f.Selected.Names)+len(f.Selected.Site) > 0:
		t.add("variant", selecting(f.Selected))
	case f.Selected == nil && len(f.Variants) > 0 && f.Variants[0].ByDefault && a.Rules.HasCredentials(r.Header):
		t.add("variant", words.Say("the stored one is fresh by cache: default, which is for requests without a cookie or a key", "存储的那一份的保鲜期来自 cache: default，只用于不带 Cookie 或密钥的请求"))
	case f.Selected == nil && len(f.Variants) > 0:
		t.add("variant", words.Sayf("by %s, of which no stored one matches", "按 %s，没有匹配的存储", strings.Join(selectors(f.Variants[0]), ", ")))
	}
}

// selectors returns what selects a variant: its site, and the names of request fields.
func selectors(o *web.Object) []string {
	if o.Site == "" {
		return o.Names
	}
	return append([]string{"site"}, o.Names...)
}

// selecting returns what selects a variant: its site, and request fields with their values, normalised or as a digest.
func selecting(o *web.Object) words.Text {
	var all []string
	if o.Site != "" {
		all = append(all, o.Site)
	}
	for _, name := range o.Names {
		all = append(all, strings.TrimSpace(name+": "+o.Selected[name]))
	}
	return words.Name(strings.Join(all, "; "))
}

// tellRule tells by what a stored response is used, or is to be stored.
func (t *teller) tellRule(a *catalog.API, f *through.Foreseen) {
	t.part("policy", "Rule (RFC 9111)", "规则（RFC 9111）")
	lines := a.Rules.Explain()
	if f.Selected != nil {
		lines = f.Selected.Explain(&a.Rules)
	}
	for _, line := range lines {
		t.add("rule", line)
	}
}

// tellVariants tells the responses that are stored of the URL.
func (t *teller) tellVariants(f *through.Foreseen, known bool) {
	t.part("entry", "Stored variants", "存储的变体")
	now := time.Now()
	switch {
	case !known:
		t.add("entry", words.Say("not known", "未知"))
	case len(f.Variants) == 0:
		t.add("entry", words.Say("none", "无"))
	}
	for _, o := range f.Variants {
		left := words.Sayf("still fresh for %s", "保鲜期还剩 %s", span(o.Left(now)))
		if o.Left(now) <= 0 {
			left = words.Sayf("stale for %s", "已过期 %s", span(o.Left(now)))
		}
		chosen, by := words.Text{}, words.Text{}
		if o == f.Selected {
			chosen = words.Say("; this one is selected", "；选中这一份")
		}
		if len(o.Names)+len(o.Site) > 0 {
			by = words.Sayf("; %s", "；%s", selecting(o))
		}
		t.add("variant", words.Sayf("%d %s, %d bytes, %s old, %s%s%s", "%d %s，%d 字节，已产生 %s，%s%s%s", o.Status, o.Header.Get("Content-Type"), len(o.Body), span(o.Age(now)), left, by, chosen))
	}
}

// tellOrigins tells where an API is asked, in order.
func (t *teller) tellOrigins(a *catalog.API, known bool) {
	t.part("origins", "Origins, in order", "源站（按顺序）")
	for _, target := range a.Targets {
		says := []words.Text{words.Say("breaker not known", "熔断器状态未知")}
		switch {
		case target.Host == nil:
			says = []words.Text{words.Say("without a breaker", "没有熔断器")}
		case known:
			says = []words.Text{breaker(target.Host)}
		}
		if target.Quota != nil && known {
			says = append(says, quotaLeft(target.Quota, time.Now())...)
		}
		if target.Check.Out() {
			says = append(says, words.Say("asked last, because its health checks fail", "健康检查未通过，最后才使用"))
		}
		t.named(target.Address(), joined(says))
	}
}

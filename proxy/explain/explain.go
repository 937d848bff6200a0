// Package explain says what would become of a request, in words for operators. It promises that no upstream is asked for it,
// and that nothing personal and no secret is repeated.
package explain

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"sundry/cache"
	"sundry/cache/web"
	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/proxy/site/pages"
	"sundry/proxy/through"
	"sundry/proxy/uri"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/host"
)

// Explainer explains requests by a catalog.
type Explainer struct {
	Catalog *catalog.Catalog
	// BasePath is what the public paths begin with, such as /tools; "": nothing.
	BasePath string
	// Running is the instance that would answer; nil: entries, breakers and the like are not known.
	Running *Running
}

// Running is what an instance knows beside its catalog.
type Running struct {
	// Spaces returns the cache spaces of an endpoint, that of its answers first.
	Spaces func(endpoint string) []*cache.Space
	// Journal has the attempts.
	Journal *upstreams.Journal
	// Foresee says what would become of a request for an API; false: there is none of that name.
	Foresee func(api string, r *http.Request) (through.Foreseen, bool)
}

// Explanation is what would become of one request.
type Explanation struct {
	// Name is the endpoint or API, "" for none; API tells which.
	Name string `json:"name"`
	API  bool   `json:"api"`
	// Outcome is hit, stale, miss, negative, bypass, invalid or error, as in metrics; forbidden; passed, for what an API's origin
	// is always asked; unknown; or, where no endpoint and no API is, page or not_found.
	Outcome string `json:"outcome"`
	Parts   []Part `json:"parts"`
}

// Part is one aspect: answer, parameters, key, policy, entry, sources or origins. Of a refused
// request there are only the first two, and where nothing is served only the first.
type Part struct {
	ID    string `json:"part"`
	Title string `json:"title"`
	Facts []Fact `json:"facts"`
}

// Fact is one line of a part: what it is about, by which programs know it, the same for people, and words.
type Fact struct {
	About string `json:"about"`
	Label string `json:"label"`
	Says  string `json:"says"`
}

// teller writes an Explanation, part by part.
type teller struct {
	Explanation
	in i18n.Language
}

// part begins the next part.
func (t *teller) part(id, en, zh string) {
	t.Parts = append(t.Parts, Part{ID: id, Title: t.in.Say(en, zh), Facts: []Fact{}})
}

// add is the next fact of the last part.
func (t *teller) add(about string, says words.Text) {
	t.named(about, says)
	facts := t.Parts[len(t.Parts)-1].Facts
	facts[len(facts)-1].Label = t.in.Of(words.Say(about, cmp.Or(labels[about], about)))
}

// named is add for what has a name of its own, such as a parameter.
func (t *teller) named(name string, says words.Text) {
	p := &t.Parts[len(t.Parts)-1]
	p.Facts = append(p.Facts, Fact{name, name, t.in.Of(says)})
}

// labels are what facts are about, in Chinese.
var labels = map[string]string{
	"outcome": "结果", "endpoint": "接口", "form": "格式", "picture": "图片", "prefix": "前缀", "key": "缓存键", "rule": "规则", "live": "运行中更改",
	"shared": "共享", "entry": "条目", "tier": "层", "age": "时长", "freshness": "新鲜度", "edition": "期", "source": "数据源", "api": "API",
	"primary": "主键", "query": "查询串", "variant": "变体", "hint": "提示",
}

// Request makes the GET that is explained of a URL, or a path with its query, and of fields such as "Accept-Language: de". Its
// error is a words.Teller.
func Request(target string, fields []string) (*http.Request, error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" || !strings.HasPrefix(u.Path, "/") && u.Host == "" {
		return nil, words.NewError("expected a URL, or a path with its query, such as /api/ip?ip=8.8.8.8", "应为 URL，或路径加查询串，例如 /api/ip?ip=8.8.8.8")
	}
	r := &http.Request{Method: http.MethodGet, URL: uri.Normal(u), Host: u.Host, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	for _, field := range fields {
		name, value, ok := strings.Cut(field, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, words.NewError("a request field: expected its name and value, such as Accept-Language: de", "请求字段：应为名称和值，例如 Accept-Language: de")
		}
		r.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return r, nil
}

// Explain says what would become of a request of a caller.
func (x *Explainer) Explain(r *http.Request, caller netip.Addr, in i18n.Language) *Explanation {
	below, inside := strings.CutPrefix(r.URL.Path, x.BasePath)
	t := &teller{in: in}
	if a := x.apiAt(r, below, inside); a != nil {
		x.api(t, a, r)
		return &t.Explanation
	}
	name, ok := strings.CutPrefix(below, "/api/")
	name, tail, _ := strings.Cut(name, "/")
	e, known := x.Catalog.Get(name)
	if ok && inside && known && (tail == "" || tail == "index.php") {
		x.endpoint(t, e, r, caller)
	} else {
		x.elsewhere(t, below, inside)
	}
	return &t.Explanation
}

// elsewhere tells of a path, below the base path or outside of that, at which no endpoint and no API is.
func (x *Explainer) elsewhere(t *teller, path string, inside bool) {
	t.part("answer", "Outcome", "结果")
	if inside && x.isPage(path) {
		t.Outcome = "page"
		t.add("outcome", words.Say("200: a page or a file of the service; no source is asked", "200：服务自身的页面或文件，不请求数据源"))
		return
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/"), "api/"), "/")
	meant, near := words.Text{}, x.Catalog.Nearest(name)
	if a, ok := x.Catalog.API(near); ok && len(a.Hosts) > 0 {
		meant = words.Sayf("; %s is at %s", "；%s 的地址为 %s", near, words.Names(a.Hosts...))
	} else if near != "" {
		meant = words.Sayf("; did you mean %s?", "；是不是 %s？", x.BasePath+"/api/"+near)
	}
	t.Outcome = "not_found"
	t.add("outcome", words.Sayf("404: there is no such endpoint%s", "404：没有这个接口%s", meant))
	t.add("error.type", words.Name("not_found"))
}

// isPage reports whether there is a page or a file at a path below the base path.
func (x *Explainer) isPage(path string) bool {
	name, ofEndpoint := strings.CutPrefix(strings.TrimSuffix(path, "/"), pages.ReferencePath+"/")
	_, known := x.Catalog.Get(name)
	if _, isAPI := x.Catalog.API(name); ofEndpoint {
		return known || isAPI
	}
	return pages.IsCommon(path)
}

// apiAt is the API that a request is for; nil: none.
func (x *Explainer) apiAt(r *http.Request, below string, inside bool) *catalog.API {
	name, isAPI := strings.CutPrefix(below, "/api/")
	name, _, _ = strings.Cut(name, "/")
	if a := x.Catalog.Named(strings.ToLower(r.URL.Hostname())); a != nil {
		return a
	}
	for _, a := range x.Catalog.APIs {
		if a.Everywhere || inside && isAPI && a.Name == name && len(a.Hosts) == 0 {
			return a
		}
	}
	return nil
}

// breaker is the state of a host's breaker in words.
func breaker(h *host.Host) words.Text {
	held := words.Text{}
	if h.Forced() != host.Unforced {
		held = words.Say(", held by an operator", "（由运维保持）")
	}
	switch h.State() {
	case "open":
		return words.Sayf("%s: breaker open, not called%s", "%s：熔断器断开，不调用%s", h.Name, held)
	case "half-open":
		return words.Sayf("%s: breaker half-open, a few probes pass%s", "%s：熔断器半开，只放行少量探测%s", h.Name, held)
	}
	return words.Sayf("%s: breaker closed%s", "%s：熔断器闭合%s", h.Name, held)
}

// span is a duration for people: what is long is rounded.
func span(d time.Duration) words.Text {
	for _, unit := range [...]time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d.Abs() >= 3*unit {
			return exactly(d.Abs().Round(unit))
		}
	}
	if d.Abs() >= time.Second {
		return web.Span(d.Abs())
	}
	return exactly(d.Abs())
}

// exactly is a duration as it was declared.
func exactly(d time.Duration) words.Text {
	if d < 2*time.Second {
		return words.Sayf("%d ms", "%d 毫秒", d.Milliseconds())
	}
	return web.Span(d)
}

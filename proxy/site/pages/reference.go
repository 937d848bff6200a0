package pages

import (
	"bytes"
	"cmp"
	"maps"
	"net/url"
	"slices"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/plainjson"
)

// reference is what the page of an endpoint shows.
type reference struct {
	Name, Title, Summary string
	// Path of the endpoint, and of where it tells what it would redirect to; with the base
	// path.
	Path, Target string
	// Shape of the default form.
	Shape           apidoc.Shape
	Inputs, Shaping []parameter
	Personal        bool // some of the input is
	Codes           []code
	Forms           []formRow
	Fields          []fieldRow
	Errors          []apidoc.Error
	Caching, Limits []string
	Calls           []exampleCall
	Answers         []answer
	// Templates of the codes and Words of the script, as JSON.
	Templates, Words string
}

// code is a call in a programming language.
type code struct{ ID, Title, Text string }

// exampleCall is a link that shows the endpoint.
type exampleCall struct{ URL, Title string }

// exampleOrigin is where the service is by default.
const exampleOrigin = "http://localhost:8080"

// origin is where programs call this service. Where nobody knows its address, the page's
// script puts the one that the page came from in the place of the example.
func (s *Set) origin() string { return cmp.Or(s.cfg.PublicURL, exampleOrigin) }

// target is where an endpoint tells what it would redirect to.
func (s *Set) target(e *catalog.Endpoint) string { return s.url(EndpointPath(e) + "/target") }

// reference is the page of an endpoint.
func (s *Set) reference(e *catalog.Endpoint, l i18n.Language) (view, error) {
	answered := s.cfg.API.SampleOf(e)
	r := &reference{
		Name: e.Name, Title: l.Of(e.Title), Summary: l.Say(e.EN, e.ZH), Path: s.url(apiPath(e)), Target: s.target(e),
		Shape: apidoc.FormOf(e.Forms[0]).Shape, Forms: formRows(l, e), Fields: fieldRows(l, "", e.Fields, answered.Shape),
		Errors: apidoc.ErrorsOf(e, s.cfg.Errors(l)), Personal: e.Personal(), Calls: s.exampleCalls(e, l), Limits: s.limits(l, e),
	}
	for _, sentence := range Caching(e) {
		r.Caching = append(r.Caching, l.Of(sentence))
	}
	r.Inputs, r.Shaping = parameters(l, e)
	templates := snippetsOf(e)
	for _, p := range programmings() {
		one := templates[p.ID][r.Shape]
		r.Codes = append(r.Codes, code{p.ID, p.Title, one.fill(s.origin()+r.Path, initialPairs(r))})
	}
	r.Answers = answersOf(l, e, &answered)
	var err error
	if r.Templates, err = asJSON(templates); err != nil {
		return view{}, err
	}
	if r.Words, err = asJSON(triedWords(l)); err != nil {
		return view{}, err
	}
	return view{Template: "reference", Section: ReferencePath, Title: r.Title, Description: r.Summary, Redirects: mayRedirect(e), Data: r}, nil
}

// initialPairs are the parameters of the form as it first stands.
func initialPairs(r *reference) []pair {
	var all []pair
	for _, list := range [][]parameter{r.Inputs, r.Shaping} {
		for i := range list {
			if list[i].Value != "" {
				all = append(all, pair{list[i].Name, list[i].Value})
			}
		}
	}
	return all
}

// exampleCalls are calls that show the endpoint.
func (s *Set) exampleCalls(e *catalog.Endpoint, l i18n.Language) []exampleCall {
	var all []exampleCall
	for _, c := range fixtures.Calls(e) {
		to := url.URL{Path: s.cfg.BasePath + apiPath(e), RawQuery: c.Query}
		all = append(all, exampleCall{to.String(), l.Say(c.EN, c.ZH)})
	}
	return all
}

// triedWords are what the page's script says.
func triedWords(l i18n.Language) map[string]string {
	words := map[string]string{
		"sending": l.Say("Waiting for the response …", "正在请求……"),
		"offline": l.Say("The service could not be reached.", "无法连接到服务。"),
		"failed":  l.Say("The request failed.", "请求失败。"),
		"done":    l.Say("Response in {ms} ms.", "已返回，用时 {ms} 毫秒。"),
		"copied":  l.Say("Copied", "已复制"),
		"status":  l.Say("Status", "状态"), "time": l.Say("Time", "用时"), "ms": l.Say("{n} ms", "{n} 毫秒"),
		"cache": l.Say("Cache", "缓存"), "age": l.Say("Age", "已缓存"), "source": l.Say("Source", "数据源"),
		"type": l.Say("Type", "类型"), "size": l.Say("Size", "大小"), "error": l.Say("Error", "错误"),
		"redirects": l.Say("It redirects to", "跳转到"), "opens": l.Say("Open the page", "打开网页"),
		"pixels": l.Say("{w} × {h} pixels", "{w} × {h} 像素"), "picture": l.Say("The image that was returned", "返回的图片"),
	}
	maps.Copy(words, cacheWords(l))
	return words
}

// cacheWords are what the script makes of Cache-Status.
func cacheWords(l i18n.Language) map[string]string {
	return map[string]string{
		"hit":       l.Say("hit", "命中"),
		"stale":     l.Say("hit, being refreshed", "命中，正在后台刷新"),
		"miss":      l.Say("miss, asked a source", "未命中，已询问数据源"),
		"refreshed": l.Say("expired, asked a source", "已过期，已重新询问数据源"),
		"fallback":  l.Say("old copy, because no source answered", "数据源不可用，返回旧响应"),
		"bypass":    l.Say("not cached", "不缓存"),
		"collapsed": l.Say("together with another request", "与其他请求合并"),
		"memory":    l.Say("in memory", "内存"), "redis": "Redis",
		"lastresort": l.Say("makeshift response", "兜底的响应"),
		"seconds":    l.Say("{n} s", "{n} 秒"), "minutes": l.Say("{n} min", "{n} 分钟"), "hours": l.Say("{n} h", "{n} 小时"), "days": l.Say("{n} d", "{n} 天"),
	}
}

// mayRedirect reports whether the endpoint sends its callers to other sites.
func mayRedirect(e *catalog.Endpoint) bool {
	return slices.ContainsFunc(e.Forms, func(f *catalog.Form) bool { return f.Kind == "redirect" })
}

// asJSON is for attributes that the script reads.
func asJSON(v any) (string, error) {
	var b bytes.Buffer
	err := plainjson.NewEncoder(&b).Encode(v)
	return b.String(), err
}

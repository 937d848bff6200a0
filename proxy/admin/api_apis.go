package admin

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/cache/policy"
	"sundry/cache/web"
	"sundry/metrics/words"
	"sundry/proxy/live"
	"sundry/proxy/uri"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/redact"
)

// apiView is an API that is served as it is.
type apiView struct {
	Name  string            `json:"name"`
	Title map[string]string `json:"title"`
	EN    string            `json:"en"`
	ZH    string            `json:"zh"`
	To    []string          `json:"to"`
	Hosts []string          `json:"hosts"`
	Path  string            `json:"path,omitempty"` // below which it is, without hosts
	Kept  int               `json:"kept"`           // responses, on this instance
	Bytes int               `json:"bytes"`
	// Rules by which responses are kept, each by language.
	Rules []map[string]string `json:"rules"`
	// Unstored says, by language, why none of the first responses could be stored, and what to do.
	Unstored map[string]string `json:"unstored,omitempty"`
	// Declared: a file says so, and not an option.
	Declared bool `json:"declared"`
}

// apis lists those that are served as they are.
func (a *api) apis(*http.Request) (any, error) {
	views := []apiView{}
	for _, one := range a.Catalog().APIs {
		v := apiView{Name: one.Name, Title: titles(one.Title), EN: one.EN, ZH: one.ZH, Hosts: orEmpty(one.Hosts), Path: a.pathOf(one)}
		for _, to := range one.Targets {
			v.To = append(v.To, to.Address())
		}
		for _, rule := range one.Rules.Explain() {
			v.Rules = append(v.Rules, titles(rule))
		}
		if line := a.Unstored(one.Name); !line.IsZero() {
			v.Unstored = titles(line)
		}
		_, v.Declared = a.Declaration(one.Name)
		v.Kept, v.Bytes = a.countKept(&web.Purge{At: time.Now(), Prefix: one.Name + "/"})
		views = append(views, v)
	}
	return map[string]any{"apis": views}, nil
}

// pathOf is the path below which an API is; "" for one with names of its own.
func (a *api) pathOf(one *catalog.API) string {
	switch {
	case one.Everywhere:
		return "/"
	case len(one.Hosts) > 0:
		return ""
	}
	return a.PublicPath + "/api/" + one.Name + "/"
}

// keptView is a response that is kept of an API.
type keptView struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	Type   string `json:"type,omitempty"`
	ETag   string `json:"etag,omitempty"`
	Bytes  int    `json:"bytes"`
	AgeS   int64  `json:"age_s"`
	LeftS  int64  `json:"left_s"` // freshness left; negative when stale
	// Site is the public address that the origin was told, for example https://example.org.
	Site string `json:"site,omitempty"`
	// Vary are the request fields that select it, each with the value of its request: normalised, or as a digest.
	Vary   map[string]string `json:"vary,omitempty"`
	Tags   []string          `json:"tags,omitempty"`
	Groups []string          `json:"groups,omitempty"`
	Part   string            `json:"part,omitempty"` // such as bytes 0-99/200
}

func newKeptView(name, uri string, o *web.Object, now time.Time) keptView {
	v := keptView{
		URL: redact.Query(strings.TrimPrefix(uri, name)), Status: o.Status, Type: o.Header.Get("Content-Type"), ETag: o.Tag(), Bytes: len(o.Body),
		AgeS: int64(o.Age(now) / time.Second), LeftS: int64(o.Left(now) / time.Second), Site: o.Site, Tags: o.Tags, Groups: o.Groups,
	}
	if o.Part != nil {
		v.Part = o.Part.ContentRange(o.Part.Total)
	}
	for _, field := range o.Names {
		if v.Vary == nil {
			v.Vary = map[string]string{}
		}
		v.Vary[field] = o.Selected[field]
	}
	return v
}

// kept lists what this instance keeps of an API, the newest first: by URL, prefix, tag or cache group, or all.
func (a *api) kept(r *http.Request) (any, error) {
	name, query := r.PathValue("name"), r.URL.Query()
	if _, ok := a.Catalog().API(name); !ok {
		return nil, noEndpoint(name)
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 || limit > maxEntries {
		limit = 100
	}
	of := a.asKept(name, selection{query.Get("url"), query.Get("prefix"), query.Get("tag"), query.Get("group")})
	p, err := of.purge(name, false)
	if err != nil {
		return nil, err
	}
	now, views, bytes := time.Now(), []keptView{}, 0
	p.At = now.Add(time.Hour) // all of them: what comes from another instance may be dated a little ahead
	a.Store.Walk(&p, func(uri string, o *web.Object) bool {
		views = append(views, newKeptView(name, uri, o, now))
		bytes += len(o.Body)
		return true
	})
	slices.SortFunc(views, func(x, y keptView) int { return int(x.AgeS - y.AgeS) })
	return map[string]any{"entries": views[:min(limit, len(views))], "total": len(views), "bytes": bytes}, nil
}

// selection says which responses of an API are meant; all empty: all.
type selection struct{ url, prefix, tag, group string }

// asKept is a selection with its URL as responses are kept by it: in the one form of its path, and where the file of the API drops or sorts
// parameters. The last segment of a prefix may be incomplete.
func (a *api) asKept(name string, of selection) selection {
	if one, ok := a.Catalog().API(name); ok {
		path, query, asked := strings.Cut(of.url, "?")
		of.url = one.Query.URI(uri.Normalize(path), query, asked && query == "")
		path, query, asked = strings.Cut(of.prefix, "?")
		last := strings.LastIndexByte(path, '/') + 1
		if asked {
			last, query = len(path), "?"+query
		}
		of.prefix = uri.Normalize(path[:last]) + uri.Normalize(path[last:]) + query // a last segment "." may be the beginning of another
	}
	return of
}

// text is the selection as an order has it.
func (s selection) text() (text string, err error) {
	given := 0
	for word, value := range map[string]string{"url": s.url, "prefix": s.prefix, "tag": s.tag, "group": s.group} {
		if value != "" {
			text = word + " " + value
			given++
		}
	}
	switch given {
	case 0:
		return "prefix /", nil
	case 1:
		return text, nil
	}
	return "", badRequest("expected one of url, prefix, tag and group", "url、prefix、tag、group 只能给出一个")
}

// purge is the selection as a purge of an API.
func (s selection) purge(api string, soft bool) (web.Purge, error) {
	text, err := s.text()
	if err != nil {
		return web.Purge{}, err
	}
	p, err := web.ParsePurge(api, text)
	p.Soft = soft
	if err != nil {
		return p, badRequest("%q: expected a path that begins with / after url and prefix, such as /news/, and a tag without spaces and commas",
			"%q：url 和 prefix 之后应为以 / 开头的路径，例如 /news/；标签不能含空格和逗号", text)
	}
	return p, nil
}

// countKept counts what a purge would be about on this instance.
func (a *api) countKept(p *web.Purge) (n, bytes int) {
	a.Store.Walk(p, func(_ string, o *web.Object) bool {
		n++
		bytes += len(o.Body)
		return true
	})
	return n, bytes
}

// purgeAPI makes what is kept of an API stale, or removes it, on every instance; a preview counts it on this one.
func (a *api) purgeAPI(r *http.Request, name string, of selection, soft, preview bool) (any, error) {
	of = a.asKept(name, of)
	p, err := of.purge(name, soft)
	if err != nil {
		return nil, err
	}
	p.At = time.Now()
	n, bytes := a.countKept(&p)
	if preview {
		return map[string]any{"entries": n, "bytes": bytes}, nil
	}
	c := live.Change{Do: live.DoPurge, Target: name, Hard: !soft}
	if of != (selection{}) {
		text, _ := of.text() // it was read above
		if soft {
			text = "soft " + text
		}
		c = live.Change{Do: live.DoDrop, Target: name, Key: text}
	}
	record, err := a.change(r, c)
	if err != nil {
		return nil, err
	}
	return purgeView{n, bytes, record, record.Pending}, nil
}

// purgeByMethod answers the method PURGE, as other caches do: of the path below which the API is, or with its Host. With
// Cache-Tag or Surrogate-Key it is about what has that tag, of all APIs at / where none is there, with Soft-Purge: 1 that becomes stale.
// Cache-Groups is the same for a cache group (RFC 9875). Other names of such a field are refused: without it, something else would be purged.
func (a *api) purgeByMethod(r *http.Request) (any, error) {
	for _, name := range [...]string{"Cache-Tags", "Surrogate-Keys", "Xkey"} {
		if r.Header[name] != nil {
			return nil, badRequest("%s: expected Cache-Tag or Surrogate-Key, such as Cache-Tag: news", "%s：应为 Cache-Tag 或 Surrogate-Key，例如 Cache-Tag: news", name)
		}
	}
	name, path, ok := a.Resolve(r)
	of, soft := selection{url: path}, r.Header.Get("Soft-Purge") == "1"
	if tags := cmp.Or(strings.Join(r.Header["Cache-Tag"], ","), strings.Join(r.Header["Surrogate-Key"], ",")); tags != "" {
		of = selection{tag: tags} // several are refused
	}
	if lines := r.Header["Cache-Groups"]; lines != nil {
		groups := web.GroupsIn(lines)
		if len(groups) != 1 || groups[0] == "" || of.tag != "" {
			return nil, badRequest("Cache-Groups: expected one string in quotation marks, such as Cache-Groups: \"news\", and no tag", "Cache-Groups：应为一个带双引号的字符串，例如 Cache-Groups: \"news\"，且不能同时给出标签")
		}
		of = selection{group: groups[0]}
	}
	switch {
	case ok:
		return a.purgeAPI(r, name, of, soft, false)
	case (of.tag != "" || of.group != "") && r.URL.Path == "/" && len(a.Catalog().APIs) > 0:
		return a.purgeEverywhere(r, of, soft)
	}
	return nil, refuse(http.StatusNotFound, a.nothingToPurge(r))
}

// purgesView is what a purge of several APIs reached in this instance's near tier.
type purgesView struct {
	Entries int          `json:"entries"`
	Bytes   int          `json:"bytes"`
	Changes []recordView `json:"changes"` // one of each API
	Pending bool         `json:"pending,omitempty"`
}

func (p purgesView) status() int {
	code := http.StatusOK
	for _, c := range p.Changes {
		code = max(code, c.status())
	}
	return code
}

// purgeEverywhere purges the same of each API.
func (a *api) purgeEverywhere(r *http.Request, of selection, soft bool) (any, error) {
	var all purgesView
	for _, one := range a.Catalog().APIs {
		v, err := a.purgeAPI(r, one.Name, of, soft, false)
		if err != nil {
			return nil, err
		}
		if p, ok := v.(purgeView); ok {
			all.Entries, all.Bytes, all.Pending = all.Entries+p.Entries, all.Bytes+p.Bytes, all.Pending || p.Pending
			all.Changes = append(all.Changes, p.Change)
		}
	}
	return all, nil
}

// nothingToPurge says what is at the place of a PURGE that is about no API, or where APIs are.
func (a *api) nothingToPurge(r *http.Request) words.Text {
	below, _ := strings.CutPrefix(r.URL.Path, a.PublicPath+"/api/")
	name, _, _ := strings.Cut(below, "/")
	if _, ok := a.Catalog().Get(name); ok {
		return words.Sayf("%s is an endpoint; purge it by POST purge of the admin API, with {\"endpoint\":\"%[1]s\",\"mode\":\"hard\"}",
			"%s 是接口；请用管理接口的 POST purge 清除：{\"endpoint\":\"%[1]s\",\"mode\":\"hard\"}", name)
	}
	var places []string
	for _, one := range a.Catalog().APIs {
		places = append(places, cmp.Or(a.pathOf(one), "Host: "+strings.Join(one.Hosts, ", "))+" ("+one.Name+")")
	}
	if len(places) == 0 {
		return words.Sayf("no API is at %q, nor anywhere: no catalog file has proxy:", "%q处没有 API：没有目录文件声明 proxy:", r.URL.Path)
	}
	return words.Sayf("no API is at %q; expected one of these places: %s", "%q处没有 API；可用的位置：%s", r.URL.Path, strings.Join(places, "; "))
}

// countAllKept counts what is kept of APIs, if a purge is one of everything.
func (a *api) countAllKept(endpoint string) (n, bytes int) {
	if endpoint != policy.AllEndpoints || a.Store == nil {
		return 0, 0
	}
	return a.countKept(&web.Purge{At: time.Now()})
}

package web

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/metrics/words"
)

// Explain says in words, for operators, what becomes of a response to a GET: whether it is stored, for how long it is fresh and
// why, what is done once it is stale, and which other requests it is not for.
func Explain(q *Request, r *Response, rules *Rules) []words.Text {
	t := TermsOf(r, rules)
	if reason := NotStored(q, r, &t, rules); reason != MayBeStored {
		return []words.Text{words.Sayf("not stored because %s", "不缓存，因为%s", reason.explain(r, &t, rules))}
	}
	return t.explain(r, rules)
}

// Explain is Explain for what is stored.
func (o *Object) Explain(rules *Rules) []words.Text { return o.explain(&o.Response, rules) }

func (t *Terms) explain(r *Response, rules *Rules) []words.Text {
	lines := []words.Text{explainLifetime(r, t, rules)}
	if t.NoCache {
		lines[0] = words.Say("stored, but revalidated before each use because of no-cache", "会缓存，但因为 no-cache，每次使用前都要重新验证")
	}
	lines = append(lines, explainValidator(r.Header))
	lines = append(lines, t.explainStale()...)
	if names, _ := varyFields(r.Header, rules.Ignored); len(names) > 0 {
		lines = append(lines, words.Sayf("for requests with the same %s", "只用于 %s 相同的请求", strings.Join(names, ", ")))
	}
	return lines
}

// ExplainDefault says in words for how long a response is fresh that says nothing, with a line for each lifetime.
func (rules *Rules) ExplainDefault() (lines []words.Text) {
	byLifetime := map[time.Duration][]string{}
	var lifetimes []time.Duration
	for _, status := range slices.Sorted(maps.Keys(rules.Default)) {
		d := rules.Default[status]
		if byLifetime[d] == nil {
			lifetimes = append(lifetimes, d)
		}
		byLifetime[d] = append(byLifetime[d], strconv.Itoa(status))
	}
	for _, d := range lifetimes {
		lines = append(lines, words.Sayf("a response that says nothing: fresh for %s if its status is %s (cache: default)", "未声明的响应：%s，状态码为 %s（cache: default）", Span(d), words.Names(byLifetime[d]...)))
	}
	if rules.HeuristicShare > 0 {
		which := words.Say("a response that says nothing", "未声明的响应")
		if len(lines) > 0 {
			which = words.Say("any other that says nothing", "其他未声明的响应")
		}
		lines = append(lines, words.Sayf("%s: fresh for %.4g %% of the time since its Last-Modified, at most %s (cache: heuristic)", "%s：取距 Last-Modified 时间的 %.4g %%，最长 %s（cache: heuristic）", which, 100*rules.HeuristicShare, Span(rules.HeuristicMost)))
	}
	return lines
}

// Explain says in words what the rules add, or take away, where nothing is stored that would say more.
func (rules *Rules) Explain() []words.Text {
	var names []string
	for _, name := range append(slices.Clone(rules.Targets), "Cache-Control", "Expires") {
		names = append(names, asWritten(name))
	}
	lines := []words.Text{words.Sayf("fresh for as long as the response says, by the first that it has of %s", "保鲜期以响应的声明为准，依次看 %s，取最先有的一项", words.Names(names...))}
	lines = append(lines, rules.ExplainDefault()...)
	if len(rules.Default) > 0 && !rules.CredentialsShared {
		lines = append(lines, words.Sayf("cache: default is only for requests without %s (cache: credentials)", "cache: default 只用于不带 %s 的请求（cache: credentials）", words.Names(rules.credentials()...)))
	}
	if rules.CredentialsShared {
		lines = append(lines, words.Say("what says nothing is shared, whatever a request has in Cookie, X-Api-Key and X-Auth-Token (cache: credentials: shared)", "未声明的响应由所有请求共用，不论其 Cookie、X-Api-Key、X-Auth-Token 为何（cache: credentials: shared）"))
	}
	if rules.Most > 0 {
		lines = append(lines, words.Sayf("never for longer than %s (cache: most)", "最长 %s（cache: most）", Span(rules.Most)))
	}
	windows := Terms{WhileRevalidate: rules.StaleWhileRevalidate, IfError: rules.StaleIfError}
	for _, s := range windows.explainStale() {
		lines = append(lines, words.Sayf("where it says nothing: %s", "未声明时：%s", s))
	}
	if rules.NoCookies {
		lines = append(lines, words.Say("not stored where it sets a cookie (cache: cookies: never)", "设置 Cookie 的响应不缓存（cache: cookies: never）"))
	}
	return lines
}

// explain returns the words for the reason for which a response is not stored.
func (reason Reason) explain(r *Response, t *Terms, rules *Rules) words.Text {
	switch reason {
	case Incomplete:
		return words.Sayf("status %d is no whole answer", "状态码 %d 不是完整的响应", r.Status)
	case RefusedAlone:
		return words.Sayf("status %d refuses this request alone", "状态码 %d 只是拒绝这一个请求", r.Status)
	case NotUnderstood:
		return words.Sayf("of must-understand with the unknown status %d", "声明了 must-understand，而状态码 %d 未知", r.Status)
	case VaryMany:
		return words.Sayf("Vary names more than %d fields", "Vary 列出的字段超过 %d 个", maxVary)
	case InManyGroups:
		return words.Sayf("Cache-Groups names more than %d groups", "Cache-Groups 列出的组超过 %d 个", maxGroups)
	case StatusWithoutLifetime:
		return words.Sayf("status %d is only stored if the answer says for how long it is fresh", "状态码为 %d 的响应只有声明了保鲜期才缓存", r.Status)
	case SaysNothing, WithoutLifetime, NeverFresh:
		return explainUseless(r, t, rules)
	}
	return explained[reason]
}

// explained are the words for the reasons that are the same for all responses.
var explained = map[Reason]words.Text{
	SaysNoStore:    words.Say("of no-store", "声明了 no-store"),
	SaysPrivate:    words.Say("of private", "声明了 private"),
	RequestNoStore: words.Say("the request has no-store", "请求带有 no-store"),
	PartOfNothing:  words.Say("a 206 without Content-Range is no part of anything", "206 没有 Content-Range，不知是哪一部分"),
	Authorized:     words.Say("the request has Authorization, and the answer has none of public, must-revalidate, s-maxage", "请求带有 Authorization，而响应没有 public、must-revalidate 或 s-maxage"),

	CookiesNever:              words.Say("it sets a cookie (cache: cookies: never)", "它设置了 Cookie（cache: cookies: never）"),
	CookieWithoutLifetime:     words.Say("it sets a cookie, and is not fresh by what it says", "它设置了 Cookie，又没有声明尚未用完的保鲜期"),
	CookieByCookie:            words.Say("it sets a cookie, and is selected by cookies (Vary)", "它设置了 Cookie，又按 Cookie 选取（Vary）"),
	DefaultWithCredentials:    words.Say("the request has a cookie or a key, the answer does not say how long it is fresh, and cache: default is only for requests without (cache: credentials)", "请求带有 Cookie 或密钥，响应没有声明保鲜期，而 cache: default 只用于不带它们的请求（cache: credentials）"),
	UndeclaredWithCredentials: words.Say("the request has a cookie or a key, and but for its date the answer does not say how long it is fresh, or which one it is", "请求带有 Cookie 或密钥，而响应的保鲜期或版本只有日期可依"),

	VaryAny:       words.Say("of Vary: *", "声明了 Vary: *"),
	VaryMalformed: words.Say("Vary has something that is no name of a field", "Vary 中有不是字段名的内容"),
	VaryByClient:  words.Say("of Vary: X-Forwarded-For, which differs from caller to caller", "声明了 Vary: X-Forwarded-For，而它因来访者而异"),
	Disguised:     words.Say("the request has a field of Vary with _ in the place of -, which an origin may take for it", "请求中有 Vary 所列的字段，但以 _ 代替了 -，源站可能把两者混为一谈"),
	TooLarge:      words.Say("its body is larger than cache: body", "正文超过 cache: body"),
}

// explainUseless returns the words for a response that is neither fresh nor can be validated.
func explainUseless(r *Response, t *Terms, rules *Rules) words.Text {
	why := because(r, t, rules)
	if t.Lifetime > 0 {
		why = words.Sayf("it is %s old already, and fresh for %s because %s", "它已产生 %s，保鲜期为 %s（%s）", Span(t.Age(r.Received)), Span(t.Lifetime), why)
	}
	return words.Sayf("%s, and it has no ETag or Last-Modified to be revalidated by", "%s，又没有可供验证的 ETag 或 Last-Modified", why)
}

// explainLifetime is for how long a response is fresh, and why.
func explainLifetime(r *Response, t *Terms, rules *Rules) words.Text {
	why := because(r, t, rules)
	switch old := t.Age(r.Received); {
	case t.Lifetime <= 0:
		return words.Sayf("stale at once because %s", "立即过期，因为%s", why)
	case old >= t.Lifetime:
		return words.Sayf("stale at once: it is %s old already, and fresh for %s because %s", "立即过期：它已产生 %s，保鲜期为 %s（%s）", Span(old), Span(t.Lifetime), why)
	case old >= time.Second:
		return words.Sayf("fresh for %s because %s, of which %s are over", "保鲜期 %s，因为%s，其中 %s 已过", Span(t.Lifetime), why, Span(old))
	}
	return words.Sayf("fresh for %s because %s", "保鲜期 %s，因为%s", Span(t.Lifetime), why)
}

// because is why a response is fresh for its lifetime.
func because(r *Response, t *Terms, rules *Rules) words.Text {
	why := words.Say("nothing says for how long", "没有任何声明")
	switch _, byDefault := rules.Default[r.Status]; {
	case t.Explicit:
		said := saysLifetime(r, t, rules)
		why = words.Sayf("%s", " %s", said)
	case byDefault:
		why = words.Sayf("cache: default has %s for status %d", " cache: default 规定为 %s（状态码 %d）", Span(rules.Default[r.Status]), r.Status)
	case t.Lifetime > 0 && t.Lifetime == rules.HeuristicMost:
		why = words.Say("cache: heuristic_most bounds the time that follows from Last-Modified", " cache: heuristic_most 限制了由 Last-Modified 推算的时间")
	case t.Lifetime > 0:
		why = words.Sayf("that is %.4g %% of the time since Last-Modified (cache: heuristic)", "这是距 Last-Modified 时间的 %.4g %%（cache: heuristic）", 100*rules.HeuristicShare)
	}
	if rules.Most > 0 && t.Lifetime == rules.Most {
		why = words.Sayf("%s, bounded by cache: most", "%s，受 cache: most 限制", why)
	}
	return why
}

// saysLifetime is what in a response says for how long it is fresh, with the field that stands in the place of Cache-Control.
func saysLifetime(r *Response, t *Terms, rules *Rules) string {
	said := ""
	switch {
	case t.SMaxAge.Given:
		said = argument("s-maxage", t.SMaxAge)
	case t.MaxAge.Given:
		said = argument("max-age", t.MaxAge)
	default:
		line, _ := first(r.Header, "Expires")
		return "Expires: " + line
	}
	for _, name := range rules.Targets {
		if lines, ok := r.Header[name]; ok {
			if _, ok := structured(lines); ok {
				return said + " in " + asWritten(name)
			}
		}
	}
	return said
}

// asWritten returns a canonical field name as RFC 9213 writes it.
func asWritten(name string) string { return strings.Replace(name, "Cdn-", "CDN-", 1) }

// argument is a directive as it counts: one that is no number counts as 0.
func argument(name string, a Argument) string {
	if !a.Valid {
		return name + " without a number"
	}
	return name + "=" + strconv.FormatInt(int64(a.For/time.Second), 10)
}

// explainValidator is what a stored response is asked for again with.
func explainValidator(h http.Header) words.Text {
	tag, date := h.Get("Etag") != "", h.Get("Last-Modified") != ""
	switch {
	case tag && date:
		return words.Say("then revalidated by ETag and Last-Modified", "之后凭 ETag 和 Last-Modified 重新验证")
	case tag:
		return words.Say("then revalidated by ETag", "之后凭 ETag 重新验证")
	case date:
		return words.Say("then revalidated by Last-Modified", "之后凭 Last-Modified 重新验证")
	}
	return words.Say("then fetched anew: it has no ETag or Last-Modified", "之后重新获取：它没有 ETag 或 Last-Modified")
}

// explainStale is when a stale response is served.
func (t *Terms) explainStale() (lines []words.Text) {
	if t.MustRevalidate || t.ProxyRevalidate {
		name := "must-revalidate"
		if !t.MustRevalidate {
			name = "proxy-revalidate"
		}
		return []words.Text{words.Sayf("never served stale because of %s", "因为 %s，过期后绝不使用", name)}
	}
	if t.WhileRevalidate > 0 {
		lines = append(lines, words.Sayf("served stale for %s while it is fetched again (stale-while-revalidate)", "过期后 %s 内，一边重新获取一边仍可使用（stale-while-revalidate）", Span(t.WhileRevalidate)))
	}
	if t.IfError > 0 {
		lines = append(lines, words.Sayf("served stale for %s while the API fails (stale-if-error)", "过期后 %s 内，API 出错时仍可使用（stale-if-error）", Span(t.IfError)))
	}
	return lines
}

// Span is a duration in the largest unit of which it has whole ones; a single one is in words.
func Span(d time.Duration) words.Text {
	d = d.Round(time.Second)
	for _, unit := range [...]struct {
		is          time.Duration
		one, en, zh string
	}{{24 * time.Hour, "a day", "d", "天"}, {time.Hour, "an hour", "h", "小时"}, {time.Minute, "a minute", "min", "分钟"}} {
		switch n := strconv.Itoa(int(d / unit.is)); {
		case d == unit.is:
			return words.Say(unit.one, n+" "+unit.zh)
		case d >= unit.is && d%unit.is == 0:
			return words.Say(n+" "+unit.en, n+" "+unit.zh)
		}
	}
	return words.Sayf("%d s", "%d 秒", d/time.Second)
}

package web

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"sundry/metrics/words"
)

// Finding says, for operators, why the response to a GET was not stored.
type Finding struct {
	Status int
	Reason Reason
	// Next is the reason that remains once the file gives the response a lifetime; MayBeStored means none.
	Next Reason
}

// FindingOf returns the finding for a complete response that is not stored. A reason that holds for every request comes before one that lies
// in this request. fits reports whether the size of the body is within the limit. ok is false for a response that tells nothing of others: an
// error, a 304, a part, or one that only the request keeps from being stored, by no-store or by an odd field.
func FindingOf(q *Request, r *Response, fits bool, rules *Rules) (f Finding, ok bool) {
	if r.Status >= http.StatusBadRequest || !isComplete(r.Status) || r.Status == http.StatusPartialContent {
		return f, false
	}
	f = Finding{Status: r.Status, Reason: reasonFor(q.anonymous(), r, rules)}
	if f.Reason == MayBeStored {
		f.Reason = reasonFor(q, r, rules)
	}
	if f.Reason == MayBeStored && !fits {
		f.Reason = TooLarge
	}
	switch f.Reason {
	case MayBeStored, RequestNoStore, Disguised:
		return f, false
	case SaysNothing, WithoutLifetime, StatusWithoutLifetime:
		f.Next = reasonFor(q, r, rules.withDefault(r.Status))
	}
	if f.Next == RequestNoStore || f.Next == Disguised {
		f.Next = MayBeStored // other requests have neither
	}
	return f, true
}

func reasonFor(q *Request, r *Response, rules *Rules) Reason {
	t := TermsOf(r, rules)
	return NotStored(q, r, &t, rules)
}

// anonymous returns the request as one without directives, and without fields other than the one that trusted proxies add.
func (q *Request) anonymous() *Request {
	a := &Request{Method: q.Method}
	if lines, ok := q.Header[callersField]; ok {
		a.Header = http.Header{callersField: lines}
	}
	return a
}

// withDefault returns the rules with a lifetime for responses with a status.
func (rules *Rules) withDefault(status int) *Rules {
	next := *rules
	next.Default = maps.Clone(rules.Default)
	if next.Default == nil {
		next.Default = map[int]time.Duration{}
	}
	next.Default[status] = time.Minute
	return &next
}

// Explain returns the cause and the remedy.
func (f Finding) Explain() (cause, remedy words.Text) {
	switch f.Reason {
	case SaysNothing:
		cause = words.Say("the API says neither Cache-Control nor Last-Modified, nor Expires or ETag", "API 既没有声明 Cache-Control，也没有 Last-Modified、Expires 或 ETag")
	case WithoutLifetime:
		cause = words.Say("Cache-Control of the API has no max-age, and there is no Expires, Last-Modified or ETag", "API 的 Cache-Control 没有 max-age，也没有 Expires、Last-Modified 或 ETag")
	case StatusWithoutLifetime:
		cause = words.Sayf("the API does not say how long a response with status %d is fresh", "API 没有声明状态码为 %d 的响应的保鲜期", f.Status)
	default:
		return f.Reason.cause(f.Status), f.Reason.remedy()
	}
	remedy = words.Sayf("set cache: {default: {%d: 1m}} in its file", "请在它的文件中设置 cache: {default: {%d: 1m}}", f.Status)
	if isHeuristic(f.Status) { // a default without a status is for these
		remedy = words.Say("set --ttl 1m next to --to, or cache: {default: 1m} in its file", "请在 --to 之外加上 --ttl 1m，或在它的文件中设置 cache: {default: 1m}")
	}
	if f.Next != MayBeStored {
		remedy = words.Sayf("%s; this alone is not enough, because %s: %s", "%s；仅此还不够，因为%s：%s", remedy, f.Next.cause(f.Status), f.Next.remedy())
	}
	return cause, remedy
}

// cause returns the words for the reason, as a clause.
func (reason Reason) cause(status int) words.Text {
	switch reason {
	case NotUnderstood:
		return words.Sayf("the API says must-understand, and status %d is unknown", "API 声明了 must-understand，而状态码 %d 未知", status)
	case SaysNoStore:
		return words.Say("the API says no-store", "API 声明了 no-store")
	case SaysPrivate:
		return words.Say("the API says private", "API 声明了 private")
	case Authorized:
		return words.Say("the requests have Authorization, and the API says none of public, s-maxage and must-revalidate", "请求带有 Authorization，而 API 没有声明 public、s-maxage 或 must-revalidate")
	case CookiesNever:
		return words.Say("the API sets cookies, and its file has cache: {cookies: never}", "API 设置 Cookie，而它的文件有 cache: {cookies: never}")
	case CookieWithoutLifetime:
		return words.Say("the API sets cookies, and does not say that its responses are fresh", "API 设置 Cookie，又没有声明响应仍在保鲜期内")
	case CookieByCookie:
		return words.Say("the API sets cookies, and says Vary: Cookie", "API 设置 Cookie，又声明了 Vary: Cookie")
	case DefaultWithCredentials, UndeclaredWithCredentials:
		return words.Say("the requests have Cookie, Authorization, X-Api-Key or X-Auth-Token, and the API does not say that its responses may be shared", "请求带有 Cookie、Authorization、X-Api-Key 或 X-Auth-Token，而 API 没有声明响应可以共用")
	case VaryAny, VaryMalformed, VaryMany:
		return words.Sayf("Vary of the API has *, a malformed name, or more than %d names", "API 的 Vary 含有 *、格式不对的名称或 %d 个以上的名称", maxVary)
	case VaryByClient:
		return words.Say("the API says Vary: X-Forwarded-For, which differs between clients", "API 声明了 Vary: X-Forwarded-For，而它因客户端而异")
	case InManyGroups:
		return words.Sayf("Cache-Groups of the API names more than %d groups", "API 的 Cache-Groups 列出的组超过 %d 个", maxGroups)
	case NeverFresh:
		return words.Say("the responses of the API are stale when they arrive, or say no-cache, and have no ETag or Last-Modified", "API 的响应到达时已经过期，或声明了 no-cache，又没有 ETag 或 Last-Modified")
	case TooLarge:
		return words.Say("the bodies are larger than cache: body", "正文超过 cache: body")
	}
	return words.Say("they cannot be stored", "响应无法缓存")
}

// remedy returns what an operator can do about the reason.
func (reason Reason) remedy() words.Text {
	switch reason {
	case CookiesNever, CookieWithoutLifetime, CookieByCookie:
		return words.Say("if no client needs the cookies, set response: {remove: [Set-Cookie]} in its file", "如果客户端都不需要这些 Cookie，请在它的文件中设置 response: {remove: [Set-Cookie]}")
	case DefaultWithCredentials, UndeclaredWithCredentials:
		return words.Say("if the API answers all clients alike, set cache: {credentials: shared} in its file, or remove the field from requests, as in request: {remove: [Cookie]}",
			"如果 API 对所有客户端的响应都相同，请在它的文件中设置 cache: {credentials: shared}，或从请求中去掉该字段，例如 request: {remove: [Cookie]}")
	case Authorized:
		return words.Say(`if the API answers all clients alike, also with errors, set response: {set: {Sundry-Cache-Control: "public, max-age=60"}} in its file`,
			`如果 API 对所有客户端的响应都相同，出错时也一样，请在它的文件中设置 response: {set: {Sundry-Cache-Control: "public, max-age=60"}}`)
	case VaryAny, VaryMalformed, VaryMany:
		return words.Say("set response: {set: {Vary: Accept}} in its file, with the request fields that make another response", "请在它的文件中设置 response: {set: {Vary: Accept}}，列出影响响应的请求字段")
	case VaryByClient:
		return words.Say("if the field makes no other response, set cache: {ignore_vary: [X-Forwarded-For]} in its file", "如果这个字段不影响响应，请在它的文件中设置 cache: {ignore_vary: [X-Forwarded-For]}")
	case InManyGroups:
		return words.Say("if nothing is purged by group, set response: {remove: [Cache-Groups]} in its file", "如果不按组清除，请在它的文件中设置 response: {remove: [Cache-Groups]}")
	case TooLarge:
		return words.Say("set a larger cache: {body: 33554432} in its file, in bytes", "请在它的文件中调大 cache: {body: 33554432}（单位为字节）")
	}
	return words.Say("if all its responses may be shared, errors too, set response: {set: {Sundry-Cache-Control: max-age=60}} in its file",
		"如果它的响应（包括错误）都可以共用，请在它的文件中设置 response: {set: {Sundry-Cache-Control: max-age=60}}")
}

// MostFrequent returns the most frequent of some findings, the earliest of several that are equally frequent.
func MostFrequent(all []Finding) Finding {
	count := func(f Finding) (n int) {
		for _, other := range all {
			if other == f {
				n++
			}
		}
		return n
	}
	return slices.MaxFunc(all, func(a, b Finding) int { return count(a) - count(b) })
}

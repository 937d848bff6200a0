package explain

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sundry/cache"
	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/proxy"
	"sundry/proxy/site/pages"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
)

// question is a request for an endpoint, with what is known of it.
type question struct {
	*Explainer
	*teller
	endpoint *catalog.Endpoint
	input    catalog.Input
	now      time.Time
	space    *cache.Space // nil: not known
	entry    cache.EntryInfo
	tier     cache.Tier
	found    bool
}

func (x *Explainer) endpoint(t *teller, e *catalog.Endpoint, r *http.Request, caller netip.Addr) {
	q := &question{Explainer: x, teller: t, endpoint: e, now: time.Now()}
	in, params, wrong := e.Understand(r.URL.RawQuery, catalog.Caller{Addr: caller, Header: r.Header}, q.now)
	q.Name, q.input = e.Name, in
	q.part("answer", "Outcome", "结果")
	if wrong != nil {
		q.tellRefusal(wrong)
		q.tellParameters(params)
		return
	}
	q.find(r)
	q.tellOutcome()
	q.tellParameters(params)
	q.tellKey(params)
	q.tellPolicy()
	q.tellEntry()
	q.tellSources(r)
}

// find looks for the entry, where there is an instance that may have it.
func (q *question) find(r *http.Request) {
	if q.Running == nil || !q.endpoint.Policy.Stores() {
		return
	}
	if spaces := q.Running.Spaces(q.endpoint.Name); len(spaces) > 0 {
		q.space = spaces[0]
		q.entry, q.tier, q.found = q.space.Find(r.Context(), q.input.Key())
		q.found = q.found && policy.Usable(q.entry.State)
	}
}

func (q *question) tellOutcome() {
	outcome, says := q.outcome()
	q.Outcome = outcome
	q.add("outcome", says)
	q.tellEndpoint()
	q.add("form", words.Name(q.input.Form.Name))
	if q.input.Form.PictureProxy != nil {
		q.add("picture", words.Say("the picture behind the link is an entry of its own, or is fetched then", "链接所指的图片是另一条缓存条目，没有时再获取"))
	}
}

// tellRefusal tells why a request is refused. It gets no further, and there is nothing else to tell.
func (q *question) tellRefusal(wrong *catalog.ParamError) {
	status, errorType := proxy.RefusalOf(wrong)
	q.Outcome = "invalid"
	if wrong.Forbidden {
		q.Outcome = "forbidden"
	}
	q.add("outcome", words.Sayf("%d: %s", "%d：%s", status, words.Say(wrong.EN(), wrong.ZH())))
	q.add("error.type", words.Name(errorType))
	q.tellEndpoint()
}

func (q *question) tellEndpoint() {
	q.add("endpoint", words.Say(q.endpoint.Name+": "+q.endpoint.EN, q.endpoint.Name+"："+q.endpoint.ZH))
}

func (q *question) outcome() (outcome string, says words.Text) {
	switch {
	case !q.endpoint.Policy.Stores():
		return "bypass", words.Say("bypass: nothing is kept, the sources are asked", "bypass：不缓存，直接请求数据源")
	case q.space == nil:
		return "unknown", words.Say("not known: no running instance was asked, so what is kept and the breakers are not known", "未知：没有询问运行中的实例，缓存条目和熔断器状态均不可知")
	case !q.found:
		return q.missing()
	case q.entry.Meta.Negative:
		return "negative", words.Say("negative: 404 from the cache, no source is asked", "negative：从缓存返回 404，不请求数据源")
	}
	switch q.entry.State {
	case policy.Fresh:
		return "hit", words.Say("hit: from the cache, no source is asked", "hit：从缓存返回，不请求数据源")
	case policy.Eager:
		return "hit", words.Say("hit: from the cache, and refreshed in the background, since it is soon stale", "hit：从缓存返回；即将过期，因此同时在后台刷新")
	case policy.Grace:
		return "stale", words.Say("stale: from the cache, and refreshed in the background", "stale：从缓存返回旧的一份，同时在后台刷新")
	default:
		return "stale", words.Sayf("the sources are asked; if they fail or take longer than %s, the stale entry is served", "请求数据源；若失败或超过 %s，则返回过期的条目", exactly(q.endpoint.Policy.SoftTimeout))
	}
}

// missing is what becomes of a request that no entry answers.
func (q *question) missing() (outcome string, says words.Text) {
	if wait, err := q.space.Paused(q.input.Key(), false); err != nil {
		return "error", words.Sayf("still refused for %s: the last try failed (%s)", "%s 内拒绝：上次尝试失败（%s）", span(wait), upstreams.KindOf(err))
	}
	return "miss", words.Say("miss: the sources are asked in their order", "miss：按顺序请求数据源")
}

// plainName matches what is a name, rather than a value in the place of one.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`)

// tellParameters tells how each is understood, and what is wrong with it.
func (q *question) tellParameters(all []catalog.Understood) {
	q.part("parameters", "Parameters", "参数")
	var names []string
	for _, one := range q.endpoint.Params {
		names = append(names, one.Name)
	}
	for i := range all {
		u := &all[i]
		switch {
		case u.Param == nil && u.Name == "lang":
			q.named(u.Name, words.Say("the language of errors", "错误信息的语言"))
		case u.Param == nil && !plainName.MatchString(u.Name):
			q.add("…", words.Say("ignored: there is no such parameter", "忽略：没有这个参数"))
		case u.Param == nil:
			q.named(u.Name, words.Sayf("ignored: there is no such parameter%s", "忽略：没有这个参数%s", declare.Suggestion(u.Name, names)))
		case u.Wrong != nil:
			q.named(u.Name, words.Say(u.Wrong.EN(), u.Wrong.ZH()))
		default:
			q.named(u.Name, meaning(u))
		}
	}
}

// meaning is the value of a parameter, where that may be shown.
func meaning(u *catalog.Understood) words.Text {
	says := words.Name(fmt.Sprint(u.Value))
	switch text, _ := u.Value.(string); {
	case u.Value == nil && !u.Given:
		return words.Say("not given", "未给出")
	case u.Value == nil:
		return words.Say("given; it sets another parameter", "已给出，用于设置另一个参数")
	case u.Hidden():
		says = words.Say("(not shown: personal)", "（个人信息，不予显示）")
	case u.Link():
		says = words.Name(hostOf(text))
	}
	switch {
	case u.Drawn:
		return words.Sayf("%s, drawn for this request; the next one may get another", "%s（本次随机抽取，下次可能不同）", says)
	case u.Param.Derived(), u.Param.Caller && !u.Given:
		return words.Sayf("%s, of the request itself", "%s（取自请求本身）", says)
	case !u.Given:
		return words.Sayf("%s, by default", "%s（默认值）", says)
	}
	return says
}

// hostOf is a link without what may hold a token.
func hostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		return "…"
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// tellKey tells what the cache key is made of. Hashes of what is personal could be guessed, and are left out as in the log.
func (q *question) tellKey(all []catalog.Understood) {
	q.part("key", "Cache key", "缓存键")
	secret := q.endpoint.Personal() || q.endpoint.TakesSecrets()
	q.add("prefix", words.Sayf("%s (endpoint, version, chain)", "%s（接口、版本、链）", q.input.KeyPrefix()))
	for i := range all {
		switch u := &all[i]; {
		case u.Key == "":
		case u.Key == "-":
			q.named(u.Name, words.Say("none", "无"))
		case u.Hidden():
			q.named(u.Name, words.Say("part of it (not shown: personal)", "计入其中（个人信息，不予显示）"))
		default:
			q.named(u.Name, words.Name(u.Key))
		}
	}
	if !secret {
		q.add("key", words.Name(q.input.Key()))
	}
}

// tellPolicy tells the cache policy in words, and who shares an entry.
func (q *question) tellPolicy() {
	q.part("policy", "Policy", "缓存规则")
	e := q.endpoint
	for _, line := range pages.Caching(e) {
		q.add("rule", line)
	}
	for _, name := range catalog.SettingNames() {
		if base, now := catalog.Setting(&e.Base, name), catalog.Setting(&e.Policy, name); base != now {
			q.add("live", words.Sayf("%s was changed while running; the file has %s", "%s 在运行中更改过；文件中为 %s", name, exactly(base)))
		}
	}
	switch {
	case !e.Policy.Stores():
	case q.input.Private:
		q.add("shared", words.Say("personal: the answer depends on the caller, and downstream caches are told private", "个人：结果取决于调用者，对下游缓存声明 private"))
	case q.input.Form.Pool:
		q.add("shared", words.Say("shared here; downstream caches are told no-store", "在此共享；对下游缓存声明 no-store"))
	default:
		q.add("shared", words.Say("shared by all who ask for the same; downstream caches are told public", "相同请求共享；对下游缓存声明 public"))
	}
}

// tellEntry tells of the entry.
func (q *question) tellEntry() {
	q.part("entry", "Entry", "缓存条目")
	i := &q.entry
	switch {
	case !q.endpoint.Policy.Stores():
		q.add("entry", words.Say("none", "无"))
	case q.space == nil:
		q.add("entry", words.Say("not known", "未知"))
	case !q.found:
		q.add("entry", words.Say("none that could be served", "没有可用的条目"))
	default:
		q.add("tier", map[cache.Tier]words.Text{cache.Near: words.Say("near tier: memory of this instance", "近层：本实例的内存"), cache.Far: words.Say("far tier: Redis", "远层：Redis")}[q.tier])
		q.add("age", span(i.Age))
		if i.Left > 0 {
			q.add("freshness", words.Sayf("still fresh for %s", "保鲜期还剩 %s", span(i.Left)))
		} else {
			q.add("freshness", words.Sayf("stale for %s", "已过期 %s", span(i.Left)))
		}
		if i.Meta.Edition != "" {
			q.add("edition", words.Name(i.Meta.Edition))
		}
		q.add("source", words.Name(i.Meta.Source))
	}
}

// tellSources tells of those of the chain, in the order in which they would be asked.
func (q *question) tellSources(r *http.Request) {
	q.part("sources", "Sources, in order", "数据源（按顺序）")
	call := q.input.Call(q.now)
	for _, s := range q.input.Form.Chain.Declared {
		says := []words.Text{}
		switch {
		case s.Missing != "":
			says = append(says, words.Sayf("left out: %s is not set", "停用：未设置 %s", s.Missing))
		case !s.Serves(r.Context(), call):
			says = append(says, words.Say("not asked with these parameters (when)", "这些参数下不请求（when）"))
		default:
			says = append(says, q.source(s)...)
		}
		q.named(s.Declared, joined(says))
	}
}

func (q *question) source(s *upstreams.Source) (says []words.Text) {
	switch {
	case s.LastResort:
		says = append(says, words.Say("last resort", "兜底数据源"))
	case s.After == upstreams.AfterFailure:
		says = append(says, words.Say("only after a failure", "仅在失败之后"))
	case s.After == upstreams.AfterNegative:
		says = append(says, words.Say("only after a negative answer", "仅在否定结果之后"))
	}
	for _, h := range s.Hosts() {
		if q.Running != nil {
			says = append(says, breaker(h))
		} else {
			says = append(says, words.Sayf("%s: breaker not known", "%s：熔断器状态未知", h.Name))
		}
	}
	if !s.Remote() {
		says = append(says, words.Say("computed here", "在本地计算"))
	}
	if q.Running == nil {
		return says
	}
	if s.Quota != nil {
		says = append(says, quotaLeft(s.Quota, q.now)...)
	}
	recent := q.Running.Journal.Recent(q.endpoint.Name, s.Declared)
	if len(recent) == 0 {
		return append(says, words.Say("not called yet", "尚未调用"))
	}
	last := recent[len(recent)-1]
	return append(says, words.Sayf("last: %s, %s ago, %d ms", "上次：%s，距今 %s，用时 %d 毫秒", became(last.Result), span(q.now.Sub(last.At)), last.Took.Milliseconds()))
}

// became is how an attempt ended.
func became(result string) words.Text {
	says := ResultWord(result)
	switch result {
	case "success", upstreams.Negative.String(), upstreams.Skipped.String():
		return says
	}
	return words.Say(result, "失败（"+says.ZH()+"）")
}

func joined(says []words.Text) words.Text {
	en, zh := make([]string, len(says)), make([]string, len(says))
	for i, s := range says {
		en[i], zh[i] = s.EN(), s.ZH()
	}
	return words.Say(strings.Join(en, "; "), strings.Join(zh, "；"))
}

func quotaLeft(of *host.Quota, now time.Time) []words.Text {
	says := []words.Text{words.Sayf("quota: %.0f %% left", "配额：剩余 %.0f%%", 100*of.Left(now))}
	if wait := of.Wait(now); wait > 0 {
		says = append(says, words.Sayf("none left for %s", "%s 内用尽", span(wait)))
	}
	return says
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sundry/cache/advise"
	"sundry/metrics/words"
	"sundry/proxy/requestlog"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

type adviseCmd struct {
	flags
	Log       []string `arg:"" placeholder:"LOG" help:"Logs of Sundry (text or JSON), or of nginx in its combined format, in any order; gzip is recognized, - is the standard input." zh:"Sundry 的日志（文本或 JSON），或 nginx 的 combined 格式的日志，先后不限；能识别 gzip，- 为标准输入。"`
	Endpoints []string `name:"endpoint" placeholder:"NAME" help:"Endpoint to advise on (default: all). May be given several times." zh:"要建议的接口（默认：全部）。可以给出多次。"`
	Target    string   `placeholder:"TARGET" help:"What to advise for: old=2% (at most so many old answers) or calls=100/h (at most so many upstream calls an hour). Default: that of the endpoint." zh:"按什么目标建议：old=2%（旧响应最多占这么多），或 calls=100/h（每小时最多这么多次上游调用）。默认为接口自己的目标。"`
	TTL       []string `name:"ttl" placeholder:"TTL,…" help:"List what these lead to, beside the present one, such as 1m,5m,1h." zh:"除现在的 TTL 以外，还要列出这些 TTL 的结果，例如 1m,5m,1h。"`
	JSON      bool     `name:"json" help:"Print it as JSON." zh:"以 JSON 输出。"`
}

// Help is shown below the usage.
func (*adviseCmd) Help() string {
	return `Replays the requests of a log under other TTLs, over the changes that refreshes found, and prints which TTL meets the target: the share of old answers (OLD) and the upstream calls (CALLS/H), now and then, each with its band of 95 %, and what that rests on. An answer is old if its content had changed when it was served.

  sundry advise /var/log/sundry.log

  sundry advise --target old=5% --endpoint lishi /var/log/sundry.log.1.gz /var/log/sundry.log

The log of Sundry says what each refresh found. With log_keys: true it has marks of the keys; without, only endpoints with a single key can be advised on. The log of nginx has the parameters, but knows of no changes: from it come calls alone. TTLs and targets are those of the configuration and the catalog; what was changed in the console is not known here.`
}

// HelpInChinese is Help in Chinese.
func (*adviseCmd) HelpInChinese() string {
	return `按日志中的请求和每次刷新发现的变化，推算换用其他 TTL 会怎样，列出哪个 TTL 符合目标：旧响应占比和每小时的上游调用次数，现在和改后各是多少，附 95% 的区间和依据。返回时内容已经变了的响应，算旧响应。

  sundry advise /var/log/sundry.log

  sundry advise --target old=5% --endpoint lishi /var/log/sundry.log.1.gz /var/log/sundry.log

Sundry 的日志记着每次刷新的结果。设置 log_keys: true 之后，还有键的标记；没有标记时，只能对只有一个键的接口给出建议。nginx 的日志有参数，但不知道内容何时变了，所以只能算出调用次数。TTL 和目标取自设置和接口目录；在控制台中的更改，这里不知道。`
}

// longestTTL is the largest that a cache setting may have.
const longestTTL = 366 * 24 * time.Hour

// Run reads the logs and prints what they advise.
func (a *adviseCmd) Run(w *process) error {
	l, err := a.load(w, nil)
	defer l.close()
	if err != nil {
		return err
	}
	chosen, err := a.chosen(l.set)
	if err != nil {
		return misused(err)
	}
	ttls, target, err := a.asked()
	if err != nil {
		return misused(err)
	}
	log := requestlog.New(chosen, l.config.BasePath, time.Now())
	for _, file := range a.Log {
		if err := readLog(w, log, file); err != nil {
			return err
		}
	}
	for _, line := range log.Counts.Unreadables {
		_, _ = fmt.Fprintln(w.stderr, w.say("warning: not readable: %s", "警告：无法识别：%s", line))
	}
	known := func(name string) bool { return serves(l.set, name) || slices.Contains(l.set.Off, name) }
	if strange := slices.DeleteFunc(log.Others, known); len(strange) > 0 {
		_, _ = fmt.Fprintln(w.stderr, w.say("warning: endpoints that the catalog does not have: %s; expected --catalog with their files",
			"警告：日志中有接口目录里没有的接口：%s；应以 --catalog 给出存放其文件的目录", words.Names(strange...)))
	}
	out := &advised{log.Counts, viewsOf(log, ttls, target)}
	keyless := log.WithoutKeys()
	switch {
	case len(out.Endpoints) == 0:
		return words.Errorf("%s: %s", "%s：%s", words.Names(a.Log...), cmp.Or(keyless, nothing(&log.Counts)))
	case a.JSON:
		return printJSON(w, out)
	}
	return out.print(w, len(ttls) > 0, keyless)
}

// readLog reads a log; "-" is the standard input.
func readLog(w *process, log *requestlog.Log, file string) error {
	switch {
	case file != "-":
	case w.stdin == nil:
		return nil
	default:
		return log.Read(w.ctx, w.stdin, words.Say("standard input", "标准输入"))
	}
	f, err := os.Open(file) //nolint:gosec // the operator's own choice
	if err != nil {
		return err
	}
	return errors.Join(log.Read(w.ctx, f, words.Name(file)), f.Close())
}

// nothing says why nothing can be advised.
func nothing(lines *requestlog.Counts) words.Text {
	const own = "time=2026-01-02T15:04:05Z level=INFO msg=request endpoint=lishi outcome=hit"
	const combined = `192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] "GET /api/ip/index.php?ip=8.8.8.8 HTTP/1.1" 200 312 "-" "curl/8.0"`
	return words.Sayf("no request to an endpoint that is cached (%s): expected lines such as %s, or %s",
		"没有请求过任何会缓存的接口（%s）；日志中应有这样的行：%s，或 %s", lines.Words(), own, combined)
}

// chosen are the endpoints that were named, or all that are cached.
func (a *adviseCmd) chosen(set *catalog.Catalog) (out []*catalog.Endpoint, err error) {
	for _, name := range a.Endpoints {
		e, ok := set.Get(name)
		switch {
		case !ok:
			return nil, words.Errorf("--endpoint: %s", "--endpoint：%s", unknownEndpoint(set, name).Words())
		case !e.Policy.Stores():
			return nil, words.Errorf("--endpoint: %s is not cached, so there is nothing to advise; expected one that has a ttl, such as lishi",
				"--endpoint：%s 不缓存，无从建议；应为有 ttl 的接口，例如 lishi", name)
		}
		out = append(out, e)
	}
	if out == nil {
		out = slices.DeleteFunc(slices.Clone(set.Endpoints), func(e *catalog.Endpoint) bool { return !e.Policy.Stores() })
	}
	return out, nil
}

func unknownEndpoint(set *catalog.Catalog, name string) *words.Error {
	return unknownAmong(namesOfEndpoints(set), name)
}

// unknownName is for commands that take APIs as well.
func unknownName(set *catalog.Catalog, name string) error {
	names := namesOfEndpoints(set)
	for _, a := range set.APIs {
		names = append(names, a.Name)
	}
	return unknownAmong(names, name)
}

// serves reports whether a name is that of an endpoint or API.
func serves(set *catalog.Catalog, name string) bool {
	_, isEndpoint := set.Get(name)
	_, isAPI := set.API(name)
	return isEndpoint || isAPI
}

func namesOfEndpoints(set *catalog.Catalog) []string {
	names := make([]string, len(set.Endpoints))
	for i, e := range set.Endpoints {
		names[i] = e.Name
	}
	return names
}

func unknownAmong(names []string, name string) *words.Error {
	return words.Errorf("unknown endpoint %q%s", "没有接口 %s%s", name, expected(name, names))
}

// asked are the TTLs and the target of the command line; none and zero where it has none.
func (a *adviseCmd) asked() (ttls []time.Duration, target advise.Target, err error) {
	for _, text := range a.TTL {
		ttl, err := declare.ParseDuration(strings.TrimSpace(text))
		if err != nil || ttl < time.Second || ttl > longestTTL {
			return nil, target, words.Errorf("--ttl: %q: expected a duration from 1s to 366d, such as 90s, 6h or 30d", "--ttl：%q：应为 1s 到 366d 的时长，例如 90s、6h 或 30d", text)
		}
		ttls = append(ttls, ttl)
	}
	if a.Target != "" {
		if target, err = advise.ParseTarget(a.Target); err != nil {
			return nil, target, words.Errorf("--target: %s", "--target：%s", words.Failure(err))
		}
	}
	return ttls, target, nil
}

// viewsOf advises on all endpoints that were asked for, the busiest first.
func viewsOf(log *requestlog.Log, ttls []time.Duration, target advise.Target) []advise.View {
	views := []advise.View{}
	for _, e := range log.Endpoints {
		if e.Requests > 0 {
			views = append(views, viewOf(e, ttls, cmp.Or(target, e.Target, advise.Default()), log.Counts.Fills > 0))
		}
	}
	slices.SortFunc(views, func(a, b advise.View) int {
		return cmp.Or(cmp.Compare(b.Evidence.Requests, a.Evidence.Requests), strings.Compare(a.Endpoint, b.Endpoint))
	})
	return views
}

// viewOf chooses among the TTLs around the present one, and shows these, or others. fills: the logs have some.
func viewOf(e *requestlog.Endpoint, ttls []time.Duration, target advise.Target, fills bool) advise.View {
	past, policy := e.Seen.Past(), &e.Policy
	a := past.Advise(policy, advise.Ladder(policy.TTL), target)
	if ttls != nil || len(a.Rules) == 0 { // none to choose from: a timetable alone
		shown := append(slices.Clone(ttls), policy.TTL)
		slices.Sort(shown)
		a.Rules = past.Advise(policy, slices.Compact(shown), target).Rules
	}
	if !fills && policy.Until == nil && policy.TTL > 0 && a.TTL == 0 && target.Old > 0 {
		a.Reason = words.Say("the log does not say what refreshes found, so calls alone are known; expected a log of Sundry, or a target such as --target calls=100/h",
			"日志没有记录刷新的结果，因此只知道调用次数；请提供 Sundry 的日志，或使用 --target calls=100/h 这样的目标")
	}
	return a.View(e.Name, policy.TTL)
}

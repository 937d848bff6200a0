package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"sundry/cache/entry"
	"sundry/metrics/words"
	"sundry/proxy/explain"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

type tryCmd struct {
	faultFlags
	Endpoint string   `arg:"" help:"Endpoint or API to call; with --to, a path with its query." zh:"要调用的接口或 API；有 --to 时为路径加查询串。"`
	Params   []string `arg:"" optional:"" help:"Parameters, such as ip=8.8.8.8; of an API as it is, a path with its query, such as '/a?x=1'." zh:"参数，例如 ip=8.8.8.8；原样代理的 API 则为路径加查询串，例如 '/a?x=1'。" placeholder:"NAME=VALUE"`
}

// Run makes one call without the cache and shows each stage of every attempt.
func (t *tryCmd) Run(w *process) error {
	l, err := t.load(w, nil)
	defer l.close()
	if err != nil {
		return err
	}
	t.name()
	if api, ok := l.set.API(t.Endpoint); ok {
		return t.callAPI(w, l, api)
	}
	load, err := t.input(l.set)
	if err != nil {
		return misused(err)
	}
	chain := load.Input.Form.Chain
	out := &printer{w: w, form: chain.JSON(), asked: load.Input.Endpoint.AskedForms(chain), others: otherForms(load.Input.Endpoint, chain)}
	load.Watch = out.attempt
	start := time.Now()
	content, err := load.Load(w.ctx, false)
	if err != nil {
		return cmp.Or(keysMissing(t.Endpoint, chain), out.failure(t.Endpoint, err))
	}
	out.content(&content, time.Since(start))
	return out.err
}

// name finds out what is to be called: with --to, the first argument is a path.
func (t *tryCmd) name() {
	if t.one != nil && t.Endpoint != t.one.Name {
		t.Params, t.Endpoint = append([]string{t.Endpoint}, t.Params...), t.one.Name
	}
}

// keysMissing says which variables hold the keys of a chain's sources, of which none can be called without; nil: one can.
func keysMissing(endpoint string, chain *catalog.Chain) error {
	var variables []string
	for _, s := range chain.Declared {
		if s.Missing == "" {
			return nil
		}
		variables = append(variables, s.Missing)
	}
	return words.Errorf("%s: each of its sources needs a key; set %s", "%s：数据源都缺少密钥；请设置 %s", endpoint, words.Names(variables...))
}

func (t *tryCmd) input(set *catalog.Catalog) (*catalog.Loader, error) {
	e, ok := set.Get(t.Endpoint)
	if !ok {
		return nil, unknownName(set, t.Endpoint)
	}
	query, err := queryOf(t.Params)
	if err != nil {
		return nil, err
	}
	input, err := inputOf(e, query)
	return &catalog.Loader{Input: input}, err
}

// queryOf are the parameters of a command line, each name=value.
func queryOf(params []string) (url.Values, error) {
	query := url.Values{}
	for _, p := range params {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, words.Errorf("parameter %q: expected name=value", "参数%q：应为 名称=值", p)
		}
		query.Set(name, value)
	}
	return query, nil
}

// inputOf reads parameters of the command line as those of callers, but refuses what the endpoint does not have.
func inputOf(e *catalog.Endpoint, query url.Values) (catalog.Input, error) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if err := checkParameter(e, name); err != nil {
			return catalog.Input{}, err
		}
	}
	input, bad := e.Parse(query.Encode(), catalog.Caller{Addr: netip.AddrFrom4([4]byte{127, 0, 0, 1})})
	if bad != nil {
		return input, words.NewError(bad.EN(), bad.ZH())
	}
	return input, nil
}

// checkParameter refuses a parameter that the endpoint does not have: serve would
// ignore it.
func checkParameter(e *catalog.Endpoint, name string) error {
	var names []string
	for _, p := range e.Params {
		names = append(names, p.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return words.Errorf("unknown parameter %q of %s%s", "没有参数 %s（接口 %s）%s", name, e.Name, expected(name, names))
}

// printer writes stages and keeps the first error of writing.
type printer struct {
	w   *process
	err error
	// form is the JSON form of the chain that was asked; nil for none.
	form *catalog.Form
	// asked are the forms of that chain, each as callers ask for it.
	asked []words.Text
	// others are those of other chains, which were not asked.
	others []words.Text
	// failed is whether the last attempt did, whose error is shown with it.
	failed bool
}

// clean is a text without secrets. It is for a text that is cut: what is printed has no whole one.
func (p *printer) clean(text string) string { return p.w.hidden.Redactor().Text(text) }

// says is printf in the language of the terminal.
func (p *printer) says(en, zh string, args ...any) { p.printf("%s", p.w.say(en, zh, args...)) }

// row shows one thing below what it belongs to.
func (p *printer) row(name, text string) {
	p.printf("  %s %s\n", padded(p.w.language().Say(name, stageInChinese(name)), 16), text)
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w.stdout, format, args...)
	}
}

func (p *printer) attempt(a upstreams.AttemptReport) {
	p.says("source %s\n", "数据源 %s\n", a.Source)
	for _, s := range a.Stages {
		p.row(s.Name, p.stage(&s))
	}
	color := yellow
	if a.Err == nil {
		color = green
	}
	p.row("verdict", p.w.say("%s in %s", "%s，用时 %s", p.w.paletteOf(p.w.stdout).paint(color, p.w.language().Of(explain.ResultWord(a.Result))), a.Took.Round(time.Millisecond)))
	if p.failed = a.Err != nil; p.failed && upstreams.KindOf(a.Err) != upstreams.Skipped { // the verdict says it
		p.row("error", p.w.language().Of(upstreams.WhyFailed(a.Err)))
	}
}

// failure is what is left to say of a call that failed.
func (p *printer) failure(endpoint string, err error) error {
	if !p.failed {
		return err
	}
	return words.Errorf("%s: no answer: %s", "%s：没有响应：%s", endpoint, explain.ResultWord(upstreams.KindOf(err).String()))
}

// stage is a stage's detail on one line: data with its fields as answers have them,
// except for a pool, whose candidates are the answers.
func (p *printer) stage(s *upstreams.Stage) string {
	if s.Name == upstreams.StageData && p.form != nil && !p.form.Pool {
		if b, err := p.form.Ordered(s.Detail); err == nil {
			return upstreams.Shorten(string(b), longest)
		}
	}
	return s.Line(longest)
}

// longest is the length to which raw replies are cut, in runes.
const longest = 600

func (p *printer) content(c *entry.Content, took time.Duration) {
	if c.Negative != "" {
		p.says("answer: not found, in %s\n", "响应：没有找到，用时 %s\n", took.Round(time.Millisecond))
		return
	}
	p.says("answer from %s in %s", "响应来自 %s，用时 %s", c.Source, took.Round(time.Millisecond))
	if c.Edition != "" {
		p.says(", edition %s", "，版次 %s", c.Edition)
	}
	p.printf("\n")
	for i, f := range c.Forms {
		for j := range f[:min(len(f), 3)] {
			name := p.w.language().Of(p.asked[i])
			if len(f) > 1 {
				name += p.w.say(", candidate %d of %d", "，候选 %d/%d", j+1, len(f))
			}
			p.body(name, &f[j])
		}
	}
	if len(p.others) > 0 {
		p.says("other forms, whose chains were not called: %s\n", "其他格式（其数据源链未调用）：%s\n", words.List(p.others...))
	}
}

// otherForms are the forms of an endpoint that a chain does not make, each as callers ask for it.
func otherForms(e *catalog.Endpoint, asked *catalog.Chain) (others []words.Text) {
	for _, c := range e.Chains {
		if c != asked {
			others = append(others, e.AskedForms(c)...)
		}
	}
	return others
}

// body shows what a form answers with.
func (p *printer) body(name string, b *entry.Body) {
	to := ""
	if b.Location != "" {
		to = p.w.say(", to %s", "，跳转到 %s", p.clean(b.Location))
	}
	p.says("  %s: %d %s, %d bytes%s\n", "  %s：%d %s，%d 字节%s\n", name, b.Status, b.Type, len(b.Data), to)
	if !strings.HasPrefix(b.Type, "image/") {
		text := upstreams.Shorten(p.clean(string(b.Data)), longest)
		p.printf("    %s\n", strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    "))
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"sundry/metrics/words"
	"sundry/proxy/explain"
	"sundry/upstreams/lib/redact"
)

type explainCmd struct {
	Config  string `help:"Configuration file of the server (default: sundry.yaml in the working directory, if it exists)." zh:"服务的设置文件（默认为工作目录中的 sundry.yaml，如果有）。" type:"path" placeholder:"FILE"`
	Catalog string `help:"Explain by this catalog alone, and ask no running instance." zh:"只按这个接口目录说明，不问运行中的实例。" type:"path" placeholder:"DIR"`
	toFlags
	Admin  string   `help:"The server's admin listener, if given to it by a flag: an address such as 127.0.0.1:9090, or the URL of its console (http or https)." zh:"服务的管理端口，如果它是用选项指定的：地址，例如 127.0.0.1:9090，或控制台的 URL（http 或 https）。" placeholder:"ADDR"`
	Header []string `short:"H" help:"Field of the request, such as 'Accept-Language: de'. May be given several times." zh:"请求字段，例如 'Accept-Language: de'。可以给出多次。" placeholder:"FIELD" sep:"none"`
	JSON   bool     `name:"json" help:"Print it as JSON." zh:"以 JSON 输出。"`
	URL    string   `arg:"" help:"URL, or path with its query, such as '/api/ip?ip=8.8.8.8'." zh:"URL，或路径加查询串，例如 '/api/ip?ip=8.8.8.8'。"`
	Params []string `arg:"" optional:"" help:"Parameters, such as ip=8.8.8.8, of an endpoint that is named in place of the URL." zh:"参数，例如 ip=8.8.8.8；前面不写 URL，而写接口的名称。" placeholder:"NAME=VALUE"`
}

// Help is shown below the usage.
func (*explainCmd) Help() string {
	return `Says what would become of a GET: endpoint, parameters, cache key, policy, entry, and the sources in their order. No upstream is called. The instance that runs on this machine is asked, at its admin listener (token: SUNDRY_ADMIN_TOKEN). Where none answers, the catalog alone tells, which knows of no entries and breakers.`
}

// HelpInChinese is Help in Chinese.
func (*explainCmd) HelpInChinese() string {
	return `请求的方法为 GET。数据源按询问的先后列出。

询问的是本机运行中的实例的管理端口（令牌：SUNDRY_ADMIN_TOKEN）。

没有实例回答时，仅按接口目录说明，不知道有哪些条目、熔断器是否断开。`
}

// Run asks the instance that runs on this machine, or else the catalog.
func (e *explainCmd) Run(w *process) error {
	if err := w.checkLanguage(); err != nil {
		return err
	}
	if err := e.address(w); err != nil {
		return misused(err)
	}
	r, err := explain.Request(e.URL, e.Header)
	if err != nil {
		return misused(err)
	}
	all := e.flags()
	if err := all.readAPI(&e.toFlags); err != nil {
		return err
	}
	answer, err := e.ofInstance(w)
	if away, ok := errors.AsType[*noInstance](err); ok {
		if away.error != nil {
			_, _ = fmt.Fprintln(w.stderr, w.language().Of(away.words()))
		}
		answer, err = all.explain(w, r)
	}
	switch {
	case err != nil:
		return err
	case e.JSON:
		return printJSON(w, answer)
	}
	return e.print(w, answer)
}

// address makes a path of the name of an endpoint and its parameters, as try takes them.
func (e *explainCmd) address(w *process) error {
	isName := e.URL != "" && !strings.ContainsAny(e.URL, "/?:")
	switch {
	case !isName && len(e.Params) == 0:
		return nil
	case !isName:
		return words.Errorf("%s: expected the name of an endpoint before parameters, such as ip", "%s：参数前应为接口的名称，例如 ip", e.URL)
	}
	query, err := queryOf(e.Params)
	if err != nil {
		return err
	}
	c, _ := e.flags().loadConfig(w, nil) // of mistakes, the catalog tells
	e.URL = (&url.URL{Path: c.BasePath + "/api/" + e.URL, RawQuery: query.Encode()}).String()
	return nil
}

// noInstance is why no running instance has been asked; nil: none was to be.
type noInstance struct{ error }

func (n *noInstance) words() words.Text {
	return words.Sayf("no running instance: %s (--admin names another place); by the catalog alone:",
		"没有运行中的实例：%s（可用 --admin 指定别处）；仅按接口目录说明：", words.Failure(n.error))
}

func (e *explainCmd) flags() *flags { return &flags{Config: e.Config, Catalog: e.Catalog} }

// explain explains by configuration and catalog.
func (f *flags) explain(w *process, r *http.Request) (*explain.Explanation, error) {
	l, err := f.load(w, nil)
	defer l.close()
	if err != nil {
		return nil, err
	}
	x := &explain.Explainer{Catalog: l.set, BasePath: l.config.BasePath}
	return x.Explain(r.WithContext(w.ctx), netip.AddrFrom4([4]byte{127, 0, 0, 1}), w.language()), nil
}

// explainTime bounds how long a running instance is waited for.
const explainTime = 5 * time.Second

// ofInstance asks the admin listener. Its error is a noInstance where no Sundry answers there that knows this call.
func (e *explainCmd) ofInstance(w *process) (*explain.Explanation, error) {
	if e.Catalog != "" || e.To != "" {
		return nil, &noInstance{}
	}
	origin, err := e.origin(w)
	if err != nil {
		return nil, err
	}
	status, body, err := e.post(w, origin)
	answer, refused := &explain.Explanation{}, struct{ Error string }{}
	switch {
	case err != nil:
		return nil, &noInstance{err}
	case status == http.StatusOK && json.Unmarshal(body, answer) == nil:
		return answer, nil
	case status == http.StatusUnauthorized:
		return nil, errors.New(w.language().Of(tokenRefused(origin)))
	case json.Unmarshal(body, &refused) != nil || refused.Error == "":
		return nil, &noInstance{words.Errorf("what answers at %s with status %d does not know this call", "%s 的回答（状态码 %d）表明那里没有这个调用", origin, status)}
	case status == http.StatusBadRequest:
		return nil, misused(errors.New(refused.Error))
	}
	return nil, fmt.Errorf("explain: %s: %s", origin, refused.Error)
}

func tokenRefused(origin string) words.Text {
	return words.Sayf("explain: the admin listener at %s refuses the token: expected that of the server in SUNDRY_ADMIN_TOKEN",
		"explain：%s 的管理端口拒绝了令牌；SUNDRY_ADMIN_TOKEN 应为服务的令牌", origin)
}

// origin is where the admin listener is: by the flag, or else by the configuration.
func (e *explainCmd) origin(w *process) (string, error) {
	if e.Admin == "" {
		c, _ := e.flags().loadConfig(w, nil) // of mistakes, the catalog tells
		addr, err := reachable(c.Admin)
		if err != nil {
			return "", &noInstance{err}
		}
		return "http://" + addr, nil
	}
	at := e.Admin
	if !strings.Contains(at, "://") {
		addr, _ := reachable(at)
		at = "http://" + addr
	}
	if u, err := url.Parse(at); err == nil && isConsole(u) {
		return u.Scheme + "://" + u.Host, nil
	}
	return "", misused(words.Errorf("--admin: %q: expected an address and a port, such as 127.0.0.1:9090, or the URL of the console, such as https://sundry.example.org/admin/",
		"--admin：%q：应为地址和端口，例如 127.0.0.1:9090，或控制台的 URL，例如 https://sundry.example.org/admin/", redact.Address(e.Admin)))
}

// isConsole reports whether a URL may be that of a console.
func isConsole(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && slices.Contains([]string{"", "/", "/admin", "/admin/"}, u.Path) && u.User == nil && u.RawQuery == ""
}

func (e *explainCmd) post(w *process, origin string) (status int, body []byte, err error) {
	asked, err := json.Marshal(map[string]any{"url": e.URL, "fields": e.Header})
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(w.ctx, explainTime)
	defer cancel()
	to := origin + "/admin/api/explain?lang=" + w.language().String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(asked))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token, _ := w.getenv("SUNDRY_ADMIN_TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return 0, nil, failed.Err // without the URL, which nobody has typed
	}
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, body, err
}

// print writes each part below its title.
func (e *explainCmd) print(w *process, answer *explain.Explanation) error {
	var b strings.Builder
	p := w.paletteOf(w.stdout)
	width := 0
	for _, part := range answer.Parts {
		for _, f := range part.Facts {
			width = max(width, columnsOf(f.Label))
		}
	}
	for _, part := range answer.Parts {
		b.WriteString(p.paint(cyan, part.Title) + "\n")
		for _, f := range part.Facts {
			fmt.Fprintf(&b, "  %s  %s\n", padded(f.Label, width), f.Says)
		}
	}
	_, err := io.WriteString(w.stdout, b.String())
	return err
}

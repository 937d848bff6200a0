package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/upstreams/lib/waittest"
)

// hostile is text that a page must show and never run.
const hostile = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`

var maxAge = regexp.MustCompile(`max-age=(\d+)`)

// ageOf is how long the answer may be kept from its birth on, in seconds.
func ageOf(t *testing.T, url string) int {
	t.Helper()
	header, _ := mustGet(t, url)
	m := maxAge.FindStringSubmatch(header.Get("Cache-Control"))
	if m == nil {
		t.Fatalf("%s: Cache-Control %q", url, header.Get("Cache-Control"))
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// failing is a host whose source always fails here.
const failing = "wallpaper.apc.360.cn"

// withHistory is a server on which something has happened: hits, failures, a
// failover, and an endpoint all of whose texts are hostile.
func withHistory(t *testing.T, env map[string]string, catalog string) *instance {
	t.Helper()
	p := serveWith(t, env, "--replay", "--catalog", catalog, "--replay-fault", "wpcat/wallpaper-360=error:1", "--replay-fault", "ip=latency:20ms")
	for i := range 22 { // one client's failures alone: it takes as many to open a breaker
		mustGet(t, fmt.Sprintf("%s/api/wpcat?n=%d&p=%d", p.public, i%12+1, i/12+1))
	}
	for _, path := range []string{"60s", "60s", "ip?ip=8.8.8.8", "ip?ip=8.8.8.8", "yiyan", "sjbz", "lishi", "qrcode?text=" + url.QueryEscape(hostile)} {
		if _, _, _, err := get(p.public + "/api/" + path); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, body, err := get(p.public + "/api/own?q=" + url.QueryEscape(hostile)); err != nil || status < 500 {
		t.Fatalf("own: %d %s %v", status, body, err)
	}
	return p
}

// hostileCatalog is a folder with an endpoint of its own.
func hostileCatalog(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "own.yaml", `version: 1
name: own
group: lookups
summary: {en: '`+strings.ReplaceAll(hostile, "'", "''")+`', zh: 自己的}
params: [{name: q, type: string, max: 200, default: "1", example: "1"}]
cache: {class: keyed, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: up, http: {url: "https://own.example.org/", query: {q: "{q}"}}}]
`)
	return dir
}

var tabNames = []string{"overview", "endpoints", "apis", "advice", "upstreams", "cache", "explain", "failures", "audit"}

func TestConsole(t *testing.T) {
	t.Parallel()
	chromium(t)
	dir := hostileCatalog(t)
	p := withHistory(t, map[string]string{"SUNDRY_GRAFANA_URL": "https://grafana.example.org/g"}, dir)
	b := newBrowser(t, p.admin)
	b.until(`document.querySelectorAll(".tile svg").length === 4`)
	b.text("#facts", "replay")
	b.text("#notices", "lost at a restart")
	b.sound()
	for _, step := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"tabs by keyboard", b.walk}, {"a name", b.login}, {"trouble first", b.trouble}, {"links", func(t *testing.T) { b.links(t, p) }}, {"sources", b.sources}, {"an endpoint is tried", b.try}, {"a ttl, live", func(t *testing.T) { b.tune(t, p) }}, {"a breaker", func(t *testing.T) { b.breaker(t, p) }}, {"half-open is amber", b.amber},
		{"a purge", func(t *testing.T) { b.purge(t, p) }}, {"a failure again", func(t *testing.T) { b.again(t, p) }}, {"reload", func(t *testing.T) { b.reload(t, dir) }},
		{"hostile text", b.hostility}, {"renewal", b.renewal}, {"Chinese", b.chinese},
	} {
		if !t.Run(step.name, step.do) {
			return // the page is not where the next step would begin
		}
	}
	b.t = t
	b.sound()
	p.end()
	b.renew()
	b.text("#lost", "does not answer")
	b.until(`document.title.startsWith("▲ No answer")`)
}

// walk goes from the start of the page to the tabs and through them.
func (b *browser) walk(t *testing.T) {
	b.t = t
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	b.keys(kb.Tab)
	if !b.is(`document.activeElement.className === "skip"`) {
		t.Error("the first stop is not the link past the header")
	}
	b.keys(kb.Tab, kb.Tab, kb.Tab, kb.Tab) // past language, name and reload
	for i, name := range tabNames {
		if i > 0 {
			b.keys(kb.ArrowRight)
		}
		b.until(`document.activeElement.id === "tab-` + name + `" && document.getElementById("panel").dataset.tab === "` + name + `"`)
		if !b.is(`document.querySelectorAll("[role=tab][tabindex='0']").length === 1 && document.querySelector("[aria-selected=true]") === document.activeElement`) {
			t.Errorf("%s: the focus does not rove", name)
		}
	}
	b.keys(kb.ArrowRight)
	b.until(`document.activeElement.id === "tab-overview"`)
	b.keys(kb.End)
	b.until(`document.activeElement.id === "tab-audit"`)
	b.keys(kb.Home, kb.Tab)
	b.until(`document.activeElement.id === "panel"`)
	b.sound()
}

// tune sets a TTL, sees it outside, and takes it back.
func (b *browser) tune(t *testing.T, p *instance) {
	b.t = t
	asked := p.public + "/api/ip?ip=8.8.8.8"
	before := ageOf(t, asked)
	if before <= 90 {
		t.Fatalf("max-age=%d before anything was changed", before)
	}
	b.tab("endpoints")
	const edit = `button[aria-label="Edit… ip"]`
	b.press(edit)
	b.until(`document.getElementById("dialog").open && document.activeElement.name === "ttl"`)
	b.keys(kb.Escape)
	b.until(`!document.getElementById("dialog").open && document.activeElement.matches('` + edit + `')`)
	b.press(edit)
	b.keys(kb.Enter)
	b.text("dialog .setting + .error", "Enter a duration in at least one field")
	b.wrong("ttl")
	b.keys("soon", kb.Tab)
	b.text("dialog .setting + .error", "Expected a number with a unit, such as")
	b.until(`document.activeElement.name !== "ttl" && document.querySelector("dialog [name=ttl][aria-invalid=true]")`)
	b.press("dialog button[type=submit]")
	b.wrong("ttl")
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog input[name=ttl]").select()`))
	b.keys("90s", kb.Enter)
	b.outcome("ip: cache settings changed")
	b.until(`[...document.querySelectorAll("li.live")].some((li) => li.textContent.includes("1m30s"))`)
	if age := ageOf(t, asked); age > 90 {
		t.Errorf("max-age=%d after the ttl was set to 90s", age)
	}
	b.tab("audit")
	b.text("tbody tr", "as in the file → ttl 1m30s")
	b.text("tbody tr", "王五")
	b.press(`button[aria-label="Undo #1 ip"]`)
	b.outcome("change #1 is undone")
	b.text("tr.undone", "undone by #2")
	if age := ageOf(t, asked); age <= 90 || age > before+1 { // rounding may cost a second
		t.Errorf("max-age=%d after the change was undone; %d before it", age, before)
	}
	b.sound()
}

// breaker sees the one that failures opened, resets it, holds another open for
// a while, and releases it.
func (b *browser) breaker(t *testing.T, p *instance) {
	b.t = t
	b.tab("upstreams")
	b.press(`button[aria-label^="Show all"][aria-label$="Hosts"]`)
	if !b.is(`document.querySelectorAll("td .spark .cross").length > 1 && document.querySelectorAll("td .spark rect").length > 1`) {
		t.Error("failed and good attempts are not both drawn")
	}
	row := func(host string) string {
		return `[...document.querySelectorAll("tbody tr")].find((tr) => tr.cells[0].textContent === "` + host + `").textContent`
	}
	probes := 0
	waittest.Until(t, "the title names the open breaker", func() bool {
		if b.is(row(failing) + `.includes("half-open")`) { // where the machine is slow: a probe that fails opens it again
			probes++
			_, _, _, _ = get(fmt.Sprintf("%s/api/wpcat?n=1&p=%d", p.public, 100+probes))
		}
		return b.is(`document.title === "▲ 1 breaker open – Sundry"`)
	})
	b.press(`button[aria-label="Change… ` + failing + `"]`)
	b.run(chromedp.Click(chromedp.CSS("dialog input[value=reset]")))
	b.press("dialog button[type=submit]")
	b.outcome("the breaker was reset")
	b.until(row(failing) + `.includes("closed")`)
	b.until(`document.title === "Sundry console"`)
	b.press(`button[aria-label="Only those in trouble Sources"]`)
	b.until(`/^(\d+) sources? in trouble\.$/.exec(document.querySelector("#panel section:last-of-type p").textContent)?.[1] === String(document.querySelectorAll("[data-table=sources] tbody tr").length)`)
	const host = "wp.shanhutech.cn"
	b.press(`button[aria-label="Change… ` + host + `"]`)
	b.press("dialog button[type=submit]")
	b.text("dialog fieldset + .error", "Choose one") // nothing is preselected
	b.run(chromedp.Click(chromedp.CSS("dialog input[value=open]")))
	b.run(chromedp.SetValue(chromedp.CSS("dialog select[name=for]"), "1h"))
	b.press("dialog button[type=submit]")
	b.outcome("the breaker is held open")
	b.until(row(host) + `.includes("held open until")`)
	b.until(`document.title === "▲ 1 breaker open – Sundry"`)
	b.press(`button[aria-label="Release ` + host + `"]`)
	b.outcome("automatic again")
	b.until(row(host) + `.includes("closed")`)
	b.sound()
}

// amber is what half-open is told in, by the header and by the lists.
func (b *browser) amber(t *testing.T) {
	b.t = t
	b.run(chromedp.Evaluate[chromedp.Void](`window.fetch = ((real) => async (path, init) => {
		const response = await real.call(window, path, init);
		if (path !== "api/overview" && path !== "api/upstreams") return response;
		const answer = await response.json();
		if (answer.hosts) answer.hosts[0].state = "half-open";
		else answer.breakers_half_open = ["probed.example.org"];
		return new Response(JSON.stringify(answer));
	})(window.fetch)`))
	b.renew()
	b.text("#facts .badge.warn:last-child", "1 breaker half-open")
	b.text("[data-table=hosts] tr:first-child.caution .badge.warn", "half-open")
	b.until(`document.title.startsWith("◐ 1 breaker half-open") && !document.querySelector(".badge.bad:is(#facts *, [data-table=hosts] *)")`)
	b.run(chromedp.Reload())
	b.until(`document.title === "Sundry console"`)
	b.sound()
}

// login gives a name for the audit log: without one nothing is changed.
func (b *browser) login(t *testing.T) {
	b.t = t
	b.press("#reload")
	b.press("#dialog button[type=submit]")
	b.text("#dialog label + .error", "Nothing was changed: the audit log needs your name")
	b.wrong("operator")
	if b.is(`document.getElementById("login").open`) {
		t.Error("a dialog over a dialog")
	}
	b.keys("王五", kb.Enter)
	b.outcome("were reloaded")
	b.text("#operator", "王五")
	b.sound()
}

// trouble is what the first view begins with, and the endpoints.
func (b *browser) trouble(t *testing.T) {
	b.t = t
	b.tab("overview")
	b.text(".troubles", failing)
	b.text(".troubles .why", "1 of 1 requests failed in the last hour")
	b.text(".troubles .why", "own/up: unavailable: ")
	// Shares are those of one whole, what failed among them, and nothing is counted as cached that failed.
	b.until(`[...document.querySelectorAll(".shares li")].find((li) => li.querySelector("a").textContent === "own").textContent.includes("failed100 %")`)
	b.until(`[...document.querySelectorAll(".shares li")].every((li) => [...li.querySelectorAll(".row .number")].reduce((sum, part) => sum + parseFloat(part.textContent), 0) < 103)`)
	b.until(`/^\d.* % \(1\)$/.test([...document.querySelectorAll(".tile")].at(-1).querySelector(".number").textContent)`)
	b.until(`document.querySelector(".shares li:first-child a").textContent === "wpcat" && document.querySelector(".shares li:first-child rect").classList.contains("later")`)
	b.allFail()
	for link, only := range map[string]string{"Show failures: own": "own", "Show upstreams: " + failing: "wpcat sjbz"} {
		b.press(`a[aria-label="` + link + `"]`)
		b.until(`document.querySelector("tbody strong")`)
		b.until(`[...document.querySelectorAll("tbody strong")].every((name) => "` + only + `".split(" ").includes(name.textContent))`)
		b.run(chromedp.Evaluate[chromedp.Void](`history.back()`))
		b.until(`document.querySelector(".troubles")`)
	}
	b.run(chromedp.Reload()) // without filters
	b.until(`document.querySelector(".troubles")`)
	b.tab("endpoints")
	rows := `[...document.querySelectorAll("tbody tr strong")].map((name) => name.textContent)`
	b.until(rows + `.slice(0, 2).sort().join() === "own,wpcat"`)
	b.press("th button.sort")
	b.until(`((names) => names.length > 15 && names.join() === names.toSorted((a, b) => a.localeCompare(b)).join())(` + rows + `)`)
	b.run(chromedp.Focus(chromedp.CSS("#endpoints-filter")))
	b.keys("qrcode")
	b.until(rows + `.join() === "qrcode"`)
	b.keys(kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace)
	b.sound()
}

// allFail wants it told where all sources of an endpoint fail, and not where one is only not called or works by now.
func (b *browser) allFail() {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](`import("/admin/trouble.js").then(({ troubles }) => { window.causeOf = (...ends) => troubles({ in_sync: true }, { hosts: [],
		sources: ends.map((result, i) => ({ endpoint: "e", source: "s" + i, hosts: [], recent: result ? [{ result }] : [], ...(result && { last_error: "timeout", last_error_result: "timeout", last_error_at: "" + i }) })),
	}, { endpoints: { e: { state: "failing", total: { requests: 1, errors: 1 } } } })[0].cause[0]; })`))
	b.until(`window.causeOf`)
	for ends, want := range map[string]string{
		`"timeout"`: "e/s0: timeout", `"timeout", "rejected"`: "all 2 sources fail; last: e/s1: timeout", `"timeout", "success"`: "e/s1: timeout", `"timeout", ""`: "e/s0: timeout",
	} {
		if !b.is(fmt.Sprintf("causeOf(%s) === %q", ends, want)) {
			b.t.Errorf("%s: not %s", ends, want)
		}
	}
}

// try asks an endpoint for a picture, and is told what is missing beside its field.
func (b *browser) try(t *testing.T) {
	b.t = t
	b.tab("endpoints")
	b.press(`button[aria-label="Try… qrcode"]`)
	b.until(`document.activeElement.name === "text"`)
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`))
	b.keys(kb.Delete)
	b.press("dialog button[type=submit]")
	b.text("dialog .setting + .error", "required")
	b.run(chromedp.SetValue(chromedp.CSS("dialog input[name=text]"), "hello"))
	b.press("dialog button[type=submit]")
	b.text("dialog .stages", "Status 200")
	b.until(`document.querySelector("dialog img.picture").naturalWidth > 100`)
	b.keys(kb.Escape)
	b.press(`button[aria-label="Try… qrcode"]`)
	b.until(`document.activeElement.name === "text"`)
	b.run(chromedp.Evaluate[chromedp.Void](`location.hash = "#cache"`)) // as the browser's Back does
	b.until(`document.getElementById("panel").dataset.tab === "cache" && !document.getElementById("dialog").open`)
	b.tab("endpoints")
	b.press(`button[aria-label="YAML qrcode"]`)
	b.text("dialog pre", "name: qrcode")
	b.keys(kb.Escape)
	b.sound()
}

// chinese switches the language, which is remembered, and back.
func (b *browser) chinese(t *testing.T) {
	b.t = t
	b.press("#language")
	b.until(`document.documentElement?.lang === "zh-CN"`)
	b.text("#tab-endpoints", "接口")
	b.run(chromedp.Reload())
	b.until(`document.documentElement?.lang === "zh-CN"`)
	b.tab("endpoints")
	b.press(`button[aria-label="编辑… ip"]`)
	b.until(`document.activeElement.name === "ttl"`)
	b.keys("400d", kb.Enter)
	b.text("dialog .setting + .error", "ttl：应在 1s 到 366d 之间，而不是 400d") // as the server says it
	b.keys(kb.Escape)
	b.forgive("status of 400")
	b.tab("audit")
	b.text("tbody", "未具名，来自 127.0.0.1")
	b.text("tbody", "硬清除")
	b.tab("failures")
	b.text("tbody", "未放行")
	b.text("tbody", "熔断器已断开")
	b.until(`!/injected fault|circuit breaker/.test(document.querySelector("tbody").textContent)`) // said in Chinese
	b.press(`button[aria-expanded=false][aria-label$="wpcat/wallpaper-360"]`)
	b.text("tbody", "injected fault")
	b.press(`button[aria-expanded=true]`)
	b.causes()
	b.press("#language")
	b.until(`document.documentElement?.lang === "en-GB"`)
	b.tab("endpoints")
	b.sound()
}

// causes of replies that are not what was asked for are told in Chinese.
func (b *browser) causes() {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](`import("/admin/results.js").then((module) => { window.results = module; })`))
	b.until(`window.results`)
	for said, want := range map[string]string{
		"status 200: body as JSON: it is empty":                                                 "状态码 200：回复是空的",
		"get from example.org: the reply is empty":                                              "回复是空的",
		"status 200: body is not a picture (it looks like text/plain; charset=utf-8, 0 bytes)":  "状态码 200：回复是空的",
		"status 200: body is not a picture (it looks like text/plain; charset=utf-8, 10 bytes)": "状态码 200：返回的不是图片",
		"status 200: body is not a picture (it looks like text/html; charset=utf-8, 91 bytes)":  "状态码 200：返回的是网页，不是数据",
		"status 200: body as JSON: invalid character 'x' looking for beginning of value":        "状态码 200：正文与预期不符",
		"the answer is incomplete: list: expected a list of at least 1, got a list of 0":        "正文与预期不符",
		`Get "https://own.example.org/": dial tcp 127.0.0.1:9: connect: connection refused`:     "连接被拒绝",
	} {
		if !b.is(fmt.Sprintf("window.results.cause(%q) === %q", said, want)) {
			b.t.Errorf("%s: not %s", said, want)
		}
	}
}

// purge previews, purges and sees the next caller wait.
func (b *browser) purge(t *testing.T, p *instance) {
	b.t = t
	b.tab("cache")
	b.until(`document.querySelector("tbody tr .mono")`) // it begins with an endpoint that has entries
	for name, body := range map[string]string{"60s": `"source": "60s"`, "ip": "personal"} {
		b.choose(name)
		b.press(`button[aria-label^="Inspect ` + name + `:"]`)
		b.text("dialog pre", body)
		b.keys(kb.Escape)
	}
	b.choose("sjbz")
	b.until(`[...document.querySelectorAll("tbody tr")].some((row) => row.textContent.includes("sjbz/pictures:") && row.querySelector(".badge")?.textContent.includes("pictures"))`)
	b.choose("ip")
	b.press(`button[title^="Make all entries of this endpoint"]`)
	b.until(`!document.querySelector("dialog input:checked") && document.querySelector("dialog [type=submit]").disabled`)
	b.run(chromedp.Evaluate[chromedp.Void](`window.fetch = ((real) => (path, init) => {
		if (path !== "api/purge") return real.call(window, path, init);
		window.fetch = real;
		return Promise.resolve(new Response('{"error": "it cannot be counted"}', { status: 500 }));
	})(window.fetch)`))
	b.run(chromedp.Click(chromedp.CSS("dialog input[value=soft]")))
	b.text("dialog fieldset + .error", "it cannot be counted")
	b.wrong("mode")
	b.run(chromedp.Click(chromedp.CSS("dialog input[value=hard]")))
	b.text("dialog .preview", "1 entry")
	b.text("dialog .preview", "would be removed")
	b.until(`!document.querySelector("#dialog .beside, #dialog [aria-invalid]")`)
	b.press("dialog button[type=submit]")
	b.outcome("Purged all of ip: 1 entry")
	header, _ := mustGet(t, p.public+"/api/ip?ip=8.8.8.8")
	if status := header.Get("Cache-Status"); strings.Contains(status, "hit") {
		t.Errorf("after the purge: Cache-Status %s", status)
	}
	b.renew()
	b.text("tbody tr", "fresh")
	b.press(`button[aria-label^="Drop… ip:"]`)
	b.text("dialog .preview", "will be removed. The next request for it waits for a new answer")
	b.press("dialog button[type=submit]")
	b.outcome("Dropped ip:")
	b.text("#panel", "Nothing is cached here")
	b.press(`button[title="Make all entries of all endpoints and APIs stale, or remove them"]`)
	b.text("dialog", "all endpoints and APIs")
	b.keys(kb.Escape)
	b.tab("audit")
	b.until(`document.querySelectorAll("tbody tr")[1].textContent.includes("hard")`)
	b.sound()
}

// links lead to the runbook that the listener serves, and to the dashboards of the endpoint.
func (b *browser) links(t *testing.T, p *instance) {
	b.t = t
	b.tab("overview")
	b.until(`document.querySelector(".troubles a[target]")`)
	if !b.is(`[...document.querySelectorAll("a[target]")].every((a) => a.target === "_blank" && a.relList.contains("noopener") && a.relList.contains("noreferrer"))`) {
		t.Error("a page that is linked to may reach the console")
	}
	const own = `[...document.querySelectorAll(".troubles li")].find((li) => li.querySelector(".badge").textContent.endsWith("own"))`
	for _, want := range []string{"/admin/runbook.html#sundryendpointwithoutsource", "https://grafana.example.org/g/d/sundry-service?var-endpoint=own"} {
		if !b.is(`[...` + own + `.querySelectorAll("a")].some((a) => a.href.endsWith("` + want + `"))`) {
			t.Errorf("no link to %s", want)
		}
	}
	b.tab("endpoints")
	b.until(`document.querySelector("a[aria-label='Grafana: ip']").href === "https://grafana.example.org/g/d/sundry-service?var-endpoint=ip"`)
	b.tab("upstreams")
	b.until(`document.querySelector("a[aria-label='Grafana: wpcat/wallpaper-360']").href === "https://grafana.example.org/g/d/sundry-upstreams?var-endpoint=wpcat"`)
	b.sound()
	b.Goto(t, p.admin+"/admin/runbook.html#sundrybreakeropen")
	b.until(`document.querySelector(":target").textContent === "SundryBreakerOpen"`)
	b.Goto(t, p.admin+"/admin/")
	b.sound()
}

// sources are shown with those in trouble first, and are sorted and filtered.
func (b *browser) sources(t *testing.T) {
	b.t = t
	b.tab("upstreams")
	rows := `[...document.querySelectorAll("[data-table=sources] tbody tr")].map((tr) => tr.querySelector("strong").textContent)`
	b.until(rows + `.slice(0, 4).join() === "wpcat,sjbz,sjbz,own"`)
	b.until(`document.documentElement.scrollHeight < 2000`) // what works is folded away
	b.press(`button[aria-label^="Show all"][aria-label$="Sources"]`)
	b.press("[data-table=sources] th button.sort")
	b.until(`((names) => names.length > 15 && names.join() === names.toSorted((a, b) => a.localeCompare(b)).join())(` + rows + `)`)
	b.run(chromedp.Focus(chromedp.CSS("#sources-filter")))
	b.keys("wallpaper-360")
	b.until(rows + `.join() === "sjbz,wpcat"`)
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`))
	b.keys(kb.Delete)
	b.until(rows + `.length > 15`)
	b.sound()
}

// wrong wants the error to be told of the field: to those who see it beside it, and to those who hear it.
func (b *browser) wrong(field string) {
	b.t.Helper()
	if !b.is(`((input) => input.matches("[name=` + field + `][aria-invalid=true]") && input.getAttribute("aria-describedby").split(" ").includes("field-error") && document.getElementById("field-error").classList.contains("error"))(document.activeElement)`) {
		b.t.Errorf("the error is not told of %s", field)
	}
}

// choose lists the entries of an endpoint.
func (b *browser) choose(endpoint string) {
	b.t.Helper()
	b.run(chromedp.SetValue(chromedp.CSS("#cache-endpoint"), endpoint),
		chromedp.Evaluate[chromedp.Void](`document.getElementById("cache-endpoint").dispatchEvent(new Event("change"))`))
	b.until(`/^` + endpoint + `[:/]/.test(document.querySelector("tbody tr .mono")?.textContent)`)
}

// again tries a failure anew, which fails again, and one that works by now.
func (b *browser) again(t *testing.T, p *instance) {
	b.t = t
	b.tab("failures")
	b.text("#panel tbody", "injected fault")
	b.until(`[...document.querySelectorAll("#panel tbody tr")].some((tr) => Number(tr.cells[2].textContent) > 1)`) // one row for many
	// An endpoint whose only caller failed is before one that failed often and whose callers did not notice.
	b.until(`((rows) => rows[0].cells[0].textContent === "own" && rows[0].cells[1].textContent.includes("1 of 1") && rows.some((tr) => tr.cells[0].textContent === "wpcat" && tr.cells[1].textContent === "none"))([...document.querySelectorAll("#panel tbody tr")])`)
	b.until(`((names) => new Set(names).size === names.length)([...document.querySelectorAll("#panel tbody strong")].map((name) => name.textContent))`)
	b.press(`button[aria-expanded=false][aria-label$="wpcat/wallpaper-360"]`)
	b.press(`button[aria-label="Retry wpcat/wallpaper-360"]`)
	b.text("dialog .stages", "It still fails")
	b.text("dialog .stages ol", "request")
	b.text("dialog .stages li:last-child", "verdict")
	b.keys(kb.Escape)
	const host = "/admin/api/upstreams/wp.shanhutech.cn"
	tell(t, http.MethodPost, p.admin+host, `{"do":"open"}`)
	if status, _, body, err := get(p.public + "/api/wpcat?n=13"); err != nil || status < 500 {
		t.Fatalf("with both sources gone: %d %s %v", status, body, err)
	}
	tell(t, http.MethodPost, p.admin+host, `{"do":"auto"}`)
	b.renew()
	b.press(`button[aria-expanded=false][aria-label$="wpcat/birdpaper"]`)
	b.press(`button[aria-label="Retry wpcat/birdpaper"]`)
	b.text("dialog .stages", "It works now")
	b.text("dialog .stages", "reply")
	b.text("dialog .stages", "data")
	b.keys(kb.Escape)
	b.until(`!document.getElementById("dialog").open`)
	b.sound()
}

// reload fails first, as the overview goes on saying until one succeeds.
func (b *browser) reload(t *testing.T, dir string) {
	b.t = t
	wrong := write(t, dir, "wrong.yaml", "nonsense: 1\n")
	b.press("#reload")
	if b.is(`document.querySelector("#dialog [name=operator]")`) {
		t.Error("the name is asked for again")
	}
	b.press("dialog button[type=submit]")
	b.text("dialog .error", "wrong.yaml:1: unknown key nonsense")
	b.keys(kb.Escape)
	b.forgive("status of 400")
	b.tab("overview")
	b.text(".troubles li:first-child .why", "a restart would fail")
	b.text(".troubles li:first-child .why", "wrong.yaml:1: unknown key nonsense")
	if err := os.Remove(wrong); err != nil {
		t.Fatal(err)
	}
	b.press("#reload")
	b.press("dialog button[type=submit]")
	b.outcome("were reloaded")
	b.until(`!document.querySelector(".troubles").textContent.includes("reload")`)
	b.sound()
}

// hostility looks for traces of the hostile text being more than text.
func (b *browser) hostility(t *testing.T) {
	b.t = t
	for _, name := range tabNames {
		b.tab(name)
		if b.is(`document.querySelector("main img, main script, dialog script") || document.title === "taken"`) {
			t.Errorf("%s: text became elements", name)
		}
		if name == "failures" {
			b.press(`button[aria-expanded=false][aria-label$="own/up"]`)
		}
		if name == "endpoints" || name == "failures" {
			b.text("#panel", hostile)
		}
	}
	b.sound()
}

// renewal waits for two of them, the first of which comes by itself: focus, what was typed,
// and a dialog stay.
func (b *browser) renewal(t *testing.T) {
	b.t = t
	b.tab("cache")
	b.run(chromedp.Focus(chromedp.CSS("#cache-filter")))
	b.keys("xy")
	twice := func(first func()) {
		for _, begin := range []func(){first, b.renew} {
			b.run(chromedp.Evaluate[chromedp.Void](`document.getElementById("facts").replaceChildren()`))
			begin()
			b.until(`document.getElementById("facts").childElementCount > 0`) // the panel is shown at the same time
		}
	}
	twice(func() {})
	if !b.is(`document.activeElement.id === "cache-filter" && document.activeElement.value === "xy"`) {
		t.Error("focus or text were lost")
	}
	b.tab("upstreams")
	b.tab("cache")
	b.until(`document.getElementById("cache-filter").value === "xy"`)
	b.run(chromedp.Focus(chromedp.CSS("#cache-filter")))
	b.keys(kb.End, kb.Backspace, kb.Backspace)
	b.tab("upstreams")
	b.press(`button[aria-label^="Show all"][aria-label$="Hosts"]`)
	b.press(`button[aria-label^="Change…"]`)
	b.run(chromedp.SetValue(chromedp.CSS("dialog select[name=for]"), "1d"))
	twice(b.renew)
	if !b.is(`document.getElementById("dialog").open && document.querySelector("dialog select").value === "1d"`) {
		t.Error("the dialog was lost")
	}
	b.keys(kb.Escape)
	b.until(`document.activeElement.matches("button[aria-label^='Change…']")`)
	b.sound()
}

// tell calls the admin API as a script does.
func tell(t *testing.T, method, url, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, url, resp.Status)
	}
}

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/upstreams/waittest"
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
func withHistory(t *testing.T) *instance {
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
	p := serve(t, "--replay", "--catalog", dir, "--replay-fault", "wpcat/wallpaper-360=error:1", "--replay-fault", "ip=latency:20ms")
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

var tabNames = []string{"endpoints", "upstreams", "cache", "failures", "audit"}

func TestConsole(t *testing.T) {
	chromium(t)
	p := withHistory(t)
	b := newBrowser(t, p.admin)
	b.until(`document.querySelectorAll("tbody tr").length > 20`)
	b.text("#facts", "replay")
	b.text("#notices", "lost at a restart")
	b.sound()
	for _, step := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"tabs by keyboard", b.walk}, {"a ttl, live", func(t *testing.T) { b.tune(t, p) }}, {"a breaker", func(t *testing.T) { b.breaker(t, p) }},
		{"a purge", func(t *testing.T) { b.purge(t, p) }}, {"a failure again", func(t *testing.T) { b.again(t, p) }}, {"reload", b.reload},
		{"hostile text", b.hostility}, {"renewal", b.renewal}, {"looks", func(t *testing.T) { b.looks(t, p) }},
	} {
		if !t.Run(step.name, step.do) {
			return // the page is not where the next step would begin
		}
	}
	b.t = t
	b.sound()
	p.end()
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
	b.keys(kb.Tab, kb.Tab)
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
	b.until(`document.activeElement.id === "tab-endpoints"`)
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
	const edit = `button[aria-label="Edit the cache settings of ip"]`
	b.press(edit)
	b.until(`document.getElementById("dialog").open && document.activeElement.name === "ttl"`)
	b.keys(kb.Escape)
	b.until(`!document.getElementById("dialog").open && document.activeElement.matches('` + edit + `')`)
	b.press(edit)
	b.keys("soon", kb.Enter)
	b.text("dialog .error", "expected a number with a unit, such as")
	b.forgive("status of 400")
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog input[name=ttl]").select()`))
	b.keys("90s", kb.Enter)
	b.outcome("ip: cache settings changed")
	b.until(`[...document.querySelectorAll("li.live")].some((li) => li.textContent.includes("1m30s"))`)
	if age := ageOf(t, asked); age > 90 {
		t.Errorf("max-age=%d after the ttl was set to 90s", age)
	}
	b.tab("audit")
	b.text("tbody tr", "as in the file → ttl 1m30s")
	b.press(`button[aria-label="Undo change #1 of ip"]`)
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
	b.press(`button[aria-label="Breaker of ` + failing + `…"]`)
	b.run(chromedp.Click(chromedp.CSS("dialog input[value=reset]")))
	b.press("dialog button[type=submit]")
	b.outcome("the breaker was reset")
	b.until(row(failing) + `.includes("closed")`)
	b.until(`document.title === "Sundry console"`)
	const host = "wp.shanhutech.cn"
	b.press(`button[aria-label="Breaker of ` + host + `…"]`)
	b.run(chromedp.SetValue(chromedp.CSS("dialog select[name=for]"), "1h"))
	b.press("dialog button[type=submit]")
	b.outcome("the breaker is held open")
	b.until(row(host) + `.includes("held open until")`)
	b.until(`document.title === "▲ 1 breaker open – Sundry"`)
	b.press(`button[aria-label="Release the breaker of ` + host + `"]`)
	b.outcome("automatic again")
	b.until(row(host) + `.includes("closed")`)
	b.sound()
}

// purge previews, purges and sees the next caller wait.
func (b *browser) purge(t *testing.T, p *instance) {
	b.t = t
	b.tab("cache")
	for name, body := range map[string]string{"60s": `"source":"60s"`, "ip": "personal"} {
		b.choose(name)
		b.press(`button[aria-label^="Inspect ` + name + `:"]`)
		b.text("dialog pre", body)
		b.keys(kb.Escape)
	}
	b.choose("sjbz")
	b.until(`[...document.querySelectorAll("tbody tr")].some((row) => row.textContent.includes("sjbz/pictures:") && row.querySelector(".badge")?.textContent.includes("pictures"))`)
	b.choose("ip")
	b.press(`button[title^="Make all entries of this endpoint"]`)
	b.text("dialog .preview", "1 entry")
	b.run(chromedp.Click(chromedp.CSS("dialog input[value=hard]")))
	b.text("dialog .preview", "would be removed")
	b.press("dialog button[type=submit]")
	b.outcome("Purged all of ip: 1 entry")
	header, _ := mustGet(t, p.public+"/api/ip?ip=8.8.8.8")
	if status := header.Get("Cache-Status"); strings.Contains(status, "hit") {
		t.Errorf("after the purge: Cache-Status %s", status)
	}
	b.text("tbody tr", "fresh")
	b.press(`button[aria-label^="Drop ip:"]`)
	b.text("dialog .preview", "1 entry")
	b.press("dialog button[type=submit]")
	b.outcome("Dropped ip:")
	b.text("#panel", "Nothing is cached here")
	b.tab("audit")
	b.until(`document.querySelectorAll("tbody tr")[1].textContent.includes("hard")`)
	b.sound()
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
	b.press(`button[aria-label="Retry wpcat/birdpaper"]`)
	b.text("dialog .stages", "It works now")
	b.text("dialog .stages", "reply")
	b.text("dialog .stages", "data")
	b.keys(kb.Escape)
	b.until(`!document.getElementById("dialog").open`)
	b.sound()
}

func (b *browser) reload(t *testing.T) {
	b.t = t
	b.press("#reload")
	b.press("dialog button[type=submit]")
	b.outcome("were reloaded")
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
		if name == "endpoints" || name == "failures" {
			b.text("#panel", hostile)
		}
	}
	b.sound()
}

// renewal waits for two of them: focus, what was typed, and a dialog stay.
func (b *browser) renewal(t *testing.T) {
	b.t = t
	b.tab("cache")
	b.run(chromedp.Focus(chromedp.CSS("#cache-filter")))
	b.keys("xy")
	twice := func() {
		from := b.polls.Load()
		waittest.Until(t, "two renewals", func() bool { return b.polls.Load() >= from+2 })
	}
	twice()
	if !b.is(`document.activeElement.id === "cache-filter" && document.activeElement.value === "xy"`) {
		t.Error("focus or text were lost")
	}
	b.tab("upstreams")
	b.tab("cache")
	b.until(`document.getElementById("cache-filter").value === "xy"`)
	b.run(chromedp.Focus(chromedp.CSS("#cache-filter")))
	b.keys(kb.End, kb.Backspace, kb.Backspace)
	b.tab("upstreams")
	b.press(`button[aria-label^="Breaker of"]`)
	b.run(chromedp.SetValue(chromedp.CSS("dialog select[name=for]"), "1d"))
	twice()
	if !b.is(`document.getElementById("dialog").open && document.querySelector("dialog select").value === "1d"`) {
		t.Error("the dialog was lost")
	}
	b.keys(kb.Escape)
	b.until(`document.activeElement.matches("button[aria-label^='Breaker of']")`)
	b.sound()
}

// looks takes pictures, and measures that nothing is wider than the screen.
// go test -artifacts keeps them.
func (b *browser) looks(t *testing.T, p *instance) {
	b.t = t
	dir := t.ArtifactDir()
	b.tab("cache")
	b.choose("wpcat")
	tell(t, http.MethodPut, p.admin+"/admin/api/endpoints/wpcat/cache", `{"set":{"ttl":"2h","poll":"1m"},"for":"1h"}`)
	tell(t, http.MethodPost, p.admin+"/admin/api/upstreams/api.bilibili.com", `{"do":"open","for":"10m"}`)
	for _, as := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 360}, {"narrowest", "dark", 320}} {
		b.run(chromedp.EmulateViewport(as.width, 900))
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: as.scheme}}
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
			t.Fatal(err)
		}
		for _, name := range tabNames {
			b.tab(name)
			b.until(`document.documentElement.scrollWidth <= innerWidth`) // once it is laid out anew
			b.picture(filepath.Join(dir, as.name+"-"+name+".png"))
		}
		b.tab("upstreams")
		b.run(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("main section")[1].scrollIntoView()`))
		b.picture(filepath.Join(dir, as.name+"-sources.png"))
		for name, opener := range map[string]string{"endpoints": `button[aria-label="Edit the cache settings of 60s"]`, "cache": ".danger", "failures": "button[aria-label^=Retry]"} {
			b.tab(name)
			b.press(opener)
			b.until(`document.getElementById("dialog").open && !/Calling…|Counting…/.test(document.querySelector("dialog").textContent)`)
			b.until(`document.getElementById("dialog").scrollWidth <= innerWidth`)
			b.picture(filepath.Join(dir, as.name+"-"+name+"-dialog.png"))
			b.keys(kb.Escape)
			b.until(`!document.getElementById("dialog").open`)
		}
	}
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

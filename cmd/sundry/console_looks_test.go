package main

import (
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/proxy/browsertest"
	"sundry/upstreams/lib/peertest"
)

// view is what the console can show: a tab, and what is opened there.
type view struct {
	name, tab string
	// en and zh select what opens the dialog, if it is one; zh is "" where it is the same.
	en, zh string
	// then is done once it is open.
	then func(*browser)
	// shown holds once all of it is there.
	shown string
}

// views are all that there are.
func views() []view {
	const asked, counted = `!/Calling…|调用中…/.test(document.querySelector("dialog:modal .stages").textContent)`, `!/Counting…|统计中…/.test(document.querySelector("dialog:modal").textContent)`
	named := func(en, zh, what string) (string, string) {
		return `button[aria-label="` + en + what + `"]`, `button[aria-label="` + zh + what + `"]`
	}
	all := []view{
		{name: "overview", tab: "overview", shown: `document.querySelector(".troubles")?.textContent.includes("broken.yaml:1") && document.querySelectorAll(".tile svg").length === 4`},
		{name: "endpoints", tab: "endpoints"},
		{name: "apis", tab: "apis", shown: `document.querySelector("#apis-api")`},
		{name: "advice", tab: "advice", shown: `document.querySelector("[data-table=advice]") && ![...document.querySelectorAll("[data-table=advice] td:nth-child(6)")].some((td) => td.textContent === "")`},
		{name: "upstreams", tab: "upstreams", shown: `document.querySelector(".spark .cross")`},
		{name: "cache", tab: "cache", then: func(b *browser) { b.choose("wpcat") }},
		{name: "failures", tab: "failures", then: func(b *browser) { b.press(`button[aria-expanded=false][aria-label$="wpcat/wallpaper-360"]`) }, shown: `document.querySelector(".single li")`},
		{name: "audit", tab: "audit", shown: `document.querySelector("tr.undone")`},
		{name: "log-in", tab: "overview", en: "#operator"},
		{name: "no name", tab: "overview", en: "#operator", then: noName, shown: `document.querySelector("#login [aria-invalid=true]")`},
		{name: "reload", tab: "overview", en: "#reload", then: func(b *browser) { b.press("dialog [type=submit]") }, shown: `document.querySelector("dialog [name=operator][aria-invalid=true]")`},
		{name: "purge", tab: "cache", en: ".push button:first-child", then: func(b *browser) { b.run(chromedp.Click(chromedp.CSS("dialog input[value=soft]"))) }, shown: counted},
		{name: "purge everything", tab: "cache", en: ".push .danger"},
	}
	add := func(v view, en, zh, what string) {
		v.en, v.zh = named(en, zh, what)
		all = append(all, v)
	}
	submit := func(b *browser) { b.press("dialog [type=submit]") }
	add(view{name: "rule", tab: "endpoints"}, "Edit…", "编辑…", " wpcat")
	add(view{name: "wrong rule", tab: "endpoints", then: wrongRule, shown: `document.querySelector("dialog .beside")`}, "Edit…", "编辑…", " wpcat")
	add(view{name: "empty rule", tab: "endpoints", then: submit, shown: `document.querySelector("dialog .beside")`}, "Edit…", "编辑…", " ip")
	add(view{name: "back to file", tab: "endpoints", then: func(b *browser) { b.press("dialog p > button") }, shown: `document.querySelector("dialog li")`}, "Edit…", "编辑…", " wpcat")
	add(view{name: "curve", tab: "advice", then: func(b *browser) { b.press("dialog .buttons button") }, shown: `document.querySelector("dialog svg.large .mark.then")`}, "Tune…", "调节…", " tuned")
	add(view{name: "unmoved", tab: "advice", then: submit, shown: `document.querySelector("dialog .slider + .beside") && document.activeElement.name === "ttl"`}, "Tune…", "调节…", " tuned")
	add(view{name: "no curve", tab: "advice", shown: `document.querySelector("dialog .empty")`}, "Tune…", "调节…", " music")
	add(view{name: "declaration", tab: "endpoints", shown: `document.querySelector("dialog pre").textContent.includes("name:")`}, "YAML", "YAML", " qrcode")
	add(view{name: "try", tab: "endpoints", then: submit, shown: `document.querySelector("dialog img.picture")`}, "Try…", "试用…", " qrcode")
	add(view{name: "try text", tab: "endpoints", then: submit, shown: `document.querySelector("dialog .stages pre")`}, "Try…", "试用…", " wpcat")
	add(view{name: "declaration of an API", tab: "apis", shown: `document.querySelector("dialog pre").textContent.includes("proxy:")`}, "YAML", "YAML", " weather")
	add(view{name: "purge of an API", tab: "apis"}, "Purge…", "清除…", " weather")
	add(view{name: "breaker", tab: "upstreams"}, "Change…", "更改…", " "+failing)
	add(view{name: "no choice", tab: "upstreams", then: submit, shown: `document.querySelector("dialog .beside")`}, "Change…", "更改…", " "+failing)
	all = append(all, view{name: "entry", tab: "cache", en: `button[aria-label^="Inspect "]`, zh: `button[aria-label^="查看 "]`, shown: `document.querySelector("dialog pre")`})
	all = append(all, view{name: "drop", tab: "cache", en: `button[aria-label^="Drop… "]`, zh: `button[aria-label^="删除… "]`, shown: counted})
	for name, row := range map[string]struct {
		url   string
		parts int
	}{"explained": {"/api/wpcat?n=10&nonsense=1", 6}, "explained refusal": {"/api/wpcat?type=1", 2}} {
		all = append(all, view{name: name, tab: "explain", then: func(b *browser) {
			b.run(chromedp.SetValue(chromedp.CSS("#explain-url"), row.url))
			b.press("#explain button")
		}, shown: fmt.Sprintf(`document.querySelectorAll("#panel dl").length === %d`, row.parts)})
	}
	add(view{name: "retry", tab: "failures", shown: asked + ` && document.querySelector("dialog ol li")`}, "Retry", "重试", " wpcat/wallpaper-360")
	return all
}

func noName(b *browser) { b.keys(kb.Enter) }

func wrongRule(b *browser) {
	b.run(chromedp.SetValue(chromedp.CSS("dialog input[name=ttl]"), "soon"))
	b.press("dialog [type=submit]")
}

// TestConsoleInEveryLook holds all that the console can show against axe, wide and narrow,
// light and dark, in Chinese narrow and dark, and sees to it that nothing is wider than the screen.
// With go test -artifacts it keeps pictures of all that, for people to look at.
func TestConsoleInEveryLook(t *testing.T) {
	t.Parallel()
	chromium(t)
	peertest.Module(t, "axe-core")
	dir, data := hostileCatalog(t), t.TempDir()
	writeEndpoint(t, dir, "tuned", "https://tuned.example.org", "ttl: 6m, grace: 10m")
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nsummary: {en: Weather., zh: 天气}\nproxy: {to: 'https://api.example.org/v1', hosts: [weather.example.org]}\n")
	keepExperience(t, dir, "tuned", data, &flags{Replay: true})
	env := keptIn(data)
	env["SUNDRY_GRAFANA_URL"] = "https://grafana.example.org"
	p := withHistory(t, env, dir)
	for range 2 {
		tell(t, http.MethodPut, p.admin+"/admin/api/endpoints/wpcat/cache", `{"set":{"ttl":"2h","poll":"1m"},"for":"1h","note":"the wallpapers come late"}`)
	}
	tell(t, http.MethodPost, p.admin+"/admin/api/audit/2/undo", "")
	tell(t, http.MethodPost, p.admin+"/admin/api/upstreams/api.bilibili.com", `{"do":"open","for":"10m"}`)
	tell(t, http.MethodPost, p.admin+"/admin/api/purge", `{"endpoint":"60s","mode":"soft"}`)
	write(t, dir, "broken.yaml", "nonsense: 1\n") // the next reload fails
	for _, page := range []string{"runbook", "runbook.zh"} {
		t.Run(page, func(t *testing.T) { lookAtRunbook(t, p, page) })
	}
	for _, language := range []string{"en", "zh"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			b := &browser{browsertest.Open(t, p.admin+"/admin/"), t}
			b.Goto(t, p.admin+"/admin/?lang="+language)
			for _, v := range views() {
				if !b.show(t, v, language) {
					return // the page is not where the next view would begin
				}
			}
		})
	}
}

// lookAtRunbook looks at its beginning, and at one of its sections.
func lookAtRunbook(t *testing.T, p *instance, page string) {
	b := &browser{browsertest.Open(t, p.admin+"/admin/"), t}
	for _, part := range []string{"top", "outcomes"} {
		b.Goto(t, p.admin+"/admin/"+page+".html#"+part)
		b.until(`document.querySelector("h1") && (location.hash === "#top" || document.querySelector(":target"))`)
		for _, look := range browsertest.Looks() {
			b.look(look)
			b.Axe(t)
			if keepArtifacts() {
				b.picture(filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%s-%d-%s.png", page, part, look.Width, look.Scheme)))
			}
		}
		b.look(browsertest.Look{Width: 320, Scheme: "light"})
	}
	b.sound()
}

// show opens a view, checks how it looks, and closes it.
func (b *browser) show(t *testing.T, v view, language string) bool {
	return t.Run(v.name, func(t *testing.T) {
		b.t = t
		b.As(t, browsertest.Looks()[0])
		b.tab(v.tab)
		if opener := v.opener(language); opener != "" {
			b.press(opener)
			b.until(`document.querySelector("dialog:modal")`)
		}
		if v.then != nil {
			v.then(b)
		}
		if v.shown != "" {
			b.until(v.shown)
		}
		b.labelled()
		if v.opener(language) == "" {
			b.look(browsertest.Look{Width: 360, Scheme: "light"})
			b.until(`[...document.querySelectorAll("[role=tab]")].every((tab) => tab.getBoundingClientRect().right <= innerWidth && tab.scrollWidth <= tab.clientWidth)`)
		}
		looks := browsertest.Looks()
		if language == "zh" { // the same but for its words
			looks = looks[len(looks)-1:]
		}
		for _, look := range looks {
			b.look(look)
			b.Axe(t)
			if keepArtifacts() {
				b.picture(filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d-%s.png", v.name, look.Width, look.Scheme)))
			}
		}
		b.look(browsertest.Look{Width: 320, Scheme: "light"})
		if v.opener(language) != "" {
			b.As(t, browsertest.Looks()[0])
			b.keys(kb.Escape)
			b.until(`!document.querySelector("dialog:modal")`)
		}
		b.sound()
	})
}

func (v *view) opener(language string) string {
	if language == "zh" && v.zh != "" {
		return v.zh
	}
	return v.en
}

// look changes the screen, and measures that what is on it is not wider.
func (b *browser) look(as browsertest.Look) {
	b.t.Helper()
	b.As(b.t, as)
	b.until(`document.documentElement.scrollWidth <= innerWidth`) // once it is laid out anew
	b.until(`((dialog) => !dialog || dialog.scrollWidth <= dialog.clientWidth)(document.querySelector("dialog:modal"))`)
}

// labelled finds what people who speak to their screen could not name: a control whose name
// does not hold its visible text (WCAG 2.5.3). There is one main landmark, and nothing
// dangerous is chosen before somebody has chosen it.
func (b *browser) labelled() {
	b.t.Helper()
	for _, wrong := range browsertest.Value[[]string](b.t, b.Browser, misnamed) {
		b.t.Error("its name does not hold what it shows: ", wrong)
	}
	if !b.is(`document.querySelectorAll("main, [role=main]").length === 1`) {
		b.t.Error("not one main landmark")
	}
	if b.is(`document.activeElement.matches(".danger")`) {
		b.t.Error("Enter would do what is dangerous")
	}
}

const misnamed = `[...document.querySelectorAll("button[aria-label], a[aria-label], [role=tab][aria-label]")].map((control) => {
	const seen = control.cloneNode(true);
	for (const hidden of seen.querySelectorAll("[aria-hidden=true]")) hidden.remove();
	return [control.getAttribute("aria-label"), seen.textContent.trim()];
}).filter(([name, seen]) => !name.toLowerCase().includes(seen.toLowerCase())).map((pair) => pair.join(": "))`

// keepArtifacts reports whether somebody wants to look at the pictures.
func keepArtifacts() bool {
	wanted := flag.Lookup("test.artifacts")
	return wanted != nil && wanted.Value.String() == "true"
}

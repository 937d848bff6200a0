package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/proxy/browsertest"
	"sundry/upstreams/lib/waittest"
)

// TestHomePage is a visit of the home page, by people of several kinds.
func TestHomePage(t *testing.T) {
	t.Parallel()
	browsertest.Chromium(t)
	p := serve(t, "--replay")
	waittest.Until(t, "a state", func() bool {
		mustGet(t, p.public+"/api/dailywp")
		_, states := mustGet(t, p.public+"/status.json")
		return strings.Contains(states, `"dailywp":{"state":"works"`)
	})
	b := browsertest.Open(t, p.public+"/")
	b.Prefers(t, "en")
	for name, visit := range map[string]func(*testing.T, *browsertest.Browser, string){
		"tastes": visitTastes, "own text": visitWithText, "search": visitSearching, "language": visitInLanguages,
		"keyboard": visitByKeyboard, "looks": visitInEveryLook, "without script": visitWithoutScript,
	} {
		t.Run(name, func(t *testing.T) {
			b.Forget(t)
			visit(t, b, p.public)
			b.Sound(t)
		})
	}
}

// TestTroubleIsNamedOnItsCard: colours alone tell nobody what they mean.
func TestTroubleIsNamedOnItsCard(t *testing.T) {
	t.Parallel()
	browsertest.Chromium(t)
	p := serveWith(t, onlyIn(t, "60s"), "--replay", "--catalog", greeter(t))
	waittest.Until(t, "a state", func() bool {
		if status, _, body, err := get(p.public + "/api/greeter?who=you"); err != nil || status != http.StatusBadGateway { // no exchange is recorded
			t.Fatalf("%d %s %v", status, body, err)
		}
		_, states := mustGet(t, p.public+"/status.json")
		return strings.Contains(states, `"greeter":{"state":"failing"`)
	})
	b := browsertest.Open(t, p.public+"/")
	for lang, words := range map[string]string{"en": "fails at present", "zh": "暂不可用"} {
		b.Goto(t, p.public+"/?lang="+lang)
		b.Text(t, "#card-greeter .trouble", words)
	}
	b.Sound(t)
}

// Cards show what their endpoints answer, once they come into sight; what is about the
// visitor only if the visitor wants to see it.
func visitTastes(t *testing.T, b *browsertest.Browser, home string) {
	lookups, calls := b.Requests("/api/ip"), b.Requests("/api/")
	b.Goto(t, home+"/")
	b.Until(t, `document.querySelector("#card-dailywp img").classList.contains("photo")`)
	b.Until(t, `document.querySelector("#card-wpcat .taste").classList.contains("failed")`) // links alone: its categories are shown
	browsertest.Value[any](t, b, `document.querySelector("#group-text").scrollIntoView()`)
	b.Until(t, `document.querySelector("#card-yiyan .lines p")?.textContent.length > 4`)
	b.Until(t, `document.querySelectorAll("#card-60s .lines p").length > 3`)
	b.Until(t, `document.querySelector("#card-dailywp .dot.works")`)
	if n := b.Requests("/api/ip") - lookups; n > 0 {
		t.Errorf("%d lookups of the visitor, who did not ask for any", n)
	}
	b.Press(t, "#card-ip .show")
	b.Text(t, "#card-ip .lines", "127.0.0.1")
	if n := b.Requests("/api/") - calls; n > 20 {
		t.Errorf("a visit costs %d calls", n)
	}
}

// A QR code follows the letters; of an answer that cannot be had, the reason is shown.
func visitWithText(t *testing.T, b *browsertest.Browser, home string) {
	b.Goto(t, home+"/")
	browsertest.Value[any](t, b, `document.querySelector("#card-qrcode input").focus()`)
	b.Type(t, "hi")
	b.Until(t, `document.querySelector("#card-qrcode img").src.endsWith("/api/qrcode?text=hi")`)
	browsertest.Value[any](t, b, `document.querySelector("#card-sfz input").focus()`)
	b.Type(t, "12")
	b.Keys(t, kb.Enter)
	b.Text(t, "#card-sfz .lines", "17 digits")
	b.Forgive("400 (Bad Request)")
}

func visitSearching(t *testing.T, b *browsertest.Browser, home string) {
	b.Goto(t, home+"/")
	const shown = `[...document.querySelectorAll(".card")].filter(c => c.offsetParent).map(c => c.id).join()`
	b.Shortcut(t, "/")
	b.Until(t, `document.activeElement.id === "words"`)
	b.Type(t, "快递")
	b.Until(t, shown+` === "card-kd"`)
	b.Text(t, "#found", "Found: Parcel tracking")
	b.Keys(t, kb.Escape)
	b.Type(t, "kuaidi")
	b.Until(t, shown+` === "card-kd"`)
	b.Keys(t, kb.Escape)
	b.Type(t, "qrocde") // a typing error
	b.Until(t, shown+` === "card-qrcode"`)
	b.Text(t, "#found", "close to them: QR code generator")
	b.Keys(t, kb.Escape)
	b.Until(t, `[...document.querySelectorAll(".card")].every(c => c.offsetParent)`)
	b.Type(t, "my ip")
	b.Until(t, shown+` === "card-ipinfo,card-ip"`)
	b.Keys(t, kb.Escape)
	b.Type(t, "weather") // near to "whether" in summaries
	b.Text(t, "#found", "Nothing found")
	b.Until(t, `!document.querySelector("#add").hidden && document.querySelector("#add a").getAttribute("href").endsWith("/docs#own")`)
	b.Keys(t, kb.Escape)
	b.Type(t, "wallpaper RANDOM")
	b.Until(t, shown+` === "card-sjbz"`)
	b.Keys(t, kb.Enter)
	b.Until(t, `location.pathname === "/docs/sjbz"`)
}

// The language that is chosen stays.
func visitInLanguages(t *testing.T, b *browsertest.Browser, home string) {
	b.Goto(t, home+"/")
	b.Text(t, "h1", "Images, lookups")
	b.Press(t, ".switch")
	b.Until(t, `document.documentElement?.lang === "zh-CN" && document.readyState === "complete"`)
	b.Goto(t, home+"/docs/")
	b.Text(t, "h1", "文档")
	b.Press(t, ".switch")
	b.Until(t, `document.documentElement?.lang === "en" && document.readyState === "complete"`)
	b.Goto(t, home+"/")
	b.Text(t, "h1", "Images, lookups")
}

// The first thing that Tab comes to leads to the content; from there, all that can be used
// can be reached, and is seen when it is.
func visitByKeyboard(t *testing.T, b *browsertest.Browser, home string) {
	b.Goto(t, home+"/")
	b.Keys(t, kb.Tab)
	b.Until(t, `document.activeElement.className === "skip" && document.activeElement.getBoundingClientRect().left >= 0`)
	b.Keys(t, kb.Enter, kb.Tab, kb.Tab) // past the button that copies
	b.Until(t, `document.activeElement.id === "words"`)
	for range 12 {
		b.Keys(t, kb.Tab)
		if !b.Is(t, `getComputedStyle(document.activeElement).outlineStyle === "solid"`) {
			t.Errorf("the focus on %s is not seen", browsertest.Value[string](t, b, `document.activeElement.outerHTML.slice(0, 99)`))
		}
	}
	b.Until(t, `document.activeElement.closest(".card")`)
}

func visitInEveryLook(t *testing.T, b *browsertest.Browser, home string) {
	for _, path := range []string{"/?lang=zh", "/docs?lang=zh", "/status?lang=zh", "/status?lang=en", "/docs?lang=en", "/?lang=en"} {
		b.Goto(t, home+path)
		b.AxeInEveryLook(t)
	}
	b.As(t, browsertest.Look{Width: 320, Scheme: "light"})
	if b.Is(t, "document.documentElement.scrollWidth > innerWidth") {
		t.Error("the page is wider than 320 pixels")
	}
	b.As(t, browsertest.Looks()[0])
}

// Without the script it is a list of endpoints and their pictures.
func visitWithoutScript(t *testing.T, b *browsertest.Browser, home string) {
	b.Script(t, false)
	defer b.Script(t, true)
	b.Goto(t, home+"/")
	b.Until(t, `document.querySelector("#card-dailywp img").naturalWidth > 0`)
	if b.Is(t, `document.querySelector("#search").offsetParent`) || !b.Is(t, `document.querySelector("#card-60s h3 a").offsetParent`) {
		t.Error("a search that cannot work is shown, or an endpoint is not")
	}
	b.Run(t, chromedp.Click(chromedp.CSS("#card-60s .path a")))
	b.Until(t, `location.pathname === "/api/60s"`)
}

// TestWellKnownFiles: those that crawlers, agents and finders of holes look for.
func TestWellKnownFiles(t *testing.T) {
	t.Parallel()
	p := serve(t, "--replay")
	for path, want := range map[string]int{"/robots.txt": 200, "/llms.txt": 200, "/favicon.ico": 200, "/.well-known/security.txt": 404} {
		if status, _, _, err := get(p.public + path); err != nil || status != want {
			t.Errorf("%s: %d %v", path, status, err)
		}
	}
	reachable := serveWith(t, map[string]string{"SUNDRY_CONTACT": "ops@example.org"}, "--replay")
	header, body := mustGet(t, reachable.public+"/.well-known/security.txt")
	if header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(body, "Contact: mailto:ops@example.org\nExpires: 20") {
		t.Errorf("%v %s", header, body)
	}
}

// TestVisitOfAnAPI: it is found on the home page, told of in the docs, and its state is known, in every look.
func TestVisitOfAnAPI(t *testing.T) {
	t.Parallel()
	browsertest.Chromium(t)
	origin, _ := counting(t)
	dir := t.TempDir()
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nsummary: {en: Weather by place., zh: 各地天气}\nproxy: {to: '"+origin+"'}\n")
	write(t, dir, "bulletin.yaml", "version: 1\nname: bulletin\nproxy: {to: '"+origin+"', hosts: [news.example.org, a-name-that-is-long.news.example.com]}\n")
	p := serve(t, "--replay", "--catalog", dir)
	waittest.Until(t, "a state", func() bool {
		if status, _, _, err := get(p.public + "/api/weather/x"); err != nil || status != http.StatusBadGateway { // there is no network
			t.Fatalf("%d %v", status, err)
		}
		_, states := mustGet(t, p.public+"/status.json")
		return strings.Contains(states, `"weather":{"state":"failing"`)
	})
	b := browsertest.Open(t, p.public+"/")
	b.Prefers(t, "en")
	b.Goto(t, p.public+"/")
	b.Text(t, "#card-weather .trouble", "fails at present")
	b.Shortcut(t, "/")
	b.Until(t, `document.activeElement.id === "words"`)
	b.Type(t, "天气")
	b.Until(t, `[...document.querySelectorAll(".card")].filter(c => c.offsetParent).map(c => c.id).join() === "card-weather"`)
	b.Keys(t, kb.Enter)
	b.Until(t, `location.pathname === "/docs/weather"`)
	b.Text(t, "pre code", "curl -i '"+p.public+"/api/weather/'")
	for _, path := range []string{"/", "/docs", "/docs/weather", "/docs/bulletin", "/status"} {
		b.Goto(t, p.public+path)
		b.AxeInEveryLook(t)
	}
	b.Sound(t)
}

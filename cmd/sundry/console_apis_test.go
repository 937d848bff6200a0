package main

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestConsoleOfAnAPIAlone: with serve --to each tab works, what is kept is listed and purged, and the audit says what was.
func TestConsoleOfAnAPIAlone(t *testing.T) {
	t.Parallel()
	chromium(t)
	origin, _ := counting(t)
	p := serve(t, "--to", origin)
	for _, path := range []string{"/a", "/a/b?x=1", "/c"} {
		mustGet(t, p.public+path)
	}
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"api","tag":"c","mode":"soft"}`)
	b := newBrowser(t, p.admin)
	b.until(`document.querySelectorAll(".tile svg").length === 4`)
	for _, name := range tabNames {
		b.tab(name)
		b.until(`document.getElementById("lost").hidden`)
	}
	b.tab("endpoints")
	b.text("#panel", "All is served as an API")
	b.tab("apis")
	b.text("tbody tr td", "/")
	b.text("#panel", "fresh for as long as the response says")
	b.press(`a[aria-label="Explain api"]`)
	b.until(`document.getElementById("explain-url")?.value === "/" && document.querySelector("#panel dl")`)
	b.tab("apis")
	b.until(`document.querySelectorAll("#panel table")[1].tBodies[0].rows.length === 3`)
	b.run(chromedp.Focus(chromedp.CSS("#apis-value")))
	b.keys("/a", kb.Enter)
	b.until(`document.querySelectorAll("#panel table")[1].tBodies[0].rows.length === 2`)
	b.press(`button[aria-label="Purge these… /a"]`)
	b.run(chromedp.Click(chromedp.CSS("dialog input[value=hard]")))
	b.text("dialog .preview", "2 entries")
	b.run(chromedp.Focus(chromedp.CSS("dialog [name=operator]")))
	b.keys("alice", kb.Enter)
	b.outcome("2 entries")
	b.tab("audit")
	b.text("tbody tr:nth-child(1)", "purge api")
	b.text("tbody tr:nth-child(1)", "hard: URL prefix /a")
	b.text("tbody tr:nth-child(2)", "soft: tag c")
	b.sound()
}

// TestConsoleOfAnAPIThatSaysNothing: the row of the API says why nothing is stored, until something is.
func TestConsoleOfAnAPIThatSaysNothing(t *testing.T) {
	t.Parallel()
	chromium(t)
	p := serve(t, "--to", silentAPI(t))
	for range 20 {
		mustGet(t, p.public+"/a")
	}
	b := newBrowser(t, p.admin)
	b.tab("apis")
	b.text("tbody tr td .notice", "the API says neither Cache-Control nor Last-Modified")
	b.sound()
	mustGet(t, p.public+"/kept")
	b.until(`!document.querySelector("#panel .notice")`)
}

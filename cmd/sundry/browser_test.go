package main

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"sundry/proxy/browsertest"
)

// browser is the console in Chromium, with the test, or the step of one, that uses it now.
type browser struct {
	*browsertest.Browser
	t *testing.T
}

func chromium(t *testing.T) string {
	t.Helper()
	return browsertest.Chromium(t)
}

// newBrowser opens the console of the listener at home.
func newBrowser(t *testing.T, home string) *browser {
	t.Helper()
	b := &browser{browsertest.Open(t, home+"/admin/"), t}
	b.Goto(t, home+"/admin/")
	return b
}

// renew has the page renewed now, as when it is looked at again, and not after seconds.
func (b *browser) renew() {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event("visibilitychange"))`))
}

// forgive forgets the noted problems that hold a text.
func (b *browser) forgive(text string) { b.Forgive(text) }

func (b *browser) sound() {
	b.t.Helper()
	b.Sound(b.t)
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.Run(b.t, actions...)
}

// is evaluates a condition in the page.
func (b *browser) is(condition string) bool {
	b.t.Helper()
	return b.Is(b.t, condition)
}

func (b *browser) until(condition string) {
	b.t.Helper()
	b.Until(b.t, condition)
}

func (b *browser) keys(keys ...string) {
	b.t.Helper()
	b.Keys(b.t, keys...)
}

// press uses a control by the keyboard alone.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.Press(b.t, selector)
}

// tab opens a view.
func (b *browser) tab(name string) {
	b.t.Helper()
	// What is loading may move the tabs while they are clicked.
	b.until(`((panel) => panel.dataset.tab && !panel.hasAttribute("aria-busy"))(document.getElementById("panel"))`)
	b.run(chromedp.Click(chromedp.CSS("#tab-" + name)))
	b.until(`document.getElementById("panel").dataset.tab === "` + name + `"`)
}

// text waits until the element holds the text.
func (b *browser) text(selector, want string) {
	b.t.Helper()
	b.Text(b.t, selector, want)
}

// outcome waits for what the live region says, and hides it.
func (b *browser) outcome(want string) {
	b.t.Helper()
	b.text("#outcome", want)
	b.press("#outcome button")
	b.until(`document.getElementById("outcome").textContent === ""`)
}

// picture writes a PNG of what the screen shows: a dialog is where people see it.
func (b *browser) picture(file string) {
	b.t.Helper()
	png, err := chromedp.Run(b.Context, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

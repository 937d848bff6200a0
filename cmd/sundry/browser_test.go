package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/waittest"

	"sundry/upstreams/peertest"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser is a page of Chromium, and what it should not have done.
type browser struct {
	t     *testing.T
	ctx   context.Context
	polls atomic.Int64 // calls for the overview

	mu       sync.Mutex
	problems []string
}

func chromium(t *testing.T) string {
	t.Helper()
	return peertest.Program(t, "chromium", "chromium", "chromium", "chromium-browser", "google-chrome", "headless-shell")
}

// newBrowser opens the console of the listener at home.
func newBrowser(t *testing.T, home string) *browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("force-prefers-reduced-motion", true), chromedp.WindowSize(1280, 900))
	alloc, stopAlloc := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, stop := chromedp.NewContext(alloc)
	b := &browser{t: t, ctx: ctx}
	t.Cleanup(func() { stop(); stopAlloc() })
	if err := chromedp.Listen(ctx, func(event any) { b.watch(home, event) }); err != nil {
		t.Fatal(err)
	}
	b.run(chromedp.Navigate(home + "/admin/"))
	return b
}

// watch notes what a sound page does not do.
func (b *browser) watch(home string, event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		problem = fmt.Sprint("console: ", e.Type)
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		problem = fmt.Sprintf("log: %s %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		problem = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if strings.HasSuffix(e.Request.URL, "/admin/api/overview") {
			b.polls.Add(1)
		}
		if !strings.HasPrefix(e.Request.URL, home+"/admin/") {
			problem = "request beyond the console: " + e.Request.URL
		}
	}
	if problem != "" {
		b.mu.Lock()
		b.problems = append(b.problems, problem)
		b.mu.Unlock()
	}
}

// forgive forgets the noted problems that hold a text.
func (b *browser) forgive(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = slices.DeleteFunc(b.problems, func(p string) bool { return strings.Contains(p, text) })
}

func (b *browser) sound() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Error(p)
	}
	b.problems = nil
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 20*time.Second)
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// is evaluates a condition in the page.
func (b *browser) is(condition string) bool {
	b.t.Helper()
	ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
	if err != nil {
		b.t.Fatal(condition, ": ", err)
	}
	return ok
}

func (b *browser) until(condition string) {
	b.t.Helper()
	waittest.Until(b.t, condition, func() bool { return b.is(condition) })
}

func (b *browser) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
}

// press uses a control by the keyboard alone.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.run(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Focus(chromedp.CSS(selector)))
	b.keys(kb.Enter)
}

func (b *browser) tab(name string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS("#tab-" + name)))
	b.until(`document.getElementById("panel").dataset.tab === "` + name + `"`)
}

// text waits until the element holds the text.
func (b *browser) text(selector, want string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, want))
}

// outcome waits for what the live region says, and hides it.
func (b *browser) outcome(want string) {
	b.t.Helper()
	b.text("#outcome", want)
	b.press("#outcome button")
	b.until(`document.getElementById("outcome").textContent === ""`)
}

func (b *browser) picture(file string) {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

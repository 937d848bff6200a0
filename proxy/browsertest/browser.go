// Package browsertest opens pages in headless Chromium, for tests. It promises that a
// page reaches nothing but this machine, and that whatever a sound page does not do is
// noted: messages on the console, exceptions, dialogs, violations of the
// Content-Security-Policy, requests to elsewhere. Where Chromium is missing, the test is
// skipped with a message, or fails if SUNDRY_TEST_REQUIRE lists it.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/upstreams/lib/peertest"
	"sundry/upstreams/lib/waittest"
)

// patience bounds a single action: only a failing test waits that long.
const patience = 20 * time.Second

// Browser is a page of Chromium. It is used by one goroutine, and closed when the test
// ends.
type Browser struct {
	// Context is what actions of chromedp run in.
	Context context.Context

	t        testing.TB
	within   []string
	mu       sync.Mutex
	requests []string
	problems []string
}

// Chromium returns the path of the program.
func Chromium(t testing.TB) string {
	t.Helper()
	return peertest.Program(t, "chromium", "chromium", "chromium", "chromium-browser", "google-chrome", "headless-shell")
}

// Open starts Chromium with an empty page of 1280 by 900 pixels. A request for a URL
// that begins with none of within counts as a problem.
func Open(t testing.TB, within ...string) *Browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(Chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.Flag("force-prefers-reduced-motion", true), chromedp.WindowSize(1280, 900))
	alloc, stopAlloc := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, stop := chromedp.NewContext(alloc)
	b := &Browser{Context: ctx, t: t, within: within}
	t.Cleanup(func() { stop(); stopAlloc() })
	if err := chromedp.Listen(ctx, b.watch); err != nil {
		t.Fatal(err)
	}
	return b
}

// watch notes requests, and what a sound page does not do.
func (b *Browser) watch(event any) {
	problem := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		problem = fmt.Sprint("console: ", e.Type)
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text + " " + e.ExceptionDetails.URL
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			problem += " " + thrown.Description
		}
	case *log.EventEntryAdded:
		problem = fmt.Sprintf("log: %s %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		problem = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		problem = b.sent(e.Request.URL)
	}
	if problem != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problems = append(b.problems, problem)
	}
}

// sent notes a request, and returns what is wrong with it.
func (b *Browser) sent(url string) (problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = append(b.requests, url)
	// What a page has made itself counts as of its own site.
	url = strings.TrimPrefix(url, "blob:")
	if !strings.HasPrefix(url, "data:") && !slices.ContainsFunc(b.within, func(p string) bool { return strings.HasPrefix(url, p) }) {
		return "request to elsewhere: " + url
	}
	return ""
}

// Requests counts the requests so far whose URL holds the text.
func (b *Browser) Requests(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, url := range b.requests {
		if strings.Contains(url, text) {
			n++
		}
	}
	return n
}

// Forgive forgets the noted problems that hold the text.
func (b *Browser) Forgive(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = slices.DeleteFunc(b.problems, func(p string) bool { return strings.Contains(p, text) })
}

// Sound reports the problems noted since the last call as errors of the test.
func (b *Browser) Sound(t testing.TB) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		t.Error(p)
	}
	b.problems = nil
}

// Run carries out actions.
func (b *Browser) Run(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, stop := context.WithTimeout(b.Context, patience)
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// Goto opens a URL and waits until it is loaded.
func (b *Browser) Goto(t testing.TB, url string) {
	t.Helper()
	b.Run(t, chromedp.Navigate(url))
}

// Is evaluates a condition in the page.
func (b *Browser) Is(t testing.TB, condition string) bool {
	t.Helper()
	return Value[bool](t, b, "!!("+condition+")")
}

// Until waits until a condition holds in the page, or in the one that follows it.
func (b *Browser) Until(t testing.TB, condition string) {
	t.Helper()
	waittest.Until(t, condition, func() bool {
		holds, err := evaluate[bool](b, "!!("+condition+")")
		if err != nil && !navigates(err) {
			t.Fatalf("%.200s: %v", condition, err)
		}
		return holds
	})
}

// navigates reports that the page gave way to another while it was asked: DevTools has no
// code of its own for that.
func navigates(err error) bool {
	var refused *cdproto.Error
	return errors.As(err, &refused) && refused.Code == -32000
}

// Text waits until the first element of the selector holds the text.
func (b *Browser) Text(t testing.TB, selector, want string) {
	t.Helper()
	b.Until(t, fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, want))
}

// Value is what an expression, or the promise that it is, comes to in the page.
func Value[T any](t testing.TB, b *Browser, expression string) T {
	t.Helper()
	v, err := evaluate[T](b, expression)
	if err != nil {
		t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

func evaluate[T any](b *Browser, expression string) (T, error) {
	ctx, stop := context.WithTimeout(b.Context, patience)
	defer stop()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Keys presses keys, one after the other.
func (b *Browser) Keys(t testing.TB, keys ...string) {
	t.Helper()
	for _, k := range keys {
		b.Run(t, chromedp.KeyEvent(k))
	}
}

// Type puts a text where the focus is, as an input method does: in any script.
func (b *Browser) Type(t testing.TB, text string) {
	t.Helper()
	if _, err := chromedp.Call(b.Context, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		t.Fatal(err)
	}
}

// Shortcut presses a key of a letter. Where the page takes it for a command, no letter
// is typed, as with a real keyboard; Keys types it all the same.
func (b *Browser) Shortcut(t testing.TB, letter string) {
	t.Helper()
	for _, press := range []input.DispatchKeyEventParams{
		{Type: input.DispatchKeyEventTypeKeyDown, Key: letter, Text: letter}, {Type: input.DispatchKeyEventTypeKeyUp, Key: letter},
	} {
		if _, err := chromedp.Call(b.Context, input.DispatchKeyEvent, press); err != nil {
			t.Fatal(err)
		}
	}
}

// Press uses a control by the keyboard alone: it is focused, and Enter pressed.
func (b *Browser) Press(t testing.TB, selector string) {
	t.Helper()
	b.Run(t, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Focus(chromedp.CSS(selector)))
	b.Keys(t, kb.Enter)
}

// Picture writes a PNG of the whole page to a file, for people to look at.
func (b *Browser) Picture(t testing.TB, file string) {
	t.Helper()
	ctx, stop := context.WithTimeout(b.Context, patience)
	defer stop()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, png, 0o600); err != nil {
		t.Fatal(err)
	}
}

package main

import (
	"context"
	"slices"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// picture is one that is taken.
type picture struct {
	name, url string
	height    int64
	dark      bool
	then      string // JavaScript: what is done on the page before, or a promise of it; "" for nothing
}

// Sizes of the pictures, in pixels.
const (
	width  = 1100
	height = 720
	tall   = 1080 // with the second row of cards, or the answer below the form
)

// host is the name under which Chromium shows the service.
const host = "api.example.org"

// try fills in the form of an endpoint's page as it is, and shows its answer.
const try = `document.querySelector("main form")?.requestSubmit()`

// pictures are those of the README.
func pictures(s *service) []picture {
	return []picture{
		{"home-en", "http://" + host + "/?lang=en", tall, false, ""},
		{"home-en-dark", "http://" + host + "/?lang=en", tall, true, ""},
		{"home-zh", "http://" + host + "/?lang=zh", tall, false, ""},
		{"home-zh-dark", "http://" + host + "/?lang=zh", tall, true, ""},
		{"docs-en", "http://" + host + "/docs/60s?lang=en", tall, false, try},
		{"docs-zh", "http://" + host + "/docs/60s?lang=zh", tall, false, try},
		{"console-en", "http://" + s.private + "/admin/?lang=en#endpoints", height, false, ""},
		{"console-zh", "http://" + s.private + "/admin/?lang=zh#endpoints", height, false, ""},
	}
}

type browser struct{ ctx context.Context }

// newBrowser starts Chromium, which reaches this machine only. The returned function
// ends it.
func newBrowser(ctx context.Context, program, public string) (*browser, func()) {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP "+host+" "+public+", MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("force-prefers-reduced-motion", true), chromedp.Flag("disable-component-update", true))
	alloc, stopAlloc := chromedp.NewExecAllocator(ctx, options...)
	tab, stop := chromedp.NewContext(alloc)
	return &browser{tab}, func() { stop(); stopAlloc() }
}

// quiet ends when nothing has been loaded for a second, so that pictures and answers
// that a page asks for are there.
const quiet = `new Promise(done => {
	let timer = setTimeout(done, 1000);
	new PerformanceObserver(() => { clearTimeout(timer); timer = setTimeout(done, 1000); }).observe({type: "resource"});
	setTimeout(done, 10000);
}).then(() => true)`

// take opens the page and returns a PNG of what is seen first.
func (b *browser) take(p *picture) ([]byte, error) {
	scheme := "light"
	if p.dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, p.height)); err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		return nil, err
	}
	if err := chromedp.Do(b.ctx, chromedp.Navigate(p.url)); err != nil {
		return nil, err
	}
	for _, step := range []string{quiet, "Promise.resolve(" + p.then + ").then(() => null)", quiet} {
		if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](step, chromedp.EvalAwaitPromise)); err != nil {
			return nil, err
		}
	}
	return chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
}

package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"sundry/proxy/browsertest"
)

var picturesTo = flag.String("pictures", "", "directory for the pictures of the README, which are taken if there is one")

// quiet ends when nothing has been loaded for a second, so that pictures and answers
// that a page asks for are there.
const quiet = `new Promise(done => {
	let timer = setTimeout(done, 1000);
	new PerformanceObserver(() => { clearTimeout(timer); timer = setTimeout(done, 1000); }).observe({type: "resource"});
	setTimeout(done, 10000);
})`

// TestPictures takes the pictures of the README, of pages and console of a run in replay:
// small enough for a page that is read on a phone.
func TestPictures(t *testing.T) {
	if *picturesTo == "" {
		t.Skip("nobody wants them; make pictures does")
	}
	p := serve(t, "--replay")
	visitForPictures(t, p)
	// The pages are shown under the name that callers would use.
	const host = "api.example.org"
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("host-resolver-rules", "MAP "+host+" "+strings.TrimPrefix(p.public, "http://")+", MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), chromedp.Flag("hide-scrollbars", true))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	tab, stop := chromedp.NewContext(alloc)
	defer stop()
	if err := chromedp.Do(tab); err != nil { // what starts it decides how long it lives
		t.Fatal(err)
	}
	b := &browsertest.Browser{Context: tab}
	const try = `document.querySelector("main form").requestSubmit()`
	for _, lang := range []string{"en", "zh"} {
		take(t, b, "home-"+lang, "http://"+host+"/?lang="+lang, "light", 1080, "")
		take(t, b, "home-"+lang+"-dark", "http://"+host+"/?lang="+lang, "dark", 1080, "")
		take(t, b, "docs-"+lang, "http://"+host+"/docs/60s?lang="+lang, "light", 1080, try)
		take(t, b, "console-"+lang, p.admin+"/admin/?lang="+lang+"#endpoints", "light", 720, "")
	}
}

// take opens an address, does something there, and writes a picture of what is seen first.
func take(t *testing.T, b *browsertest.Browser, name, url, scheme string, height int64, then string) {
	t.Helper()
	const width = 1100
	b.As(t, browsertest.Look{Width: width, Scheme: scheme})
	b.Run(t, chromedp.EmulateViewport(width, height))
	b.Goto(t, url)
	for _, step := range []string{quiet, then, quiet} {
		browsertest.Value[any](t, b, "Promise.resolve("+step+").then(() => null)")
	}
	shot, err := chromedp.Call(b.Context, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(80))})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*picturesTo, name+".webp"), shot.Data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// visitForPictures is what makes the console have something to show.
func visitForPictures(t *testing.T, p *instance) {
	t.Helper()
	for path, times := range map[string]int{
		"60s": 40, "yiyan": 60, "ip?ip=8.8.8.8": 25, "ip?ip=nonsense": 3, "dailywp?type=json": 20, "qrcode?text=hello": 15,
		"lishi": 12, "music?type=json": 10, "kd?id=YT0000000000001": 8, "sfz?card=110101199001010015": 6,
	} {
		for range times {
			if _, _, _, err := get(p.public + "/api/" + path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

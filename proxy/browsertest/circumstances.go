package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Look is how a visitor's screen is.
type Look struct {
	Width  int64  // in pixels
	Scheme string // light or dark
}

// Looks are those in which every page is checked.
func Looks() []Look {
	return []Look{{1280, "light"}, {1280, "dark"}, {360, "light"}, {360, "dark"}}
}

// As changes the screen.
func (b *Browser) As(t testing.TB, look Look) {
	t.Helper()
	b.Run(t, chromedp.EmulateViewport(look.Width, 900))
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: look.Scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
	if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
}

// Prefers makes all further requests with this Accept-Language.
func (b *Browser) Prefers(t testing.TB, languages string) {
	t.Helper()
	headers := network.Headers{"Accept-Language": languages}
	if _, err := chromedp.Call(b.Context, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers}); err != nil {
		t.Fatal(err)
	}
}

// Script turns the scripts of pages that are opened from now on off, or on again.
// Conditions and values of tests are evaluated all the same.
func (b *Browser) Script(t testing.TB, on bool) {
	t.Helper()
	off := emulation.SetScriptExecutionDisabledParams{Value: !on}
	if _, err := chromedp.Call(b.Context, emulation.SetScriptExecutionDisabled, off); err != nil {
		t.Fatal(err)
	}
}

// Forget forgets the cookies of all visits so far.
func (b *Browser) Forget(t testing.TB) {
	t.Helper()
	if _, err := chromedp.Call(b.Context, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
}
